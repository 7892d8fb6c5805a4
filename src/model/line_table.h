/*
 * line_table.h - the lines of functions of a recording and the sources it holds, as they stand in the file: numbers
 * are ticks.
 *
 * Loaded when somebody asks for them, not when the recording is opened.
 */
#ifndef VENTURI_MODEL_LINE_TABLE_H
#define VENTURI_MODEL_LINE_TABLE_H

#include "base/hash.h"
#include "format/lines.h"
#include "model/model.h"

/* The lines of one track; of what was written several times the last one. */
struct vti_line_track {
    uint32_t track;              /* index */
    struct vti_ids node_ids;     /* by number, … */
    struct vti_line_fact *lines; /* … in order of appearance; owned */
    size_t line_room;
    struct vti_ids duration_ids;               /* by number, … */
    struct vti_line_durations_fact *durations; /* … the same; owned */
    size_t duration_room;
    struct vti_map *callee_ids; /* by number and site; owned, NULL: none */
    struct vti_line_callee_fact *callees;
    size_t callee_count, callee_room;
};

struct vti_line_tables {
    struct vti_ids track_ids;      /* by track, … */
    struct vti_line_track *tracks; /* … in order of appearance; owned */
    size_t track_room;
    struct vti_cost_fact *costs; /* owned; of lines and of calls */
    size_t cost_count, cost_room;
    struct vti_map *source_ids;      /* by process and file; owned, NULL: none */
    struct vti_source_fact *sources; /* owned; their texts lie in the recording's mapping */
    size_t source_count, source_room;
};

/* 0 or a negative code. What does not parse is put on the recording's list of damage. */
int vti_line_tables_load(struct vti_line_tables *tables, vt_recording *recording);
void vti_line_tables_fini(struct vti_line_tables *tables);

/* NULL if it is not known. */
const struct vti_line_durations_fact *vti_line_durations(const struct vti_line_track *track,
                                                         uint64_t node);

/* The text of a file in a process (an id), NULL if the recording has none. */
const struct vti_source_fact *vti_line_source(const struct vti_line_tables *tables,
                                              uint32_t process, const char *file, size_t len);

/* What a line event costs in a process, `language` being one of those of lines (venturi/hook.h); zeros if that is not
 * known. */
struct vti_cost_fact vti_line_cost(const struct vti_line_tables *tables, uint32_t process,
                                   uint32_t language);

#endif
