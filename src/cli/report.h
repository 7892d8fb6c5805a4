/* report.h - what `venturi report` has gathered; between its ways of showing it. */
#ifndef VENTURI_CLI_REPORT_H
#define VENTURI_CLI_REPORT_H

#include "analyze/findings.h"
#include "analyze/study.h"
#include "base/json.h"

struct vti_report {
    struct vti_study study;
    struct vti_findings findings;
    struct vt_site_stats *spans; /* of the study, in the order asked for */
    const char *sort;            /* NULL: nothing was asked for */
    size_t limit;                /* rows of spans, and of functions */
};

/* Headline, findings, tables and the strip of trust on standard output. 0 or a negative code. */
int vti_report_print(const struct vti_report *report);

/* Everything as one JSON object on standard output. 0 or a negative code. */
int vti_report_json(const struct vti_report *report);

/* The parts, each in a file of its own; those of which there is nothing print nothing. */
int vti_report_print_findings(const struct vti_report *report);
int vti_report_print_resources(const struct vti_report *report);
int vti_report_print_spans(const struct vti_report *report);
int vti_report_print_functions(const struct vti_report *report);
int vti_report_print_tasks(const struct vti_report *report);
int vti_report_print_steps(const struct vti_report *report);
int vti_report_print_energy(const struct vti_report *report);
int vti_report_print_others(const struct vti_report *report); /* counters, marks, errors */
int vti_report_print_trust(const struct vti_report *report);
void vti_report_json_findings(struct vti_json *json, const struct vti_report *report);
void vti_report_json_resources(struct vti_json *json, const struct vti_report *report);
void vti_report_json_energy(struct vti_json *json, const struct vti_report *report);
void vti_report_json_tasks(struct vti_json *json, const struct vti_report *report);
void vti_report_json_steps(struct vti_json *json, const struct vti_report *report);
void vti_report_json_functions(struct vti_json *json, const struct vti_report *report);

/* ---- the table of spans, and of functions ---------------------------------------------------- */

/* Times are nanoseconds, NaN if not known. */
struct vti_report_row {
    const char *mark; /* before the first figure: "~" or "" */
    bool is_part;     /* of the sum that shares are of */
    uint64_t count;
    double total_ns, self_ns, min_ns, avg_ns, max_ns, p50_ns, p99_ns;
    const char *name;
    size_t name_len;
};

struct vti_table;
struct vti_report_table {
    struct vti_table *table;
    const void *layout; /* which columns the terminal has room for */
    double self_ns;     /* of all rows: what shares are of */
};

/* 0 or VTI_E_NOMEM. */
int vti_report_table_create(struct vti_report_table *table, bool is_functions, double self_ns);
void vti_report_table_add(struct vti_report_table *table, const struct vti_report_row *row);
int vti_report_table_print(struct vti_report_table *table); /* 0 or a negative code; frees it */

#endif
