/*
 * energy.h - what a recording's program used: joules of the machine, what part of them was the program's, and of that, what each
 * function, line, task and span used.
 *
 * The rule. Between two readings a source used so many joules. Of the processor's, each second of CPU time gets the same
 * part: joules of up to a second divided by the CPU time that the whole machine used in it. That is the full share; the dynamic
 * share leaves out what the machine uses at rest. Memory goes by what is resident, a GPU is stated for the machine only. CPU time of a
 * thread is charged to what was open when it was seen running, so that what sleeps gets none.
 */
#ifndef VENTURI_ANALYZE_ENERGY_H
#define VENTURI_ANALYZE_ENERGY_H

#include "analyze/calls.h"
#include "analyze/items.h"
#include "analyze/resources.h"
#include "analyze/tasks.h"
#include "base/json.h"
#include "model/energy_log.h"
#include "venturi/energy.h"

/* What a part of the program used. */
struct vti_joules {
    double full, dynamic; /* shares, in joules; dynamic is NaN where rest is not known */
    double cpu_s;
};

/* From one reading to the next. What is not known is NaN. */
struct vti_energy_interval {
    int64_t begin_ns, end_ns;
    double
        parts[VT_ENERGY_PART_COUNT];  /* joules of the machine, of those sources that were known */
    double own_s, busy_s;             /* CPU time of the program, of the machine */
    double share;                     /* of the processors' joules that is the program's, 0 to 1 */
    double resident;                  /* of the machine's memory that is the program's */
    double full_watts, dynamic_watts; /* joules for a second of CPU time; dynamic may be negative */
};

/* One part of a machine. */
struct vti_energy_use {
    bool has_source;
    double gross_j, full_j, dynamic_j; /* NaN: not known */
    uint32_t how;                      /* enum vt_energy_how: the worst of its sources */
};

/* One meter, and the processes that it is about. */
struct vti_energy_tree {
    const struct vti_energy_log_tree *log;     /* borrowed, as the next */
    const struct vti_resource_tree *processes; /* NULL: nothing is known of them */
    struct vti_energy_interval *intervals;     /* owned; by time */
    size_t interval_count;
    struct vti_energy_use parts[VT_ENERGY_PART_COUNT], all;
    double wall_s, unknown_s; /* in readings; of it that for which a source said nothing */
    double own_s, busy_s;     /* CPU time; NaN: not known */
    double rest_watts;        /* of all that is added up; NaN: not known … */
    uint32_t rest_how;        /* … enum vt_energy_how */
    double rests[VTI_ENERGY_SOURCES_MAX]; /* of each source; NaN: not known */
    double price_rest_watts;              /* of what CPU time is priced by */
    bool has_prices;                      /* of any interval */
};

enum vti_energy_by {
    VTI_ENERGY_BY_FUNCTION,
    VTI_ENERGY_BY_LINE,
    VTI_ENERGY_BY_SPAN,
    VTI_ENERGY_BY_TASK,
    VTI_ENERGY_BY_PROCESS,
    VTI_ENERGY_BY_COUNT
};

/* One function, line, span, task name or process. Texts are borrowed from the recording or owned by the table. */
struct vti_energy_row {
    const char *name, *file; /* file "": it has none */
    uint32_t line;
    uint32_t
        id; /* function and line: index in `calls`; span: site; task: site of its name; process: index in `resources` */
    struct vti_joules self;  /* while it was the innermost … */
    struct vti_joules total; /* … and with what it called, once where it calls itself */
    uint64_t seen;           /* readings that met it as the innermost */
};

struct vti_energy_table {
    struct vti_energy_row *rows; /* owned; the most joules first */
    size_t count, room;
    struct vti_joules elsewhere; /* while nothing of this kind was open, or nobody saw what was */
    bool has_any;                /* the recording has things of this kind, seen or not */
    bool is_scaled;              /* rows had more CPU time than the program, and were cut down */
    bool
        is_sampled; /* rows are estimates from samples of native stacks, not from looks: lines of C */
};

/* What is needed to make grams and litres of joules. Zeroed: nothing is known. */
struct vti_footing {
    double intensity; /* grams of CO2e a kWh; 0: not known */
    double pue, wue;  /* 0: 1 and none */
    char source[160]; /* of the intensity, for people */
};

struct vti_energy {
    struct vti_energy_log log;
    struct vti_resources resources;
    struct vti_calls calls;        /* functions of the rows */
    struct vti_energy_tree *trees; /* owned; beside log.trees */
    size_t tree_count;
    struct vti_energy_table tables[VTI_ENERGY_BY_COUNT];
    struct vti_joules
        threads; /* of all recording threads; the rest of the program's is other processes' and what no reading saw */
    struct vti_footing footing; /* as stated when it was recorded */
    struct vti_items items;
};

/* A recording without energy has no trees, which is no error. 0 or a negative code with a message; _fini frees in every case. */
int vti_energy_load(struct vti_energy *energy, vt_recording *recording);

/* The same without tables, items and footing: what the machines used, and the program's part. */
int vti_energy_load_sums(struct vti_energy *energy, vt_recording *recording);
void vti_energy_fini(struct vti_energy *energy);

/* Joules for a second of CPU time between two times, as an average over the intervals; NaN: unknown. */
struct vti_joules vti_energy_price(const struct vti_energy_tree *tree, int64_t begin_ns,
                                   int64_t end_ns);

/* The program's share of what CPU time is priced by, of all machines: what the tables divide. NaN: not known. */
double vti_energy_cpu_joules(const struct vti_energy *energy);

/* What was stated when it was recorded. */
void vti_energy_load_footing(struct vti_footing *footing, const vt_recording *recording);

/* Of a kWh after PUE; grams NaN if the intensity is not known. */
double vti_footing_grams(const struct vti_footing *footing, double joules);
double vti_footing_litres(const struct vti_footing *footing, double joules);

/* "function", "line", …; the value of --by. */
const char *vti_energy_by_word(enum vti_energy_by by);

/* Keys of an object that is open: all but the tables. */
void vti_energy_add_json(struct vti_json *json, const struct vti_energy *energy,
                         const struct vti_footing *footing);

/* What a user states about power, as it was given; NULL: not said. */
struct vti_energy_stated {
    const char *country;   /* three letters, two, or a name */
    const char *intensity; /* grams of CO2e for a kWh */
    const char *pue;       /* power of the building for each of the computers */
    const char *wue;       /* litres of water for a kWh */
};

/* What is stated takes its place in the footing. Negative with a message. */
int vti_footing_set(struct vti_footing *footing, const struct vti_energy_stated *stated);

/* The same of a recording's, in the place of what was stated when it was made. Also an error: something is stated, and there is no energy. */
int vti_energy_state(struct vti_energy *energy, const struct vti_energy_stated *stated);

#endif
