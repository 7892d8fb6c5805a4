/* step.h - what the files of src/step share. */
#ifndef VENTURI_STEP_STEP_H
#define VENTURI_STEP_STEP_H

#include "base/buf.h"

#include <stdbool.h>
#include <venturi/step.h>

/* Each closes nothing of the other; `path` "-" is standard input or output. 0, or a negative code after vti_fail(). */
int vti_step_open_lines(struct vt_consumer **consumer, const char *path, bool is_csv,
                        const struct vt_setting *settings);
int vti_step_open_lines_out(struct vt_producer **producer, const char *path, bool is_csv,
                            const struct vt_setting *settings);
int vti_step_open_kafka(struct vt_consumer **consumer, const char *rest,
                        const struct vt_setting *settings);
int vti_step_open_kafka_out(struct vt_producer **producer, const char *rest,
                            const struct vt_setting *settings);

/* Keeps a negative code for vt_step_error(), and returns it. */
int vti_step_said(int code);
bool vti_step_is_said(void);
void vti_step_forget(void);

/* The members of the JSON object, on one line, into `out`. 0, or a negative code after vti_fail(): it is none. */
int vti_step_members(struct vti_buf *out, const char *source, const char *json);

/* The value of a setting, or NULL. */
const char *vti_step_setting(const struct vt_setting *settings, const char *name);

#endif
