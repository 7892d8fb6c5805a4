/*
 * job.h - a report that is being made: what its tables have in common.
 *
 * To add a table: a function in one of the files here and a line in tables.def. It is called once, in the order of the lines;
 * the table of sites is the last, because the others say which sites it needs.
 */
#ifndef VENTURI_PAGE_JOB_H
#define VENTURI_PAGE_JOB_H

#include "analyze/study.h"
#include "page/page.h"
#include "page/report.h"

#define VTI_PAGE_TIME_MOST ((int64_t)1 << 53) /* numbers of a browser are exact up to here */

struct vti_page_job {
    struct vti_page *page;
    vt_recording *recording; /* NULL: a file of another tool */
    const char *file;        /* its path */
    const struct vti_page_options *options;
    struct vti_study *study;
    struct vti_ids sites; /* rows of the table of sites; ids as vti_site_same() has them */
    bool has_timeline;    /* functions among the spans */
    bool has_async;       /* there are async spans; known once `spans` is written */
    double resources_hz;  /* how often they were read; 0: never */
};

/* The rows of one table, or of a few that belong together. 0 or a negative code. */
typedef int vti_page_table_add(struct vti_page_job *job);

#define VTI_PAGE_TABLE(name, needs) vti_page_table_add vti_page_add_##name;
#include "page/tables.def"
#undef VTI_PAGE_TABLE

/* sites.c: the row of a site, or VTI_E_NOMEM. */
int64_t vti_page_site(struct vti_page_job *job, uint32_t id);

/* The index of a track or process in the recording, -1: none. */
int64_t vti_page_track(const struct vti_page_job *job, uint32_t id);
int64_t vti_page_process(const struct vti_page_job *job, uint32_t id);

/* spans.c: unfinished, failed …, as the tables of spans and async spans have it. */
uint32_t vti_page_span_flags(const struct vt_span *span);

/* A time that a browser can count with: from 0 on. */
uint64_t vti_page_time(int64_t ns);

/* How long it is from a time, as the page has it, to another. */
uint64_t vti_page_length(int64_t begin_ns, int64_t end_ns);

/* trees.c: which calls of a tree are shown when there are very many: index plus 1 of each in the table, 0: left out. To be
 * freed; NULL without memory. What is left out is said in a note about `what`. */
uint32_t *vti_page_tree_rows(struct vti_page_job *job, const struct vti_calls *calls,
                             const char *what);

/* resources.c: sums over all, a member of the recording. */
void vti_page_add_resource_totals(struct vti_json *json, const struct vti_page_job *job);

/* energy.c: sums and where they are from, a member of the recording if there are any. */
void vti_page_add_energy_totals(struct vti_json *json, const struct vti_page_job *job);

/* facts.c, findings.c: members of the directory. */
void vti_page_add_recording(struct vti_page_job *job);
int vti_page_add_findings(struct vti_page_job *job);

#endif
