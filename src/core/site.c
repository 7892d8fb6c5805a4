/*
 * site.c - sites get their ids, and names made at run time get sites.
 *
 * The texts of a site are copied into the arena when it is first hit: the library it lives in may be unloaded later.
 */
#include "core/site.h"

#include "core/clock.h"
#include "core/runtime.h"
#include "core/thread.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define NAME_SLOTS 65536
#define NAMES_MAX 49152
#define NAME_ROOM (1 << 20)

static size_t text_length(const char *text)
{
    return text ? strnlen(text, VTI_SITE_TEXT_MAX) : 0;
}

static uint8_t *add_text(uint8_t *to, const char *text, uint16_t len)
{
    if (len)
        memcpy(to, text, len);
    return to + len;
}

/* Appends to the log and returns the new id, or 1 ("more sites") when the log is full. */
static uint32_t append(struct vti_arena_control *arena, const struct vt_site *site)
{
    struct vti_arena_producer *producer = vti_arena_producer(arena);
    struct vti_site_entry entry = {0};
    uint8_t *at = vti_arena_sites(arena) + producer->site_bytes;
    size_t bytes;

    entry.type = site->type;
    entry.line = site->line;
    entry.name_len = (uint16_t)text_length(site->name);
    entry.function_len = (uint16_t)text_length(site->function);
    entry.file_len = (uint16_t)text_length(site->file);
    entry.unit_len = (uint16_t)text_length(site->unit);
    bytes = sizeof entry + entry.name_len + entry.function_len + entry.file_len + entry.unit_len;
    bytes = (bytes + 7) & ~(size_t)7;
    if (producer->site_bytes + bytes > VTI_SITE_AREA)
        return 1;
    entry.bytes = (uint32_t)bytes;
    memcpy(at, &entry, sizeof entry);
    at = add_text(at + sizeof entry, site->name, entry.name_len);
    at = add_text(at, site->function, entry.function_len);
    at = add_text(at, site->file, entry.file_len);
    add_text(at, site->unit, entry.unit_len);
    producer->site_count++;
    __atomic_store_n(&producer->site_bytes, producer->site_bytes + bytes, __ATOMIC_RELEASE);
    return producer->site_count;
}

void vti_sites_carry_over(struct vti_arena_control *to, const struct vti_arena_control *from)
{
    static const struct vt_site more = {"(more sites)", "", "", "", 0, 0, 0, 0};
    struct vti_arena_producer *new_one = vti_arena_producer(to);
    uint64_t bytes;

    if (!from) {
        append(to, &more);
        return;
    }
    /* The earlier arena may be that of a parent process, which goes on appending: what is published
     * now is what counts, and its number is not the parent's. */
    bytes = __atomic_load_n(&vti_arena_producer(from)->site_bytes, __ATOMIC_ACQUIRE);
    memcpy(vti_arena_sites(to), vti_arena_sites(from), bytes);
    for (uint64_t at = 0; at < bytes; new_one->site_count++)
        at += ((const struct vti_site_entry *)(vti_arena_sites(to) + at))->bytes;
    __atomic_store_n(&new_one->site_bytes, bytes, __ATOMIC_RELEASE);
}

uint32_t vti_site_id(struct vti_arena_control *arena, struct vt_site *site)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

    if (id)
        return id;
    vti_runtime_lock();
    id = site->id;
    if (!id) {
        id = append(arena, site);
        __atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
    }
    vti_runtime_unlock();
    return id;
}

uint32_t vti_site_new(struct vti_arena_control *arena, const struct vt_site *site)
{
    uint32_t id;

    vti_runtime_lock();
    id = append(arena, site);
    vti_runtime_unlock();
    return id;
}

const struct vti_site_entry *vti_site_find(const struct vti_arena_control *arena, uint32_t id)
{
    const uint8_t *log = vti_arena_sites(arena);
    uint64_t bytes = __atomic_load_n(&vti_arena_producer(arena)->site_bytes, __ATOMIC_ACQUIRE);
    const struct vti_site_entry *entry;

    for (uint64_t at = 0; at < bytes; at += entry->bytes) {
        entry = (const struct vti_site_entry *)(log + at);
        if (--id == 0)
            return entry;
    }
    return NULL;
}

/* ---- names made at run time: a table that only grows, read without a lock --------------------- */

struct name {
    struct vt_site site; /* must stay first */
    uint64_t hash;
    char text[];
};

static struct name **names; /* NAME_SLOTS pointers */
static uint32_t name_count;
static char *name_room; /* moved by one store: a fork in the middle must not split it */
static char *name_room_end;

/* Eight bytes a step: byte by byte it would cost more than the clock. */
static uint64_t hash_text(const char *text, size_t len)
{
    uint64_t hash = len * 0x9e3779b97f4a7c15u;
    uint64_t word;

    for (; len >= 8; text += 8, len -= 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * 0xc2b2ae3d27d4eb4fu;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, text, len);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* The slot that holds the name, or the free one where it belongs. */
static struct name **find_name(uint64_t hash, const char *text, size_t len)
{
    uint32_t at = (uint32_t)hash & (NAME_SLOTS - 1);

    for (;; at = (at + 1) & (NAME_SLOTS - 1)) {
        struct name *name = __atomic_load_n(&names[at], __ATOMIC_ACQUIRE);

        if (!name || (name->hash == hash && !memcmp(name->text, text, len) && !name->text[len]))
            return &names[at];
    }
}

/* Not wiped in a forked child: the child keeps the names, as it keeps the sites' ids. */
static void *plain_map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static struct name *new_name(uint64_t hash, const char *text, size_t len)
{
    size_t bytes = (sizeof(struct name) + len + 1 + 15) & ~(size_t)15;
    struct name *name;

    if (bytes > (size_t)(name_room_end - name_room)) {
        char *more = plain_map(NAME_ROOM);

        if (!more)
            return NULL;
        name_room = name_room_end = more + NAME_ROOM; /* nothing left, whatever comes in between */
        name_room = more;
    }
    name = (struct name *)name_room;
    name_room += bytes;
    memcpy(name->text, text, len);
    name->text[len] = 0;
    name->hash = hash;
    name->site = (struct vt_site){name->text, "", "", "", 0, 0, 0, 0};
    name_count++;
    return name;
}

static struct vt_site *add_name(uint64_t hash, const char *text, size_t len)
{
    static struct vt_site more = {"(more names)", "", "", "", 0, 0, 0, 0};
    struct vt_site *site = &more;
    struct name **slot;
    struct vti_slow slow;

    vti_slow_block(&slow);
    if (!vti_runtime())
        goto out;
    vti_runtime_lock();
    if (!names) {
        struct name **table = plain_map(NAME_SLOTS * sizeof *names);

        __atomic_store_n(&names, table, __ATOMIC_RELEASE);
    }
    slot = names ? find_name(hash, text, len) : NULL;
    if (slot && !*slot && name_count < NAMES_MAX)
        __atomic_store_n(slot, new_name(hash, text, len), __ATOMIC_RELEASE);
    if (slot && *slot)
        site = &(*slot)->site;
    vti_runtime_unlock();
out:
    vti_slow_leave(&slow);
    return site;
}

struct vt_site *vt_site_intern(const char *text)
{
    size_t len = text_length(text);
    struct name *name = NULL;
    uint64_t hash;

    if (!text)
        text = "";
    hash = hash_text(text, len);
    if (__atomic_load_n(&names, __ATOMIC_ACQUIRE))
        name = __atomic_load_n(find_name(hash, text, len), __ATOMIC_ACQUIRE);
    return name ? &name->site : add_name(hash, text, len);
}
