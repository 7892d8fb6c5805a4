/*
 * calls.c - around the hot path of calls: functions get ids, and a profiler inside of the program reads
 * what was counted (venturi/hook.h).
 */
#include "base/error.h"
#include "core/call.h"
#include "core/clock.h"
#include "core/runtime.h"
#include "core/site.h"
#include "core/tree.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <venturi/hook.h>

#define SITE_FUNCTION 4
#define LOCAL_PERIOD 0x10u /* bits that no session sets: a new period with each start */
#define LOCAL_PERIODS 0xf0u
#define RATE_NS 5000000u /* the clock's rate is measured over at least so long */

static uint32_t start_count;
static uint32_t local_period;

static const char *language_name(uint32_t language)
{
    static const char *const names[] = {"", "python", "builtin", "c"};

    return language < sizeof names / sizeof *names ? names[language] : "";
}

uint32_t vt_function_id(const struct vt_function *function)
{
    struct vt_site site = {.name = function->name,
                           .function = function->function,
                           .file = function->file,
                           .unit = language_name(function->language),
                           .line = function->line,
                           .type = SITE_FUNCTION};
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);
    uint32_t id = self ? vti_site_new(self->arena, &site) : 0;

    vti_slow_leave(&slow);
    return id;
}

void vt_thread_name(const char *name)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);

    if (self) {
        size_t len = strnlen(name, sizeof self->slot->name - 1);

        memset(self->slot->name, 0, sizeof self->slot->name);
        memcpy(self->slot->name, name, len);
    }
    vti_slow_leave(&slow);
}

void vt_hook_cost(enum vt_language language, uint64_t pair_millis, uint64_t inner_millis)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);

    if (self && (unsigned)language < VTI_LANGUAGES)
        vti_arena_producer(self->arena)->costs[language] = (struct vti_hook_cost){pair_millis,
                                                                                  inner_millis};
    vti_slow_leave(&slow);
}

/* A node without any call is none to those who read: its number may be known to the drainer by now. */
static void forget_node(struct vti_node *node)
{
    node->calls = node->resumes = 0;
    node->total = node->suspended = 0;
    node->shortest = node->longest = 0;
}

static uint64_t forget_in_chunk(struct vti_chunk *chunk, uint32_t id)
{
    uint8_t *units = (uint8_t *)chunk;
    uint64_t total = 0;

    for (uint32_t i = 1; i < chunk->used && chunk->type == VTI_CHUNK_NODES; i++) {
        struct vti_node *node = (struct vti_node *)(units + (size_t)i * VTI_UNIT_BYTES);

        if (node->site == id && !node->begin) {
            total += node->total;
            forget_node(node);
        }
    }
    for (uint32_t i = 1; i < chunk->used && chunk->type == VTI_CHUNK_DURATIONS;
         i += VTI_DURATION_UNITS)
        if (chunk->sites[(i - 1) / VTI_DURATION_UNITS] == id)
            memset(units + (size_t)i * VTI_UNIT_BYTES, 0, VTI_DURATION_UNITS * VTI_UNIT_BYTES);
    return total;
}

uint64_t vt_call_forget(uint32_t id)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);
    uint32_t at = self ? self->slot->chunks : 0;
    uint64_t total = 0;

    while (at && id) {
        struct vti_chunk *chunk = vti_arena_chunk(self->arena, at - 1);

        total += forget_in_chunk(chunk, id);
        at = chunk->next;
    }
    vti_slow_leave(&slow);
    return total;
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* A hook asks for the time before its first call: if somebody wants a recording, it begins here. */
static uint32_t clock_type(void)
{
    const struct vti_runtime *runtime = vti_runtime();
    const struct vti_arena_control *arena;
    struct vti_slow slow;

    if (!runtime)
        return 0;
    if (__atomic_load_n(&runtime->is_attached, __ATOMIC_ACQUIRE))
        return runtime->arena ? runtime->arena->clock : 0;
    vti_slow_enter(&slow, 0);
    arena = vti_runtime_arena();
    vti_slow_leave(&slow);
    return arena ? arena->clock : 0;
}

uint64_t vt_ticks(void)
{
    uint32_t clock = clock_type();

    return clock ? vti_clock_read(clock) : 0;
}

/* Since the process began to record: the longer ago, the better it is known. */
double vt_ticks_per_second(void)
{
    const struct vti_runtime *runtime = vti_runtime();
    uint32_t clock = clock_type();
    uint64_t passed;

    if (!clock || clock == VTI_TICKS_MONOTONIC)
        return 1e9;
    passed = vti_clock_monotonic() - runtime->attached_ns;
    if (passed < RATE_NS) {
        const struct timespec rest = {0, (long)(RATE_NS - passed)};

        nanosleep(&rest, NULL);
        passed = vti_clock_monotonic() - runtime->attached_ns;
    }
    return (double)(vti_clock_read(clock) - runtime->attached_ticks) / (double)passed * 1e9;
}

