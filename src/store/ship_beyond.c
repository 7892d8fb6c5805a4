/*
 * ship_beyond.c - what of a recording is no document, and so is only there: it goes with a file that is deleted, and that has to be said.
 */
#include "store/ship_impl.h"

#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const struct {
    enum vti_kind kind;
    const char *name;
} names[] = {
    {VTI_CALL_TREE, "functions"}, {VTI_PROFILE, "functions"}, {VTI_SAMPLES, "samples"},
    {VTI_LINES, "lines"},         {VTI_TASKS, "tasks"},       {VTI_RESOURCES, "resources"},
    {VTI_ENERGY, "energy"},
};

void vti_ship_beyond_note(struct vti_ship_beyond *beyond, const vt_recording *recording)
{
    struct vti_block_header header;
    const uint8_t *payload;
    uint64_t at = VTI_FILE_HEADER_BYTES;

    while (at < recording->map.size) {
        if (!vti_block_find(recording, at, &header, &payload)) {
            at += VTI_BLOCK_ALIGN;
            continue;
        }
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (header.kind == names[i].kind && header.count)
                beyond->kinds |= 1u << header.kind;
        at += vti_block_bytes(&header);
    }
}

void vti_ship_beyond_text(const struct vti_ship_beyond *beyond, char *to, size_t room)
{
    const char *last = "";

    *to = 0;
    if (beyond->outside)
        snprintf(to, room, "%llu span%s outside of any trace", (unsigned long long)beyond->outside,
                 beyond->outside == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(beyond->kinds & 1u << names[i].kind) || !strcmp(last, names[i].name))
            continue;
        last = names[i].name;
        snprintf(to + strlen(to), room - strlen(to), "%s%s", *to ? ", " : "", last);
    }
}
