/* values.h - facts, values, attributes, errors and moments of a recording as JSON and as numbers. */
#ifndef VENTURI_ANALYZE_VALUES_H
#define VENTURI_ANALYZE_VALUES_H

#include "base/json.h"
#include "format/event.h"
#include "venturi/read.h"

void vti_json_value(struct vti_json *json, const struct vt_value *value);
double vti_value_number(const struct vt_value *value);    /* 0 if it is none */
double vti_counter_number(const struct vti_value *value); /* the same of an event */

/* Key and value of each, inside an object that the caller opened. If a key comes twice the later
 * one counts, as JSON readers have it. */
void vti_json_attrs(struct vti_json *json, const vt_recording *recording,
                    const struct vt_span *span);

/* "type: message", or the one that is not empty, or "failed". */
void vti_error_text(struct vti_buf *out, const struct vt_span *span);

void vti_json_add_id(struct vti_json *json, const char *key, uint32_t id); /* null for VT_NONE */

/* What the recording says of each: members of an object that the caller opened. Ids, and how a
 * process ended, have other keys in other places and are left to the caller. */
void vti_json_add_recording(struct vti_json *json, const struct vt_recording_info *info);
void vti_json_add_host(struct vti_json *json, const struct vt_host_info *host);
void vti_json_add_process(struct vti_json *json, const struct vt_process_info *process);
void vti_json_add_track(struct vti_json *json, const struct vt_track_info *track);
void vti_json_add_damage(struct vti_json *json, const struct vt_damage_info *damage);

const char *vti_end_text(unsigned how);                 /* "exit", "signal", "exec", "unknown" */
const char *vti_site_kind_text(enum vt_site_type type); /* "span", "counter", … */

/* From the first to the last that is known to have happened. */
void vti_recording_extent(const vt_recording *recording, int64_t *begin_ns, int64_t *end_ns);

/* Whether all of it comes from files of other tools: of clocks and hosts nothing is known then. */
bool vti_recording_is_imported(const vt_recording *recording);

/* "2026-11-15T20:15:03.123456789Z". */
#define VTI_MOMENT_BYTES 96
const char *vti_moment_text(char to[VTI_MOMENT_BYTES], int64_t realtime_ns);

/* "base_id", "trace_id" and "parent_id" as texts of UUIDs; of no trace, of no parent: left out. */
void vti_json_trace_ids(struct vti_json *json, const uint8_t base[16], const uint8_t span[16],
                        const uint8_t parent[16]);

#endif
