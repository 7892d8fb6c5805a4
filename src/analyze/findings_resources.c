/* findings_resources.c - rules about CPU, memory and I/O of the processes, as they were seen from outside. */
#include "analyze/findings_impl.h"

#include <math.h>
#include <stdio.h>

#define LEAST_S 0.2       /* shorter runs are start-up */
#define WAITING 0.3       /* of one core: below that it waits for most of the time */
#define BUSY 0.85         /* of one core, or of all: nothing else could have run there */
#define ONE_CORE 1.15     /* up to that it is one core and what runs beside */
#define QUARTER_LEAST 0.6 /* of one core, in each quarter of the run; readings are not that even */
#define QUARTER_MOST 1.4
#define GROWTH 1.5            /* last quarter to first */
#define GROWTH_BYTES 10000000 /* 10 MB: caches that fill are no finding */
#define GROWTH_READINGS 16    /* four a quarter */
#define QUARTERS 4
#define PROGRAM_BYTES (VTI_CLIP_BYTES + 24)
#define IO_RATE 100e6   /* bytes for each second of the run: what a plain disk does */
#define CHILD_SHARE 0.5 /* of all CPU time: more than all others */

static bool knows(const struct vti_resource_tree *tree, enum vti_resource value)
{
    return tree->known & 1u << value;
}

static double seconds(const struct vti_resource_tree *tree)
{
    return (double)(tree->end_ns - tree->begin_ns) / 1e9;
}

/* "The program", or which one it is where several recordings are in one file. */
static char *program_of(char to[PROGRAM_BYTES], const struct vti_finder *finder,
                        const struct vti_resource_tree *tree)
{
    const struct vti_resources *resources = &finder->study->resources;
    char name[VTI_CLIP_BYTES];

    snprintf(to, PROGRAM_BYTES, "The program");
    for (size_t i = 0; i < resources->process_count && resources->tree_count > 1; i++) {
        const struct vti_resource_process *process = &resources->processes[i];

        if (&resources->trees[process->tree] != tree || process->parent != VT_NONE)
            continue;
        snprintf(to, PROGRAM_BYTES, "%s (pid %u)",
                 vti_clip(name, process->name ? process->name : "", "", 0), process->pid);
        break;
    }
    return to;
}

static const struct vti_evidence whole = {.what = "recording", .id = VT_NONE};

/* ---- CPU ------------------------------------------------------------------------------------- */

/* An average of one core may be two for half of the time: then one is no limit. */
static bool is_one_core(const struct vti_resource_tree *tree)
{
    const struct vti_resource_point *from = tree->series.points;

    if (!tree->series.count || tree->cores < BUSY || tree->cores > ONE_CORE)
        return false;
    for (int64_t q = 1; q <= QUARTERS; q++) {
        const struct vti_resource_point *to = vti_resource_at(
            &tree->series, tree->begin_ns + (tree->end_ns - tree->begin_ns) / QUARTERS * q);
        double ns = (double)(to->time_ns - from->time_ns);
        double used_ns = (double)to->values[VTI_RESOURCE_CPU_NS] -
                         (double)from->values[VTI_RESOURCE_CPU_NS];

        if (to->known & from->known & 1u << VTI_RESOURCE_CPU_NS &&
            (used_ns < QUARTER_LEAST * ns || used_ns > QUARTER_MOST * ns))
            return false;
        from = to;
    }
    return true;
}

/* Those that were there for most of the time; of several recordings in one file it is not known whose they are. */
static uint32_t lasting_threads(const struct vti_finder *finder,
                                const struct vti_resource_tree *tree)
{
    double half_ns = (double)(tree->end_ns - tree->begin_ns) / 2;
    struct vt_track_info track;
    uint32_t count = 0;

    for (uint32_t i = 0; vt_recording_track(finder->study->recording, i, &track); i++)
        count += (double)track.end_ns - (double)track.start_ns >= half_ns;
    return finder->study->resources.tree_count == 1 ? count : 0;
}