/* ---- counting without a recording ------------------------------------------------------------ */

int vt_calls_start(void)
{
    struct vti_runtime *runtime = vti_runtime();
    struct vti_arena_control *arena;
    struct vti_slow slow;

    if (!runtime)
        return VTI_E_NOMEM;
    vti_slow_enter(&slow, 0);
    vti_runtime_lock();
    if (start_count++ == 0) {
        /* No new period within a recording of calls: it would end those that are open there. */
        local_period = (local_period + LOCAL_PERIOD) & LOCAL_PERIODS;
        __atomic_store_n(&vti_local_kinds,
                         VTI_CONTROL_CALLS |
                             (vti_control_word() & VTI_CONTROL_CALLS ? 0 : local_period),
                         __ATOMIC_RELEASE);
        if (!runtime->arena)
            runtime->is_attached = false;
    }
    vti_runtime_unlock();
    arena = vti_runtime_arena();
    vti_slow_leave(&slow);
    if (!arena)
        vt_calls_stop();
    return arena ? 0 : VTI_E_NOMEM;
}

/* ---- threads that have ended, kept while somebody counts ------------------------------------- */

struct ended {
    struct ended *next;
    size_t bytes; /* of the whole mapping */
    size_t node_count, duration_count;
    uint64_t lost_calls;
    /* nodes, then durations */
};

static struct ended *ended_threads;
static struct ended **ended_end = &ended_threads;

static void forget_ended(void)
{
    while (ended_threads) {
        struct ended *next = ended_threads->next;

        munmap(ended_threads, ended_threads->bytes);
        ended_threads = next;
    }
    ended_end = &ended_threads;
}

void vt_calls_stop(void)
{
    struct vti_slow slow;

    if (!vti_runtime())
        return;
    vti_slow_enter(&slow, 0);
    vti_runtime_lock();
    if (start_count && --start_count == 0) {
        __atomic_store_n(&vti_local_kinds, 0, __ATOMIC_RELEASE);
        forget_ended();
    }
    vti_runtime_unlock();
    vti_slow_leave(&slow);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
    struct vt_call_node *nodes;
    size_t node_room, node_count;
    struct vt_call_durations *durations;
    size_t duration_room, duration_count;
    uint64_t now;
};

static void read_node(struct reading *reading, const struct vti_slot *slot, uint32_t unit,
                      const struct vti_node *node)
{
    struct vt_call_node *to = &reading->nodes[reading->node_count];
    uint64_t begin = __atomic_load_n(&node->begin, __ATOMIC_RELAXED);

    if (!node->site || reading->node_count++ >= reading->node_room)
        return;
    *to = (struct vt_call_node){.thread = slot->number,
                                .tid = slot->tid,
                                .node = unit,
                                .parent = node->parent,
                                .function = node->site,
                                .is_open = begin != 0 || node->elapsed != 0,
                                .calls = node->calls,
                                .resumes = node->resumes,
                                .total = node->total,
                                .suspended = node->suspended,
                                .shortest = node->shortest - 1,
                                .longest = node->longest};
    if (begin && begin < reading->now)
        to->total += reading->now - begin;
    else if (node->elapsed)
        to->total += node->elapsed - 1;
}

static void read_durations(struct reading *reading, const struct vti_slot *slot, uint32_t site,
                           const uint8_t *units)
{
    struct vt_call_durations *to = &reading->durations[reading->duration_count];

    if (!site || reading->duration_count++ >= reading->duration_room)
        return;
    to->thread = slot->number;
    to->function = site;
    memcpy(to->counts, units, sizeof to->counts);
}

/* A root is no call: what it leads to has no parent. */
static void hide_roots(struct reading *reading, const struct vti_arena_control *arena, size_t from)
{
    const uint8_t *units = vti_arena_units(arena);

    for (size_t i = from; i < reading->node_count && i < reading->node_room; i++) {
        struct vt_call_node *node = &reading->nodes[i];
        const struct vti_node *parent = (const struct vti_node *)(units + (size_t)node->parent *
                                                                              VTI_UNIT_BYTES);

        if (!parent->site)
            node->parent = 0;
    }
}

