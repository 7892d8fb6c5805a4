/*
 * calls.c - around the hot path of calls: functions get ids, hooks say what they cost, and a profiler inside of the
 * program has calls counted without a recording (venturi/hook.h).
 */
#include "base/error.h"
#include "core/call.h"
#include "core/clock.h"
#include "core/reading.h"
#include "core/runtime.h"
#include "core/site.h"
#include "core/tree.h"

#include <string.h>
#include <time.h>
#include <unistd.h>
#include <venturi/hook.h>

#define SITE_FUNCTION 4
#define LOCAL_PERIOD 0x20u /* bits that no session sets: a new period with each start */
#define LOCAL_PERIODS 0xe0u
#define RATE_NS 5000000u /* the clock's rate is measured over at least so long */

static uint32_t start_count;
static uint64_t started; /* ticks: somebody counts since then, be it for the second time */
static uint32_t local_period;

static const char *const languages[] = {"", "python", "builtin", "c"};

static const char *language_name(uint32_t language)
{
    return language < sizeof languages / sizeof *languages ? languages[language] : "";
}

static uint32_t language_of(const char *name, size_t len)
{
    uint32_t language = sizeof languages / sizeof *languages;

    while (--language &&
           (strlen(languages[language]) != len || memcmp(languages[language], name, len)))
        ;
    return language;
}

uint32_t vt_function_id(const struct vt_function *function)
{
    struct vt_site site = {.name = function->name,
                           .function = function->function,
                           .file = function->file,
                           .unit = language_name(function->language),
                           .line = function->line,
                           .type = SITE_FUNCTION};
    const struct vti_runtime *runtime = vti_runtime();
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);
    /* Also while recording is switched off: a hook that has no ids would ask again with every call. */
    struct vti_arena_control *arena = self ? self->arena : runtime ? runtime->arena : NULL;
    uint32_t id = arena ? vti_site_new(arena, &site) : 0;

    vti_slow_leave(&slow);
    return id;
}

/* Copies a text, as much of it as there is room for. */
static const char *copy_text(char **to, size_t *room, const char *from, size_t len)
{
    char *text = *to;

    if (!*room)
        return "";
    len = len < *room ? len : *room - 1;
    memcpy(text, from, len);
    text[len] = 0;
    *to += len + 1;
    *room -= len + 1;
    return text;
}

int vt_function_read(uint32_t id, struct vt_function *function, char *texts, size_t room)
{
    const struct vti_runtime *runtime = vti_runtime();
    const struct vti_arena_control *arena = runtime ? runtime->arena : NULL;
    const struct vti_site_entry *entry = arena && id ? vti_site_find(arena, id) : NULL;
    const char *from = (const char *)(entry + 1);

    if (!entry || entry->type != SITE_FUNCTION)
        return 0;
    function->line = entry->line;
    function->name = copy_text(&texts, &room, from, entry->name_len);
    from += entry->name_len;
    function->function = copy_text(&texts, &room, from, entry->function_len);
    from += entry->function_len;
    function->file = copy_text(&texts, &room, from, entry->file_len);
    from += entry->file_len;
    function->language = language_of(from, entry->unit_len);
    return 1;
}

void vt_thread_name(const char *name)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);

    if (self) {
        size_t len = strnlen(name, sizeof self->slot->name - 1);

        while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
            len--; /* no half of a letter */
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

void vt_hook_cost_read(enum vt_language language, uint64_t *pair_millis, uint64_t *inner_millis)
{
    const struct vti_runtime *runtime = vti_runtime();
    struct vti_hook_cost cost = {0};

    if (runtime && runtime->arena && (unsigned)language < VTI_LANGUAGES)
        cost = vti_arena_producer(runtime->arena)->costs[language];
    *pair_millis = cost.pair_millis;
    *inner_millis = cost.inner_millis;
}

void vt_calls_unseen(void)
{
    const struct vti_runtime *runtime = vti_runtime();

    if (runtime && runtime->arena)
        __atomic_store_n(&vti_arena_producer(runtime->arena)->has_unseen_calls, 1,
                         __ATOMIC_RELAXED);
}

void vt_call_lost(void)
{
    struct vti_thread *self = vti_self;

    if (self && self->slot)
        self->slot->lost_calls++;
}

void vt_call_undo(uint32_t id)
{
    struct vti_thread *self = vti_self;
    struct vti_node *node = self ? self->node : NULL;

    if (!node || node->site != id || !node->calls) {
        vt_call_leave(id);
        return;
    }
    self->node = vti_tree_node(self->tree, node->parent);
    node->begin = 0;
    node->calls--;
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
    if (arena)
        __atomic_store_n(&started, vti_clock_read(arena->clock), __ATOMIC_RELAXED);
    vti_slow_leave(&slow);
    if (!arena)
        vt_calls_stop();
    return arena ? 0 : VTI_E_NOMEM;
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
        vti_ended_forget();
    }
    vti_runtime_unlock();
    vti_slow_leave(&slow);
}

void vti_calls_keep(const struct vti_thread *self)
{
    if (start_count && self->slot->chunks)
        vti_ended_keep(self, self->slot->start > started);
}
