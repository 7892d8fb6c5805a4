/* tasks_tries.c - tries that failed and were made again. Some schedulers have an entry for each try: only the last says how a task ended. */
#include "analyze/tasks_impl.h"
#include "analyze/tasks_stats.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "venturi/task.h"

#include <stdlib.h>

struct tries {
    struct vti_map *keys; /* run and key of tasks that failed */
    struct vti_buf key;
    uint16_t *last; /* by place in `keys`: the most earlier tries that one says it had */
};

/* The place of a task's key; negative: it is not there. */
static int64_t find_key(struct tries *tries, const struct vti_task *task, bool is_added)
{
    int is_new = 0;

    vti_buf_clear(&tries->key);
    vti_buf_add(&tries->key, &task->run, sizeof task->run);
    vti_buf_add_text(&tries->key, task->key);
    if (tries->key.failed)
        return VTI_E_NOMEM;
    return is_added ? vti_map_add(tries->keys, tries->key.data, tries->key.len, &is_new)
                    : vti_map_find(tries->keys, tries->key.data, tries->key.len);
}

static bool is_try(const struct vti_task *task)
{
    return task->action == VT_ACTION_COMPUTE && *task->key;
}

static int gather_failed(struct tries *tries, const struct vti_tasks *all)
{
    for (uint32_t i = 0; i < all->task_count; i++)
        if (is_try(&all->tasks[i]) && vti_task_has_failed(&all->tasks[i]) &&
            find_key(tries, &all->tasks[i], true) < 0)
            return VTI_E_NOMEM;
    tries->last = calloc((size_t)vti_map_count(tries->keys) + 1, sizeof *tries->last);
    return tries->last ? 0 : VTI_E_NOMEM;
}

static void find_last(struct tries *tries, const struct vti_tasks *all)
{
    for (uint32_t i = 0; i < all->task_count; i++) {
        const struct vti_task *task = &all->tasks[i];
        int64_t at = is_try(task) && task->retries ? find_key(tries, task, false) : -1;

        if (at >= 0 && task->retries > tries->last[at])
            tries->last[at] = task->retries;
    }
}

int vti_tasks_find_repeated(struct vti_tasks *all)
{
    struct tries tries = {0};
    int code = vti_map_create(&tries.keys);

    if (!code)
        code = gather_failed(&tries, all);
    if (!code && vti_map_count(tries.keys)) {
        find_last(&tries, all);
        for (uint32_t i = 0; i < all->task_count; i++) {
            struct vti_task *task = &all->tasks[i];
            int64_t at = is_try(task) && vti_task_has_failed(task) ? find_key(&tries, task, false)
                                                                   : -1;

            task->is_repeated = at >= 0 && task->retries < tries.last[at];
        }
    }
    vti_map_free(tries.keys);
    vti_buf_fini(&tries.key);
    free(tries.last);
    return code ? VTI_E_NOMEM : 0;
}
