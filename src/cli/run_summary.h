/* run_summary.h - what `run` says when the program has ended. */
#ifndef VENTURI_CLI_RUN_SUMMARY_H
#define VENTURI_CLI_RUN_SUMMARY_H

#include "cli/run_nothing.h"
#include "cli/run_output.h"
#include "drain/drain.h"

/* A few lines on stderr: what there is, what is missing, what to do next. `code` is how the
 * recording was closed. Only what went wrong, if it is to be quiet. */
void vti_run_summary(const struct vti_run_output *output, const struct vti_drain_stats *stats,
                     int code, const struct vti_run_wish *wish, bool is_quiet);

#endif
