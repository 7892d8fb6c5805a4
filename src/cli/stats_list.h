/*
 * stats_list.h - which functions `venturi stats` shows, in which order, and what it says about that: as
 * pstats does, to the letter.
 */
#ifndef VENTURI_CLI_STATS_LIST_H
#define VENTURI_CLI_STATS_LIST_H

#include "analyze/profile.h"
#include "base/buf.h"

struct vti_stats_list {
    const struct vti_profile *profile; /* borrowed */
    char **labels;                     /* of each row: "file:line(name)"; owned */
    uint32_t *rows;                    /* indices; owned */
    size_t count;
    size_t all;             /* rows of the table before restrictions */
    struct vti_buf message; /* "   Ordered by: …", lists reduced; owned */
};

/* In the order of `keys`, "time" or "calls,name": names of pstats and their abbreviations, -1 to 2, or
 * "none": as they come. VTI_E_USAGE for a key that is none. Free it in every case. */
int vti_stats_list_make(struct vti_stats_list *list, const struct vti_profile *profile,
                        const char *keys, bool is_reversed);
void vti_stats_list_free(struct vti_stats_list *list);

/* Keeps the first N ("20"), a share ("0.1"), or those whose label fits a regular expression. */
int vti_stats_list_restrict(struct vti_stats_list *list, const char *restriction);

/* The longest label of the rows in the list, in characters. */
size_t vti_stats_list_width(const struct vti_stats_list *list);
size_t vti_stats_label_width(const char *label);

#endif
