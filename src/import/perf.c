/*
 * perf.c - what `perf script` prints becomes samples: a tree of functions for each thread.
 *
 * Samples of a clock stand for their period. Those of other events stand for the time that usually
 * passes between two of them on one thread. Only the event of the first sample counts.
 */
#include "base/error.h"
#include "format/calls.h"
#include "import/lines.h"
#include "import/perf_line.h"
#include "import/target.h"
#include "venturi/hook.h"

#include <stdlib.h>
#include <string.h>

#define STACK_MOST 4096u /* functions; what lies further out is left out */
#define FIRST_BYTES (64u << 10)
#define BLOCK_ENTRIES 4096u
#define NS_MOST 1000000000000000000u

struct node {
    uint32_t parent; /* number, from 1; 0: none */
    uint32_t site;
    uint32_t next; /* number of the thread's next one */
    uint64_t samples, ns;
};

struct thread {
    uint32_t pid, tid;
    uint32_t process;
    uint32_t first, last; /* nodes */
    uint64_t previous_ns;
    char name[64];
};

struct perf {
    const struct vti_import_input *input;
    struct vti_import_target *target;
    struct vti_map *places;      /* (thread, parent, site) to number - 1 */
    struct vti_map *thread_ids;  /* (pid, tid) to index */
    struct vti_map *process_ids; /* pid to index */
    struct node *nodes;
    size_t node_count, node_room;
    struct thread *threads;
    size_t thread_room;
    uint64_t *gaps; /* between two samples of a thread */
    size_t gap_count, gap_room;
    char event[128];
    bool is_clock;
    uint64_t period, first_ns, last_ns, samples;
    uint64_t cut; /* samples whose stacks were deeper than STACK_MOST */
    size_t line;
    struct vti_perf_head head; /* of the sample under way */
    bool is_open, is_cut;
    uint32_t stack[STACK_MOST]; /* sites, innermost first */
    size_t depth;
};

static bool fits(const uint8_t *data, size_t size)
{
    struct vti_bytes left = {(const char *)data, size < FIRST_BYTES ? size : FIRST_BYTES};
    struct vti_perf_head head;
    struct vti_bytes line;

    while (vti_next_line(&left, &line))
        if (line.len && line.data[0] != '#' && line.data[0] != '\r')
            return vti_perf_head(line, &head);
    return false;
}

