/* progress.c - draws the bar. One write for each line, so that it does not mix with what others write; never more than ten a second. */
#include "graph/progress.h"

#include <stdio.h>
#include <unistd.h>

#define WIDTH 40
#define DRAWN_PER_SECOND 10

void vti_progress_open(struct vti_progress *progress, const vt_run *run)
{
    *progress = (struct vti_progress){0};
    progress->is_shown = run->options.progress != 0 && isatty(STDERR_FILENO);
    progress->begin = vt_task_clock();
    progress->next = progress->begin + run->ticks_per_second / DRAWN_PER_SECOND;
}

static void draw(struct vti_progress *progress, const vt_run *run, uint64_t now, const char *end)
{
    static const char full[] = "########################################";
    double seconds = (double)(now - progress->begin) / (double)run->ticks_per_second;
    uint64_t done, total;
    char line[128];
    int part, length;

    vt_run_progress(run, &done, &total);
    part = total == 0 ? WIDTH : (int)((double)done / (double)total * WIDTH);
    length = snprintf(line, sizeof line, "\r[%-*.*s] | %3d%% | %llu of %llu | %.1f s%s", WIDTH,
                      part, full, total == 0 ? 100 : (int)(100.0 * (double)done / (double)total),
                      (unsigned long long)done, (unsigned long long)total, seconds, end);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        progress->is_shown = false;
    progress->is_drawn = true;
    progress->next = now + run->ticks_per_second / DRAWN_PER_SECOND;
}

void vti_progress_show(struct vti_progress *progress, const vt_run *run, uint64_t now)
{
    if (progress->is_shown && now >= progress->next)
        draw(progress, run, now, "");
}

void vti_progress_close(struct vti_progress *progress, const vt_run *run)
{
    if (progress->is_drawn && progress->is_shown)
        draw(progress, run, vt_task_clock(), "\n");
}