static void read_thread(struct reading *reading, const struct vti_arena_control *arena,
                        const struct vti_slot *slot)
{
    size_t from = reading->node_count;
    uint32_t at = __atomic_load_n(&slot->chunks, __ATOMIC_ACQUIRE);

    while (at) {
        struct vti_chunk *chunk = vti_arena_chunk(arena, at - 1);
        const uint8_t *units = (const uint8_t *)chunk;
        uint32_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);

        for (uint32_t i = 1; i < used && chunk->type == VTI_CHUNK_NODES; i++)
            read_node(reading, slot, (at - 1) * VTI_CHUNK_UNITS + i,
                      (const struct vti_node *)(units + i * VTI_UNIT_BYTES));
        for (uint32_t i = 1; i < used && chunk->type == VTI_CHUNK_DURATIONS;
             i += VTI_DURATION_UNITS)
            read_durations(reading, slot, chunk->sites[(i - 1) / VTI_DURATION_UNITS],
                           units + i * VTI_UNIT_BYTES);
        at = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
    }
    hide_roots(reading, arena, from);
}

void vti_calls_keep(const struct vti_thread *self)
{
    struct reading reading = {.now = self->slot->end};
    struct ended *kept;
    size_t bytes;

    if (!start_count || !self->slot->chunks)
        return;
    read_thread(&reading, self->arena, self->slot);
    bytes = sizeof *kept + reading.node_count * sizeof *reading.nodes +
            reading.duration_count * sizeof *reading.durations;
    kept = vti_private_map(bytes);
    if (!kept)
        return;
    kept->bytes = bytes;
    kept->lost_calls = self->slot->lost_calls;
    reading = (struct reading){.now = self->slot->end,
                               .nodes = (struct vt_call_node *)(kept + 1),
                               .node_room = reading.node_count,
                               .duration_room = reading.duration_count};
    reading.durations = (struct vt_call_durations *)(reading.nodes + reading.node_room);
    read_thread(&reading, self->arena, self->slot);
    kept->node_count = reading.node_room;
    kept->duration_count = reading.duration_room;
    *ended_end = kept;
    ended_end = &kept->next;
}

static size_t copy_some(void *to, size_t room, size_t done, const void *from, size_t count,
                        size_t size)
{
    size_t some = done >= room ? 0 : room - done < count ? room - done : count;

    if (some)
        memcpy((char *)to + done * size, from, some * size);
    return done + count;
}

/* Everything there is; with the runtime locked no thread ends and nothing is given back. */
static void read_all(struct reading *reading, uint64_t *lost_calls)
{
    const struct vti_runtime *runtime = vti_runtime();
    const struct vti_arena_control *arena = runtime->arena;
    uint32_t slots;

    for (const struct ended *kept = ended_threads; kept; kept = kept->next) {
        const struct vt_call_node *nodes = (const struct vt_call_node *)(kept + 1);

        reading->node_count = copy_some(reading->nodes, reading->node_room, reading->node_count,
                                        nodes, kept->node_count, sizeof *nodes);
        reading->duration_count = copy_some(reading->durations, reading->duration_room,
                                            reading->duration_count, nodes + kept->node_count,
                                            kept->duration_count, sizeof *reading->durations);
        *lost_calls += kept->lost_calls;
    }
    if (!arena)
        return;
    reading->now = vti_clock_read(arena->clock);
    *lost_calls += vti_arena_producer(arena)->lost_calls.events;
    slots = __atomic_load_n(&vti_arena_producer(arena)->slots.unused, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < slots && i < VTI_SLOT_COUNT; i++) {
        const struct vti_slot *slot = vti_arena_slot(arena, i);

        if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != VTI_SLOT_LIVE)
            continue;
        read_thread(reading, arena, slot);
        *lost_calls += slot->lost_calls;
    }
}

static uint64_t read_locked(struct reading *reading)
{
    struct vti_slow slow;
    uint64_t lost_calls = 0;

    if (!vti_runtime())
        return 0;
    vti_slow_enter(&slow, 0);
    vti_runtime_lock();
    read_all(reading, &lost_calls);
    vti_runtime_unlock();
    vti_slow_leave(&slow);
    return lost_calls;
}

size_t vt_calls_read(struct vt_call_node *nodes, size_t room)
{
    struct reading reading = {.nodes = nodes, .node_room = room};

    read_locked(&reading);
    return reading.node_count;
}

size_t vt_calls_durations(struct vt_call_durations *durations, size_t room)
{
    struct reading reading = {.durations = durations, .duration_room = room};

    read_locked(&reading);
    return reading.duration_count;
}

uint64_t vt_calls_lost(void)
{
    struct reading reading = {0};

    return read_locked(&reading);
}