static int no_memory(void)
{
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

/* ---- a sample ---------------------------------------------------------------------------------- */

static int64_t find_thread(struct perf *perf)
{
    const struct vti_perf_head *head = &perf->head;
    uint32_t key[2] = {head->pid, head->tid};
    struct thread *thread;
    int is_new, is_new_process;
    int64_t at, process;
    size_t len;

    if (vti_grow(&perf->threads, vti_map_count(perf->thread_ids), &perf->thread_room,
                 sizeof *perf->threads))
        return no_memory();
    at = vti_map_add(perf->thread_ids, key, sizeof key, &is_new);
    process = vti_map_add(perf->process_ids, &head->pid, sizeof head->pid, &is_new_process);
    if (at < 0 || process < 0)
        return no_memory();
    if (!is_new)
        return at;
    thread = &perf->threads[at];
    *thread = (struct thread){.pid = head->pid, .tid = head->tid, .process = (uint32_t)process};
    len = head->name.len < sizeof thread->name ? head->name.len : sizeof thread->name - 1;
    memcpy(thread->name, head->name.data, len);
    return at;
}

static int64_t find_node(struct perf *perf, uint32_t at, uint32_t parent, uint32_t site)
{
    uint32_t key[3] = {at, parent, site};
    struct thread *thread = &perf->threads[at];
    int is_new;
    int64_t node;

    if (vti_grow(&perf->nodes, perf->node_count, &perf->node_room, sizeof *perf->nodes))
        return no_memory();
    node = vti_map_add(perf->places, key, sizeof key, &is_new);
    if (node < 0)
        return no_memory();
    if (is_new) {
        perf->nodes[perf->node_count++] = (struct node){.parent = parent, .site = site};
        *(thread->last ? &perf->nodes[thread->last - 1].next : &thread->first) = (uint32_t)node + 1;
        thread->last = (uint32_t)node + 1;
    }
    return node + 1;
}

static int add_gap(struct perf *perf, struct thread *thread)
{
    uint64_t now = perf->head.time_ns;

    if (thread->previous_ns && now > thread->previous_ns) {
        if (vti_grow(&perf->gaps, perf->gap_count, &perf->gap_room, sizeof *perf->gaps))
            return no_memory();
        perf->gaps[perf->gap_count++] = now - thread->previous_ns;
    }
    thread->previous_ns = now;
    return 0;
}

/* The sample under way is complete. */
static int add_sample(struct perf *perf)
{
    int64_t thread;
    int64_t node = 0;

    if (!perf->is_open || !perf->depth) {
        perf->is_open = false;
        return 0;
    }
    perf->is_open = false;
    thread = find_thread(perf);
    if (thread < 0)
        return (int)thread;
    for (size_t i = perf->depth; i-- > 0 && node >= 0;)
        if (i + 1 == perf->depth || perf->stack[i] != perf->stack[i + 1]) /* not within itself */
            node = find_node(perf, (uint32_t)thread, (uint32_t)node, perf->stack[i]);
    if (node < 0)
        return (int)node;
    perf->nodes[node - 1].samples++;
    perf->nodes[node - 1].ns += perf->head.period;
    if (perf->nodes[node - 1].ns > NS_MOST)
        return vti_fail(VTI_E_DAMAGED, "%s: line %zu: the sum is too large", perf->input->path,
                        perf->line);
    if (!perf->samples++ || perf->head.time_ns < perf->first_ns)
        perf->first_ns = perf->head.time_ns;
    if (perf->head.time_ns > perf->last_ns)
        perf->last_ns = perf->head.time_ns;
    return add_gap(perf, &perf->threads[thread]);
}

static int add_frame(struct perf *perf, struct vti_bytes line)
{
    struct vti_perf_frame frame;
    struct vti_site_fact site = {.type = VTI_SITE_FUNCTION};

    if (!vti_perf_frame(line, &frame))
        return vti_fail(VTI_E_DAMAGED, "%s: line %zu: neither a sample nor a function of one",
                        perf->input->path, perf->line);
    if (!perf->is_open || perf->is_cut)
        return 0;
    if (perf->depth == STACK_MOST) {
        perf->is_cut = true;
        perf->cut++;
        return 0;
    }
    site.name = site.function = frame.name;
    site.file = frame.file;
    site.unit = vti_bytes_of(frame.is_python ? "python" : "c");
    perf->stack[perf->depth] = vti_import_site(perf->target, &site);
    return perf->stack[perf->depth++] ? 0 : no_memory();
}

/* ---- all of them ------------------------------------------------------------------------------- */

static int begin_sample(struct perf *perf, const struct vti_perf_head *head)
{
    int code = add_sample(perf);
    size_t len = head->event.len < sizeof perf->event ? head->event.len : sizeof perf->event - 1;

    perf->head = *head;
    perf->depth = 0;
    perf->is_cut = false;
    if (!perf->event[0]) {
        memcpy(perf->event, head->event.data, len);
        perf->is_clock = vti_perf_is_clock(head->event) && head->period;
        perf->period = perf->is_clock ? head->period : 0;
    }
    perf->is_open = len == strlen(perf->event) && !memcmp(perf->event, head->event.data, len);
    return !code && head->rest.len ? add_frame(perf, head->rest) : code;
}

static int take_line(struct perf *perf, struct vti_bytes line)
{
    struct vti_perf_head head;

    if (line.len && line.data[line.len - 1] == '\r')
        line.len--;
    if (!line.len)
        return add_sample(perf);
    if (line.data[0] == '#')
        return 0;
    return vti_perf_head(line, &head) ? begin_sample(perf, &head) : add_frame(perf, line);
}

static int take_lines(struct perf *perf)
{
    struct vti_bytes left = {(const char *)perf->input->data, perf->input->size};
    struct vti_bytes line;
    int code = 0;

    while (!code && vti_next_line(&left, &line)) {
        perf->line++;
        code = take_line(perf, line);
        if (perf->line % 4096 == 0 && perf->input->is_stopped && perf->input->is_stopped())
            return vti_fail(VTI_E_TIMEOUT, "interrupted, nothing written");
    }
    if (!code)
        code = add_sample(perf);
    if (!code && !perf->samples)
        code = vti_fail(VTI_E_EMPTY, "%s: holds no samples with functions", perf->input->path);
    return code;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* The median of the gaps: pauses of a thread are among them, but not in the middle. */
static void find_period(struct perf *perf)
{
    if (perf->is_clock)
        return;
    if (perf->gap_count) {
        qsort(perf->gaps, perf->gap_count, sizeof *perf->gaps, compare);
        perf->period = perf->gaps[perf->gap_count / 2];
    }
    for (size_t i = 0; i < perf->node_count; i++)
        if (__builtin_mul_overflow(perf->nodes[i].samples, perf->period, &perf->nodes[i].ns))
            perf->nodes[i].ns = NS_MOST;
}

static int write_thread(struct perf *perf, uint32_t at, uint64_t end)
{
    const struct thread *thread = &perf->threads[at];
    uint32_t next = thread->first;
    uint32_t count = 0;
    int code = vti_import_track(perf->target, at, thread->process, thread->tid, thread->name, end,
                                false);

    while (next && !code) {
        const struct node *node = &perf->nodes[next - 1];

        vti_sample_write(&perf->target->entry, &(struct vti_sample_fact){.node = next,
                                                                         .parent = node->parent,
                                                                         .site = node->site,
                                                                         .samples = node->samples,
                                                                         .ns = node->ns});
        next = node->next;
        if (++count == BLOCK_ENTRIES || !next) {
            code = vti_import_block(perf->target, VTI_SAMPLES, at, count, end);
            count = 0;
        }
    }
    return code;
}

static int write_all(struct perf *perf)
{
    uint64_t end = perf->last_ns - perf->first_ns;
    uint32_t processes = 0;
    int code = vti_import_write_sites(perf->target);

    for (uint32_t i = 0; i < vti_map_count(perf->thread_ids) && !code; i++) {
        const struct thread *thread = &perf->threads[i];

        if (thread->process == processes) { /* numbered in the order of their first threads */
            code = vti_import_process(perf->target, processes++, thread->pid, thread->name, end);
            vti_sampling_write(&perf->target->entry,
                               &(struct vti_sampling_fact){.process = thread->process,
                                                           .clock = VT_SAMPLE_CLOCK_OTHER,
                                                           .period_ns = perf->period,
                                                           .samples = perf->samples});
            if (!code)
                code = vti_import_block(perf->target, VTI_SAMPLING, 0, 1, 0);
        }
        if (!code)
            code = write_thread(perf, i, end);
    }
    return code;
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    struct perf *perf = calloc(1, sizeof *perf);
    int code = perf ? 0 : no_memory();

    if (code)
        return code;
    perf->input = input;
    perf->target = target;
    if (vti_map_create(&perf->places) || vti_map_create(&perf->thread_ids) ||
        vti_map_create(&perf->process_ids))
        code = no_memory();
    if (!code)
        code = take_lines(perf);
    if (!code) {
        find_period(perf);
        code = write_all(perf);
    }
    if (perf->cut)
        vti_import_note(target, "%llu stack%s deeper than %u functions, the outer ones left out",
                        (unsigned long long)perf->cut, perf->cut == 1 ? " is" : "s are",
                        STACK_MOST);
    vti_map_free(perf->places);
    vti_map_free(perf->thread_ids);
    vti_map_free(perf->process_ids);
    free(perf->nodes);
    free(perf->threads);
    free(perf->gaps);
    free(perf);
    return code;
}

const struct vti_importer vti_import_perf = {
    .name = "perf",
    .summary = "what `perf script` prints",
    .fits = fits,
    .run = run,
};
