/* stats.h - what the files of `venturi stats` share. */
#ifndef VENTURI_CLI_STATS_H
#define VENTURI_CLI_STATS_H

#include "cli/stats_list.h"

/* Of the whole profile, before folders are stripped and rows left out. */
struct vti_stats_sums {
    uint64_t calls, primitive;
    double self_s;
    struct vti_buf top;         /* lines that pstats puts above the table; owned */
    double cost_s, cost_call_s; /* of our own that was subtracted: in all, of one call */
    uint64_t lost_calls;
    bool has_unseen; /* more were lost than could be counted */
    bool is_estimated;
    uint64_t out_of_range; /* numbers of the file that had to be changed */
};

void vti_stats_sum(struct vti_stats_sums *sums, const struct vti_profile *profile);

/* What pstats prints. `title` is the first line. */
void vti_stats_text_table(struct vti_buf *out, const struct vti_stats_list *list,
                          const struct vti_stats_sums *sums, const char *title);
int vti_stats_text_callers(struct vti_buf *out, const struct vti_stats_list *list);
int vti_stats_text_callees(struct vti_buf *out, const struct vti_stats_list *list);

/* The columns that pstats has not. 0 or a negative code. */
int vti_stats_wide(struct vti_buf *out, const struct vti_stats_list *list, unsigned width);

void vti_stats_json(struct vti_buf *out, const struct vti_stats_list *list,
                    const struct vti_stats_sums *sums, const char *file);

#endif
