/* sync.c - the sync scheduler: one task after the other in the thread that called vt_run_go(). Nothing can be abandoned here. */
#include "graph/caller.h"
#include "graph/progress.h"
#include "graph/record.h"
#include "graph/schedulers.h"
#include "graph/state.h"

#include <unistd.h>

void vti_sync_go(vt_run *run)
{
    struct vti_caller caller;
    struct vti_progress progress;
    struct vti_done done;
    uint32_t before, task;

    vti_run_worker_is(run, 0, "", (uint64_t)getpid(), (uint64_t)gettid());
    vti_caller_open(&caller, run, 0);
    vti_progress_open(&progress, run);
    before = vti_record_enter(run->number);
    while ((task = vti_state_begin(run)) != VT_NO_TASK) {
        vti_caller_make(&caller, task, run->items[task].tries, &done);
        vti_state_finish(run, &done);
        vti_progress_show(&progress, run, done.end);
    }
    vti_progress_close(&progress, run);
    vti_record_enter(before);
    vti_caller_close(&caller);
}
