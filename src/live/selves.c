/*
 * selves.c - own time of spans of traces while they are still coming in.
 *
 * An entry is a span that is open, has ended and waits, or is only known as the parent of another. Entries that wait are in a queue, the longest
 * waiting first; a parent of which nothing more is heard leaves it like the others. Children that are open hang on their parent.
 */
#include "live/selves.h"

#include "base/hash.h"
#include "live/cover.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define SLOTS 65536
#define START 256

enum state { PARENT, OPEN, ENDED }; /* PARENT: heard of */

struct entry {
    uint8_t base[16], span[16];
    uint32_t same_slot; /* the next entry of its slot, or of those that are free */
    uint32_t parent, child, sibling, before; /* open children: a list */
    uint32_t earlier, later;                 /* of the queue */
    uint32_t group;
    enum state state;
    int64_t begin_ns, end_ns, since_ns;
    struct vti_cover cover;
};

struct vti_selves {
    uint32_t *slots;       /* owned */
    struct entry *entries; /* owned */
    size_t count, room;    /* that were ever in use */
    uint32_t unused;
    uint32_t first, last; /* of the queue */
};

struct vti_selves *vti_selves_create(void)
{
    struct vti_selves *selves = calloc(1, sizeof *selves);

    if (!selves)
        return NULL;
    selves->slots = malloc(SLOTS * sizeof *selves->slots);
    if (!selves->slots) {
        free(selves);
        return NULL;
    }
    memset(selves->slots, 0xff, SLOTS * sizeof *selves->slots);
    selves->unused = selves->first = selves->last = NONE;
    return selves;
}

void vti_selves_free(struct vti_selves *selves)
{
    if (!selves)
        return;
    for (size_t i = 0; i < selves->count; i++)
        vti_cover_fini(&selves->entries[i].cover);
    free(selves->entries);
    free(selves->slots);
    free(selves);
}

/* ---- entries ----------------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct vti_selves *selves, const uint8_t base[16],
                         const uint8_t span[16])
{
    uint8_t key[32];

    memcpy(key, base, 16);
    memcpy(key + 16, span, 16);
    return &selves->slots[vti_hash(key, sizeof key) % SLOTS];
}

static uint32_t find(const struct vti_selves *selves, const uint8_t base[16],
                     const uint8_t span[16])
{
    uint32_t at = *slot_of(selves, base, span);

    while (at != NONE && (memcmp(selves->entries[at].span, span, 16) ||
                          memcmp(selves->entries[at].base, base, 16)))
        at = selves->entries[at].same_slot;
    return at;
}

static void enqueue(struct vti_selves *selves, uint32_t at, int64_t now_ns)
{
    struct entry *entry = &selves->entries[at];

    entry->since_ns = now_ns;
    entry->later = NONE;
    entry->earlier = selves->last;
    if (selves->last == NONE)
        selves->first = at;
    else
        selves->entries[selves->last].later = at;
    selves->last = at;
}

static void dequeue(struct vti_selves *selves, uint32_t at)
{
    struct entry *entry = &selves->entries[at];

    if (entry->earlier == NONE)
        selves->first = entry->later;
    else
        selves->entries[entry->earlier].later = entry->later;
    if (entry->later == NONE)
        selves->last = entry->earlier;
    else
        selves->entries[entry->later].earlier = entry->earlier;
}

/* A place for one more; NONE without memory or room. */
static uint32_t take_place(struct vti_selves *selves)
{
    uint32_t at = selves->unused;

    if (at != NONE) {
        selves->unused = selves->entries[at].same_slot;
        return at;
    }
    if (selves->count == VTI_SELVES_MOST)
        return NONE;
    if (selves->count == selves->room) {
        size_t room = selves->room ? 2 * selves->room : START;
        struct entry *entries = realloc(selves->entries, room * sizeof *entries);

        if (!entries)
            return NONE;
        selves->entries = entries;
        selves->room = room;
    }
    return (uint32_t)selves->count++;
}

static uint32_t add(struct vti_selves *selves, const uint8_t base[16], const uint8_t span[16])
{
    uint32_t at = take_place(selves);
    uint32_t *slot = slot_of(selves, base, span);
    struct entry *entry;

    if (at == NONE)
        return NONE;
    entry = &selves->entries[at];
    *entry = (struct entry){.same_slot = *slot,
                            .parent = NONE,
                            .child = NONE,
                            .sibling = NONE,
                            .before = NONE,
                            .earlier = NONE,
                            .later = NONE};
    memcpy(entry->base, base, 16);
    memcpy(entry->span, span, 16);
    *slot = at;
    return at;
}

/* ---- parents and children ----------------------------------------------------------------------- */