/* Where other programs had much of the machine, it may have waited for a CPU: then nothing is said of waiting. */
static void say_cpu(struct vti_finder *finder, const struct vti_resource_tree *tree)
{
    uint32_t threads = lasting_threads(finder, tree);
    double passed_s = seconds(tree);
    char cpu[VTI_NUMBER_BYTES];
    char passed[VTI_NUMBER_BYTES];
    char program[PROGRAM_BYTES];

    program_of(program, finder, tree);
    vti_text_duration(cpu, tree->cpu_s * 1e9);
    vti_text_duration(passed, passed_s * 1e9);
    if (tree->cores < WAITING && tree->others_busy < VTI_OTHERS_BUSY)
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, 1 - tree->cores, &whole, "",
                        "%s mostly waited: it used %s of CPU time in %s.", program, cpu, passed);
    else if (tree->cpu_count > 1 && tree->cores >= BUSY * tree->cpu_count)
        vti_finding_say(finder, VTI_SEVERITY_INFO, tree->cores / tree->cpu_count, &whole, "",
                        "%s kept all %u CPUs busy: %s of CPU time in %s.", program, tree->cpu_count,
                        cpu, passed);
    else if (is_one_core(tree) && tree->cpu_count > 1 && threads > 1 &&
             tree->others_busy < VTI_OTHERS_BUSY)
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, 0.5, &whole, "",
                        "%u threads, but no more than one core was busy: %s of CPU time in %s on "
                        "%u CPUs.",
                        threads, cpu, passed, tree->cpu_count);
    else if (is_one_core(tree))
        vti_finding_say(finder, VTI_SEVERITY_INFO, fmin(tree->cores, 1) / 2, &whole, "",
                        "%s is bound by CPU: %s of CPU time in %s.", program, cpu, passed);
}

void vti_find_cpu(struct vti_finder *finder)
{
    const struct vti_resources *resources = &finder->study->resources;

    for (size_t i = 0; i < resources->tree_count; i++)
        if (knows(&resources->trees[i], VTI_RESOURCE_CPU_NS) &&
            seconds(&resources->trees[i]) >= LEAST_S)
            say_cpu(finder, &resources->trees[i]);
}

/* Said once: recordings of one file that ran side by side saw the same. */
void vti_find_busy_machine(struct vti_finder *finder)
{
    const struct vti_resources *resources = &finder->study->resources;
    double most = vti_resources_others(resources);

    if (most > 0)
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, most / 2, &whole, "",
                        "Other programs kept %s%.0f %% of the machine's CPUs busy meanwhile: "
                        "times may be longer than on an idle one.",
                        resources->tree_count > 1 ? "up to " : "", most * 100);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Average memory in each quarter of the readings; false if there are too few. */
static bool quarters(const struct vti_resource_series *series, double means[QUARTERS])
{
    size_t known[QUARTERS] = {0};

    for (size_t i = 0; i < series->count; i++) {
        size_t quarter = i * QUARTERS / series->count;

        if (series->points[i].known & 1u << VTI_RESOURCE_MEMORY_BYTES) {
            means[quarter] += (double)series->points[i].values[VTI_RESOURCE_MEMORY_BYTES];
            known[quarter]++;
        }
    }
    for (int i = 0; i < QUARTERS; i++) {
        if (known[i] < GROWTH_READINGS / QUARTERS)
            return false;
        means[i] /= (double)known[i];
    }
    return true;
}

