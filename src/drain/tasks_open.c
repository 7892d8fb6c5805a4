/* tasks_open.c - runs of task graphs that have not ended, and their workers, kept as entries of a block are. */
#include "drain/tasks_open.h"

#include <stdlib.h>
#include <string.h>

#define MOST 4096u

struct vti_open_run {
    uint32_t run;
    struct vti_buf entry; /* owned */
};

void vti_open_runs_add(struct vti_open_runs *runs, const struct vti_task_fact *fact)
{
    struct vti_task_codec codec = {0};
    struct vti_open_run *one;

    if (runs->count == runs->room) {
        size_t room = runs->room ? 2 * runs->room : 16;

        one = room <= MOST ? realloc(runs->entries, room * sizeof *one) : NULL;
        if (!one)
            return;
        runs->entries = one;
        runs->room = room;
    }
    one = &runs->entries[runs->count];
    *one = (struct vti_open_run){.run = fact->run};
    vti_task_write(&one->entry, &codec, fact);
    vti_task_codec_fini(&codec);
    if (one->entry.failed)
        vti_buf_fini(&one->entry);
    else
        runs->count++;
}

void vti_open_runs_end(struct vti_open_runs *runs, uint32_t run)
{
    size_t kept = 0;

    for (size_t i = 0; i < runs->count; i++) {
        if (runs->entries[i].run == run)
            vti_buf_fini(&runs->entries[i].entry);
        else
            runs->entries[kept++] = runs->entries[i];
    }
    runs->count = kept;
}

void vti_open_runs_each(const struct vti_open_runs *runs,
                        void (*take)(void *arg, const struct vti_task_fact *fact), void *arg)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct vti_task_codec codec = {0};
        struct vti_task_fact fact;
        struct vti_reader in;

        vti_reader_init(&in, runs->entries[i].entry.data, runs->entries[i].entry.len);
        if (vti_task_read(&in, &codec, &fact))
            take(arg, &fact);
        vti_task_codec_fini(&codec);
    }
}

void vti_open_runs_fini(struct vti_open_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        vti_buf_fini(&runs->entries[i].entry);
    free(runs->entries);
    memset(runs, 0, sizeof *runs);
}