static void hang(struct vti_selves *selves, uint32_t at, uint32_t parent)
{
    struct entry *entry = &selves->entries[at];

    entry->parent = parent;
    entry->before = NONE;
    entry->sibling = selves->entries[parent].child;
    if (entry->sibling != NONE)
        selves->entries[entry->sibling].before = at;
    selves->entries[parent].child = at;
}

static void unhang(struct vti_selves *selves, uint32_t at)
{
    struct entry *entry = &selves->entries[at];

    if (entry->parent == NONE)
        return;
    if (entry->before == NONE)
        selves->entries[entry->parent].child = entry->sibling;
    else
        selves->entries[entry->before].sibling = entry->sibling;
    if (entry->sibling != NONE)
        selves->entries[entry->sibling].before = entry->before;
    entry->parent = entry->sibling = entry->before = NONE;
}

/* Leaves the table. Children that are still open have covered their parent until its end. */
static int64_t take_out(struct vti_selves *selves, uint32_t at)
{
    struct entry *entry = &selves->entries[at];
    uint32_t *slot = slot_of(selves, entry->base, entry->span);
    int64_t inside;

    while (entry->child != NONE) {
        uint32_t child = entry->child;

        if (entry->state == ENDED)
            vti_cover_add(&entry->cover, selves->entries[child].begin_ns, entry->end_ns);
        unhang(selves, child);
    }
    inside = vti_cover_sum(&entry->cover, entry->begin_ns, entry->end_ns);
    vti_cover_fini(&entry->cover);
    while (*slot != at)
        slot = &selves->entries[*slot].same_slot;
    *slot = entry->same_slot;
    entry->same_slot = selves->unused;
    selves->unused = at;
    return inside;
}

/* The one that has waited longest. */
static void settle_first(struct vti_selves *selves, vti_selves_tell *tell, void *arg)
{
    uint32_t at = selves->first;
    struct entry *entry = &selves->entries[at];
    enum state state = entry->state;
    uint32_t group = entry->group;
    int64_t whole = entry->end_ns - entry->begin_ns;
    int64_t inside;

    dequeue(selves, at);
    inside = take_out(selves, at);
    if (state == ENDED)
        tell(arg, group, whole > inside ? whole - inside : 0);
}

/* ---- what is told us ----------------------------------------------------------------------------- */

/* The parent's entry, made if need be; NONE of a root. */
static uint32_t parent_of(struct vti_selves *selves, const struct vti_trace_ids *ids,
                          int64_t now_ns)
{
    static const uint8_t nobody[16];
    uint32_t at;

    if (!memcmp(ids->parent, ids->base, 16) || !memcmp(ids->parent, nobody, 16) ||
        !memcmp(ids->parent, ids->span, 16))
        return NONE;
    at = find(selves, ids->base, ids->parent);
    if (at == NONE) {
        at = add(selves, ids->base, ids->parent);
        if (at != NONE)
            enqueue(selves, at, now_ns);
    }
    return at;
}

void vti_selves_begin(struct vti_selves *selves, const struct vti_trace_ids *ids, int64_t begin_ns,
                      int64_t now_ns)
{
    uint32_t at = find(selves, ids->base, ids->span);
    uint32_t parent;

    if (at == NONE)
        at = add(selves, ids->base, ids->span);
    else if (selves->entries[at].state == PARENT)
        dequeue(selves, at);
    else
        return; /* two of one id: the second is on its own */
    if (at == NONE)
        return;
    selves->entries[at].state = OPEN;
    selves->entries[at].begin_ns = begin_ns;
    parent = parent_of(selves, ids, now_ns);
    if (parent != NONE)
        hang(selves, at, parent);
}

void vti_selves_end(struct vti_selves *selves, const struct vti_trace_ids *ids, int64_t begin_ns,
                    int64_t end_ns, uint32_t group, int64_t now_ns, vti_selves_tell *tell,
                    void *arg)
{
    uint32_t at = find(selves, ids->base, ids->span);
    uint32_t parent = parent_of(selves, ids, now_ns);
    struct entry *entry;

    if (parent != NONE)
        vti_cover_add(&selves->entries[parent].cover, begin_ns, end_ns);
    if (at == NONE || selves->entries[at].state != OPEN ||
        selves->entries[at].begin_ns != begin_ns) {
        tell(arg, group, end_ns > begin_ns ? end_ns - begin_ns : 0);
        return;
    }
    unhang(selves, at);
    entry = &selves->entries[at];
    entry->state = ENDED;
    entry->end_ns = end_ns;
    entry->group = group;
    enqueue(selves, at, now_ns);
    if (selves->unused == NONE && selves->count == VTI_SELVES_MOST)
        settle_first(selves, tell, arg);
}

void vti_selves_settle(struct vti_selves *selves, int64_t until_ns, vti_selves_tell *tell,
                       void *arg)
{
    while (selves->first != NONE && selves->entries[selves->first].since_ns <= until_ns)
        settle_first(selves, tell, arg);
}
