/*
 * step.c - steps of a pipeline, and what they say of messages that they have dealt with, become records.
 *
 * A step is a site: its texts lie in the arena before its first record does, and never get lost. A message goes straight into the ring where
 * there is room. Where there is none it is counted, without a system call, and never waited for, whatever the session says of other events.
 */
#include "core/clock.h"
#include "core/event.h"
#include "core/note.h"
#include "core/runtime.h"
#include "core/site.h"
#include "core/thread.h"

#include <string.h>
#include <sys/mman.h>
#include <venturi/step_record.h>

#define STEPS_MAX 4096u
#define SITE_TYPE_STEP 5u    /* VTI_SITE_STEP of format/facts.h */
#define LOOK_INTERVAL 1024u  /* losses between two looks at whether anybody reads at all */
#define PLACE_BYTES VTI_PAGE /* of a step and its texts */

_Static_assert(sizeof(struct vt_site) + 3 * (VTI_SITE_TEXT_MAX + 1) <= PLACE_BYTES, "a page");
_Static_assert(VTI_STEP_PART_BYTES + 4 <= VTI_PAYLOADS_MAX * VTI_PAYLOAD_DATA, "one record");

/* ---- who it is ----------------------------------------------------------------------------------- */

/* They stay, also in a forked child. The count is stored last: a fork in the middle must not split it. */
static struct vt_site *steps[STEPS_MAX + 1];
static uint32_t step_count;

static bool is_text(const char *kept, const char *text)
{
    size_t len = strnlen(text, VTI_SITE_TEXT_MAX);

    return !strncmp(kept, text, len) && !kept[len];
}

static uint32_t find(const char *source, const char *prefix, const char *survey)
{
    for (uint32_t i = 1; i <= step_count; i++)
        if (is_text(steps[i]->name, source) && is_text(steps[i]->function, prefix) &&
            is_text(steps[i]->unit, survey))
            return i;
    return 0;
}

/* The place is zeroed. */
static char *keep(char **to, const char *text)
{
    size_t len = strnlen(text, VTI_SITE_TEXT_MAX);
    char *kept = *to;

    memcpy(kept, text, len);
    *to += len + 1;
    return kept;
}

static uint32_t add(const char *source, const char *prefix, const char *survey)
{
    struct vt_site *site;
    char *texts;

    if (step_count == STEPS_MAX)
        return 0;
    site = mmap(NULL, PLACE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (site == MAP_FAILED)
        return 0;
    texts = (char *)(site + 1);
    site->name = keep(&texts, source);
    site->function = keep(&texts, prefix);
    site->unit = keep(&texts, survey);
    site->file = "";
    site->type = SITE_TYPE_STEP;
    __atomic_store_n(&steps[step_count + 1], site, __ATOMIC_RELEASE);
    return __atomic_add_fetch(&step_count, 1, __ATOMIC_RELEASE);
}

uint32_t vt_step_source(const char *source, const char *prefix, const char *survey)
{
    struct vti_slow slow;
    uint32_t step = 0;

    source = source ? source : "";
    prefix = prefix ? prefix : "pipeline";
    survey = survey ? survey : "";
    vti_slow_block(&slow);
    if (vti_runtime()) {
        vti_runtime_lock();
        step = find(source, prefix, survey);
        if (!step)
            step = add(source, prefix, survey);
        vti_runtime_unlock();
    }
    vti_slow_leave(&slow);
    return step;
}

/* ---- what is lost --------------------------------------------------------------------------------- */

/* A drainer that is gone is noticed by the slow path alone. */
__attribute__((noinline, cold)) static void look_for_drainer(void)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);

    if (self)
        vti_runtime_check_drainer(self->arena);
    vti_slow_leave(&slow);
}

/* No slot is no reason to be without an arena: whoever found no room has one. */
static void lose(void)
{
    struct vti_thread *self = vti_self;

    if (self && self->arena && vti_thread_lose_step(self) % LOOK_INTERVAL == 0)
        look_for_drainer();
}

/* Nothing of this thread may have been recorded before: it may not have an arena yet, or that of another period. NULL: nobody records. */
static struct vti_thread *enter(void)
{
    struct vti_thread *self = vti_self;
    struct vti_slow slow;

    if (self && self->arena && self->period == (vti_control_word() & ~VTI_CONTROL_KINDS))
        return self;
    self = vti_slow_enter(&slow, 0);
    if (!self && slow.is_slotless)
        self = vti_self;
    vti_slow_leave(&slow);
    return self;
}

