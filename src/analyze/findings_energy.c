/* findings_energy.c - rules about joules: what took most of them, and how far they can be trusted. */
#include "analyze/findings_impl.h"

#include <math.h>

#define LEAST_J 1.0 /* less is start-up */
#define MOST 0.5    /* of what the threads used: more than all others */
#define UNKNOWN 0.1 /* of the time */

static const struct vti_evidence whole = {.what = "recording", .id = VT_NONE};

static const char *doubt_of(const struct vti_energy *energy)
{
    for (size_t i = 0; i < energy->tree_count; i++)
        if (energy->trees[i].parts[VT_ENERGY_CPU].how >= VT_ENERGY_ESTIMATED)
            return "estimated, not measured";
    return "";
}

/* The one function that took most of the energy; without functions the task, without tasks the span. */
void vti_find_energy(struct vti_finder *finder)
{
    static const struct {
        enum vti_energy_by by;
        const char *what;
    } order[] = {{VTI_ENERGY_BY_FUNCTION, "function"},
                 {VTI_ENERGY_BY_TASK, "tasks"},
                 {VTI_ENERGY_BY_SPAN, "span"}};
    const struct vti_energy *energy = &finder->study->energy;
    const struct vti_energy_row *row = NULL;
    struct vti_evidence evidence = whole;
    char name[VTI_CLIP_BYTES];
    char share[VTI_NUMBER_BYTES];
    double part;

    for (size_t i = 0; i < sizeof order / sizeof *order && !row; i++)
        if (energy->tables[order[i].by].count) {
            row = energy->tables[order[i].by].rows;
            evidence.what = order[i].what;
            evidence.id = order[i].by == VTI_ENERGY_BY_SPAN ? row->id : VT_NONE;
        }
    if (!row || !(energy->threads.full >= LEAST_J))
        return;
    part = row->self.full / energy->threads.full;
    if (!(part >= MOST))
        return;
    evidence.name = (char *)row->name;
    evidence.file = (char *)row->file;
    evidence.line = row->line;
    vti_finding_say(finder, VTI_SEVERITY_INFO, fmin(part, 1), &evidence, doubt_of(energy),
                    "%s used %.3g J by itself, %s of what the recorded threads used.",
                    vti_clip(name, row->name, row->file, row->line), row->self.full,
                    vti_text_share(share, fmin(part, 1)));
}

/* No counter, or one that was silent for long. An unknown place is no fault of the recording. */
void vti_find_energy_trust(struct vti_finder *finder)
{
    const struct vti_energy *energy = &finder->study->energy;
    char share[VTI_NUMBER_BYTES];

    for (size_t i = 0; i < energy->tree_count; i++) {
        const struct vti_energy_tree *tree = &energy->trees[i];

        if (!tree->all.has_source)
            vti_finding_say(finder, VTI_SEVERITY_NOTICE, 0, &whole, "",
                            "Energy was to be recorded, and nothing could be read.");
        else if (tree->parts[VT_ENERGY_CPU].how == VT_ENERGY_ESTIMATED)
            vti_finding_say(finder, VTI_SEVERITY_INFO, 0, &whole, "",
                            "Joules of the processors are estimated from CPU time: no counter "
                            "could be read (`venturi energy` says why).");
        if (tree->wall_s > 0 && tree->unknown_s > UNKNOWN * tree->wall_s)
            vti_finding_say(finder, VTI_SEVERITY_NOTICE, tree->unknown_s / tree->wall_s, &whole, "",
                            "For %s of the time an energy counter said nothing: what was used then "
                            "is in no figure.",
                            vti_text_share(share, tree->unknown_s / tree->wall_s));
    }
}
