/* lines_open.c - the lines of a file, whichever kind it is. */
#include "analyze/lines.h"
#include "base/error.h"
#include "base/file.h"
#include "format/layout.h"

#include <string.h>
#include <sys/stat.h>

static int open_recording(struct vti_lines *lines, const char *path,
                          const struct vti_lines_options *options)
{
    vt_recording *recording;
    int code = vt_recording_open(&recording, path);

    if (code)
        return code;
    code = vti_lines_load(lines, recording, options);
    vt_recording_close(recording);
    return code;
}

static int open_lprof(struct vti_lines *lines, const char *path, const struct vti_mapping *map)
{
    struct stat status;
    int code = vti_lines_read_lprof(lines, path, map->data, map->size);

    if (!code && !stat(path, &status))
        lines->recorded_s = status.st_mtim.tv_sec;
    return code;
}

int vti_lines_open(struct vti_lines *lines, const char *path,
                   const struct vti_lines_options *options)
{
    struct vti_file_header header;
    struct vti_mapping map;
    int code = vti_mapping_open(&map, path);

    memset(lines, 0, sizeof *lines);
    if (code)
        return code;
    if (!map.size)
        code = vti_fail(VTI_E_EMPTY, "%s: is empty", path);
    else if (vti_file_header_parse(map.data, map.size, &header) != VTI_E_NOT_RECORDING)
        code = open_recording(lines, path, options);
    else
        code = open_lprof(lines, path, &map);
    vti_mapping_close(&map);
    return code;
}
