/* profile_open.c - the profile of a file, whichever kind it is. */
#include "analyze/profile_impl.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static bool is_recording(const struct vti_mapping *map)
{
    struct vti_file_header header;
    int code = vti_file_header_parse(map->data, map->size, &header);

    return code != VTI_E_NOT_RECORDING;
}

static int load_calls(struct vti_profile *profile, vt_recording *recording,
                      const struct vti_calls_options *options)
{
    struct vti_calls *calls = calloc(1, sizeof *calls);
    int code = calls ? vti_calls_load(calls, recording, options)
                     : vti_fail(VTI_E_NOMEM, "out of memory");

    if (!code)
        code = vti_profile_make(profile, calls);
    if (code) {
        if (calls)
            vti_calls_fini(calls);
        free(calls);
        return code;
    }
    profile->is_owner = true;
    return 0;
}

int vti_profile_load(struct vti_profile *profile, vt_recording *recording,
                     const struct vti_calls_options *options)
{
    struct vti_profile imported;
    struct vti_profile counted;
    bool is_part = options && (options->track != VT_NONE || options->process != VT_NONE);
    int code = vti_profile_load_imported(&imported, recording);

    if (code)
        return code;
    code = load_calls(&counted, recording, options);
    if (code) {
        vti_profile_fini(&imported);
        return code;
    }
    if (imported.row_count && counted.row_count && !is_part) {
        code = vti_profile_sum(profile, &counted, &imported);
        vti_profile_fini(&imported);
        vti_profile_fini(&counted);
        return code;
    }
    *profile = counted.row_count || !imported.row_count ? counted : imported;
    vti_profile_fini(counted.row_count || !imported.row_count ? &imported : &counted);
    return 0;
}

static int open_recording(struct vti_profile *profile, const char *path,
                          const struct vti_calls_options *options)
{
    vt_recording *recording;
    int code = vt_recording_open(&recording, path);

    if (code)
        return code;
    code = vti_profile_load(profile, recording, options);
    vt_recording_close(recording);
    return code;
}

bool vti_profile_is_recording(const char *path)
{
    struct vti_mapping map;
    bool result;

    if (vti_mapping_open(&map, path))
        return true;
    result = is_recording(&map);
    vti_mapping_close(&map);
    return result;
}

int vti_profile_open(struct vti_profile *profile, const char *path,
                     const struct vti_calls_options *options)
{
    struct vti_mapping map;
    int code = vti_mapping_open(&map, path);

    memset(profile, 0, sizeof *profile);
    if (code)
        return code;
    if (is_recording(&map))
        code = open_recording(profile, path, options);
    else if (!map.size)
        code = vti_fail(VTI_E_EMPTY, "%s: is empty", path);
    else
        code = vti_profile_read_pstats(profile, path, map.data, map.size);
    vti_mapping_close(&map);
    return code;
}
