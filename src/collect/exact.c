/*
 * exact.c - lines of C that are timed: functions get their names, the hook is measured once.
 *
 * vt_exact_reach() runs between any two instructions of a program, with all of its registers saved.
 */
#include "collect/exact.h"

#include "collect/module.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <venturi/hook.h>
#include <venturi/span.h>

#define BATCHES 32
#define EVENTS 64

static bool is_calibrated;

/* The call that has ended last: code behind its end may still name lines. */
static __thread const void *ended __attribute__((tls_model("initial-exec")));

VT_API void vt_exact_reach(struct vt_lines *lines, uint32_t row, const void *frame)
{
    if (frame != ended)
        vt_line_reach_in(lines, frame, row, 0); /* nobody saw it begin in a forked child */
}

VT_API void vt_exact_end(const void *frame)
{
    vt_lines_leave(frame);
    ended = frame;
}

/* The least of several batches: what others did meanwhile is not ours. */
static void calibrate(vt_exact_probe_function probe)
{
    static const struct vt_function function = {"(cost of a line)", "", "", 0, VT_LANGUAGE_C};
    static const struct vt_line_row rows[] = {{1, 0}, {2, 1}};
    static struct vt_lines lines = {.row_count = 2, .rows = rows}; /* also the frame of the probe */
    uint64_t least = UINT64_MAX;

    lines.function = vt_function_id(&function);
    if (!lines.function)
        return;
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t began = vt_ticks();
        uint64_t took;

        for (int i = 0; i < EVENTS / 4; i++) { /* as a function with two lines */
            vt_lines_enter(&lines, &lines);
            probe(&lines, 0);
            probe(&lines, 1);
            vt_lines_leave(&lines);
        }
        took = vt_ticks() - began;
        least = took < least ? took : least;
    }
    vt_lines_forget(&lines);
    vt_hook_cost(VT_LANGUAGE_C_LINE, least * 1000 / EVENTS, 0);
}

static uint32_t identify(uintptr_t address)
{
    struct vti_module module;
    char name[VTI_MODULE_PATH + 24];
    const struct vt_function function = {name, module.build_id, module.path, 0, VT_LANGUAGE_C};
    const char *slash;

    if (!vti_module_find(&module, address))
        return 0;
    slash = strrchr(module.path, '/');
    snprintf(name, sizeof name, "%s+0x%lx", slash ? slash + 1 : module.path,
             (unsigned long)(address - module.base));
    return vt_function_id(&function);
}

static void learn(uintptr_t address, struct vt_lines *lines, vt_exact_probe_function probe)
{
    int saved_errno = errno;
    uint32_t none = 0;
    uint32_t id;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    id = identify(address);
    if (id && !__atomic_exchange_n(&is_calibrated, true, __ATOMIC_RELAXED))
        calibrate(probe);
    /* Of two threads that come here at once one is the first. */
    __atomic_compare_exchange_n(&lines->function, &none, id, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved_errno;
}

/* Before the first trace point the word says that somebody may. */
static bool is_recording(void)
{
    const uint32_t *word = __atomic_load_n(&vt_control_word, __ATOMIC_ACQUIRE);

    return __atomic_load_n(word, __ATOMIC_RELAXED) != 0;
}

VT_API void vt_exact_begin(void *function, struct vt_lines *lines, const void *frame,
                           vt_exact_probe_function probe)
{
    if (!__atomic_load_n(&lines->function, __ATOMIC_ACQUIRE) && is_recording())
        learn((uintptr_t)function, lines, probe);
    ended = NULL;
    vt_lines_enter(lines, frame);
}
