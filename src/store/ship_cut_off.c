/*
 * ship_cut_off.c - a recording whose writer was killed: it has no end, and nobody will write one.
 *
 * Files of a spool are locked by who writes them; a single recording is not. Where it is not certain that nobody writes it, it goes on being followed.
 */
#include "store/ship_impl.h"

#include "base/realtime.h"
#include "base/written.h"

#include <stdio.h>

#define LOOK_NS 1000000000 /* between two looks for who writes */

bool vti_ship_is_cut_off(const char *path, int64_t *looked_ns)
{
    int64_t now_ns = vti_ship_now();
    struct stat info;
    bool is_sure;

    if (stat(path, &info) ||
        vti_realtime_ns() - ((int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec) <
            VTI_WRITTEN_QUIET_NS)
        return false;
    if (*looked_ns && now_ns - *looked_ns < LOOK_NS)
        return false;
    *looked_ns = now_ns;
    return !vti_written_by_whom(path, &is_sure) && is_sure;
}