void vti_find_memory_growth(struct vti_finder *finder)
{
    const struct vti_resources *resources = &finder->study->resources;

    for (size_t i = 0; i < resources->tree_count; i++) {
        double means[QUARTERS] = {0};
        char from[VTI_NUMBER_BYTES];
        char to[VTI_NUMBER_BYTES];
        char program[PROGRAM_BYTES];
        bool is_rising = quarters(&resources->trees[i].series, means);

        for (int q = 1; q < QUARTERS && is_rising; q++)
            is_rising = means[q] > means[q - 1];
        if (!is_rising || means[QUARTERS - 1] < GROWTH * means[0] ||
            means[QUARTERS - 1] - means[0] < GROWTH_BYTES)
            continue;
        vti_finding_say(
            finder, VTI_SEVERITY_NOTICE, 1 - means[0] / means[QUARTERS - 1], &whole, "",
            "Memory%s%s rose through the whole run: %s on average in its first "
            "quarter, %s in its last.",
            resources->tree_count > 1 ? " of " : "",
            resources->tree_count > 1 ? program_of(program, finder, &resources->trees[i]) : "",
            vti_text_bytes(from, (uint64_t)means[0]),
            vti_text_bytes(to, (uint64_t)means[QUARTERS - 1]));
    }
}

/* ---- I/O and children ------------------------------------------------------------------------ */

void vti_find_io(struct vti_finder *finder)
{
    const struct vti_resources *resources = &finder->study->resources;

    for (size_t i = 0; i < resources->tree_count; i++) {
        const struct vti_resource_tree *tree = &resources->trees[i];
        double rate = ((double)tree->read_bytes + (double)tree->written_bytes) / seconds(tree);
        char read[VTI_NUMBER_BYTES];
        char written[VTI_NUMBER_BYTES];
        char each[VTI_NUMBER_BYTES];
        char program[PROGRAM_BYTES];

        if (!knows(tree, VTI_RESOURCE_READ_BYTES) || !knows(tree, VTI_RESOURCE_WRITTEN_BYTES) ||
            seconds(tree) < LEAST_S || !(rate >= IO_RATE))
            continue;
        vti_finding_say(finder, VTI_SEVERITY_INFO, fmin(rate / (10 * IO_RATE), 1), &whole, "",
                        "Much input and output%s%s: %s read, %s written, %s a second.",
                        resources->tree_count > 1 ? " of " : "",
                        resources->tree_count > 1 ? program_of(program, finder, tree) : "",
                        vti_text_bytes(read, tree->read_bytes),
                        vti_text_bytes(written, tree->written_bytes),
                        vti_text_bytes(each, (uint64_t)rate));
    }
}

static double cpu_of(const struct vti_resource_process *process)
{
    return (double)process->cpu_ns / 1e9;
}

/* One that others started: what began the recording is no child. */
void vti_find_child_cpu(struct vti_finder *finder)
{
    const struct vti_resources *resources = &finder->study->resources;
    const struct vti_resource_process *most = NULL;
    struct vti_evidence evidence = {.what = "process"};
    char name[VTI_CLIP_BYTES];
    char cpu[VTI_NUMBER_BYTES];
    double share;

    for (size_t i = 0; i < resources->process_count; i++) {
        const struct vti_resource_process *process = &resources->processes[i];

        if (process->parent != VT_NONE && cpu_of(process) > (most ? cpu_of(most) : 0))
            most = process;
    }
    if (!most || !(resources->trees[most->tree].cpu_s > 0) ||
        seconds(&resources->trees[most->tree]) < LEAST_S)
        return;
    share = fmin(cpu_of(most) / resources->trees[most->tree].cpu_s, 1);
    if (share < CHILD_SHARE)
        return;
    evidence.name = most->name;
    evidence.id = most->process;
    vti_finding_say(finder, most->process == VT_NONE ? VTI_SEVERITY_WARNING : VTI_SEVERITY_INFO,
                    share, &evidence, "",
                    "Child process %s (pid %u) had %.0f %% of the CPU time: %s%s.",
                    vti_clip(name, most->name, "", 0), most->pid, share * 100,
                    vti_text_duration(cpu, cpu_of(most) * 1e9),
                    most->process == VT_NONE ? ", and what it did was not recorded" : "");
}