/* What has no step: there are too many of them, or there was no memory for it. */
__attribute__((noinline, cold)) static void refuse(void)
{
    const struct vti_thread *self = enter();
    uint64_t lost;

    if (!self || vti_runtime()->is_local)
        return;
    lost = __atomic_load_n(&step_count, __ATOMIC_ACQUIRE) == STEPS_MAX
               ? vti_thread_lose_sourceless(self)
               : vti_thread_lose_step(self);
    if (lost % LOOK_INTERVAL == 0)
        look_for_drainer();
}

/* ---- a message ----------------------------------------------------------------------------------- */

static inline uint8_t *add_bytes(uint8_t *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static inline uint8_t *add_u64(uint8_t *to, uint64_t value)
{
    return add_bytes(to, &value, sizeof value);
}

/* Numbers; returns where they end. */
static inline uint8_t *add_numbers(uint8_t *to, const struct vt_step_done *done,
                                   struct vti_note *note)
{
    uint64_t received = done->received & ~VTI_PAYLOAD_BIT;

    to = add_u64(to, received && received < note->ticks ? note->ticks - received : 0);
    if (done->flags & VT_STEP_METRICS) {
        note->flags |= VTI_STEP_METRICS;
        return add_u64(to, VT_UNKNOWN);
    }
    note->flags |= done->flags & VT_STEP_FAILED ? VTI_STEP_FAILED : 0;
    to = add_u64(to, done->execute_ns);
    if (done->messages != 1) {
        note->flags |= VTI_STEP_HAS_MESSAGES;
        to = add_u64(to, done->messages);
    }
    if (done->pre_ns != VT_UNKNOWN) {
        note->flags |= VTI_STEP_HAS_PRE;
        to = add_u64(to, done->pre_ns);
    }
    if (done->post_ns != VT_UNKNOWN) {
        note->flags |= VTI_STEP_HAS_POST;
        to = add_u64(to, done->post_ns);
    }
    if (done->produce_ns != VT_UNKNOWN) {
        note->flags |= VTI_STEP_HAS_PRODUCE;
        to = add_u64(to, done->produce_ns);
    }
    if (done->lag_ns != VT_LAG_UNKNOWN) {
        note->flags |= VTI_STEP_HAS_LAG;
        to = add_u64(to, (uint64_t)done->lag_ns);
    }
    return to;
}

/* More text than a record holds, in records before it. */
__attribute__((noinline)) static bool put_parts(const struct vti_note *head, const char *text,
                                                size_t bytes)
{
    uint8_t payload[4 + VTI_STEP_PART_BYTES];
    struct vti_note note = {
        .site = head->site, .ticks = head->ticks, .kind = VTI_RECORD_STEP_TEXT, .payload = payload};
    uint32_t len;

    for (uint32_t at = 0; at < bytes; at += len) {
        len = bytes - at < VTI_STEP_PART_BYTES ? (uint32_t)(bytes - at) : VTI_STEP_PART_BYTES;
        memcpy(payload, &at, sizeof at);
        memcpy(payload + sizeof at, text + at, len);
        note.bytes = sizeof at + len;
        if (!vti_note_put(&note))
            return false;
    }
    return true;
}

void vt_step_put(const struct vt_step_done *done)
{
    uint8_t payload[VTI_STEP_NOTE_BYTES + VTI_TEXT_MAX];
    struct vti_note note = {.kind = VTI_RECORD_STEP, .payload = payload};
    uint32_t text = done->extra ? (uint32_t)done->extra_bytes : 0;
    uint8_t *to;

    if (!vt_is_on() || !vti_runtime())
        return;
    if (vti_unlikely(!done->step || done->step > __atomic_load_n(&step_count, __ATOMIC_ACQUIRE))) {
        refuse();
        return;
    }
    note.site = steps[done->step];
    note.ticks = vti_note_ticks(done->sent ? done->sent : vt_task_clock());
    to = add_numbers(payload, done, &note);
    if (done->extra && vti_unlikely(done->extra_bytes > VT_STEP_EXTRA_MAX)) {
        note.type = VTI_STEP_TYPE_CUT;
    } else if (vti_unlikely(text > VTI_TEXT_MAX)) {
        note.flags |= VTI_STEP_HAS_PARTS;
        to = add_bytes(to, &text, sizeof text);
    } else if (text) {
        to = add_bytes(to, done->extra, text);
    }
    note.bytes = (size_t)(to - payload);
    if ((note.flags & VTI_STEP_HAS_PARTS && !put_parts(&note, done->extra, text)) ||
        !vti_note_put(&note))
        lose();
}
