/* numbers.c - process and thread numbers that are unique in a recording. */
#include "export/numbers.h"

#include "base/error.h"
#include "base/hash.h"
#include "model/model.h"

#include <stdlib.h>

#define FIRST_MADE_UP (1u << 22) /* Linux stops here */

static int choose_pids(struct vti_numbers *numbers, struct vti_map *used, uint32_t count)
{
    struct vt_process_info process;

    for (uint32_t i = 0; vt_recording_process(numbers->recording, i, &process); i++) {
        int is_new = 0;

        if (process.pid && vti_map_add(used, &process.pid, sizeof process.pid, &is_new) < 0)
            return VTI_E_NOMEM;
        numbers->pids[i] = is_new ? process.pid : FIRST_MADE_UP + i;
    }
    numbers->pids[count] = FIRST_MADE_UP + count;
    return 0;
}

static int choose_tids(struct vti_numbers *numbers, struct vti_map *used)
{
    struct vt_track_info track;

    for (uint32_t i = 0; vt_recording_track(numbers->recording, i, &track); i++) {
        uint32_t key[3] = {vti_numbers_pid(numbers, track.process), track.tid, 1};
        int is_new = 0;

        if (track.tid && vti_map_add(used, key, sizeof key, &is_new) < 0)
            return VTI_E_NOMEM;
        numbers->tids[i] = is_new ? track.tid : FIRST_MADE_UP + i;
    }
    return 0;
}

int vti_numbers_init(struct vti_numbers *numbers, const vt_recording *recording)
{
    struct vt_recording_info info;
    struct vti_map *used = NULL;
    int code;

    vt_recording_info(recording, &info);
    numbers->recording = recording;
    numbers->pids = calloc((size_t)info.process_count + 1, sizeof *numbers->pids);
    numbers->tids = calloc((size_t)info.track_count + 1, sizeof *numbers->tids);
    code = numbers->pids && numbers->tids ? vti_map_create(&used) : VTI_E_NOMEM;
    if (!code)
        code = choose_pids(numbers, used, info.process_count);
    if (!code)
        code = choose_tids(numbers, used);
    vti_map_free(used);
    if (code)
        vti_numbers_fini(numbers);
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

void vti_numbers_fini(struct vti_numbers *numbers)
{
    free(numbers->pids);
    free(numbers->tids);
    numbers->pids = numbers->tids = NULL;
}

uint32_t vti_numbers_pid(const struct vti_numbers *numbers, uint32_t process)
{
    const struct vti_ids *ids = &numbers->recording->facts.process_ids;
    int64_t at = vti_ids_find(ids, process);

    return numbers->pids[at < 0 ? ids->count : at];
}

uint32_t vti_numbers_tid(const struct vti_numbers *numbers, uint32_t track)
{
    int64_t at = vti_ids_find(&numbers->recording->facts.track_ids, track);

    return at < 0 ? track : numbers->tids[at];
}
