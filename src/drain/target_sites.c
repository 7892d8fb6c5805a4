/*
 * target_sites.c - the sites of one measured process: what its site log says, and their ids in the recording.
 *
 * The log is the program's own memory: every length in it is checked, and each word is read once.
 */
#include "drain/target.h"

#include <stdlib.h>
#include <string.h>

#define SITES_MAX (1u << 20)

static bool remember_site(struct vti_target *process, uint32_t file_id)
{
    if (process->site_count + 1 >= process->site_room) {
        uint32_t room = process->site_room ? 2 * process->site_room : 64;
        uint32_t *grown = room <= SITES_MAX ? realloc(process->sites, room * sizeof *grown) : NULL;

        if (!grown)
            return false;
        process->sites = grown;
        process->site_room = room;
    }
    process->sites[++process->site_count] = file_id;
    return true;
}

/* A copy of an entry's fixed part, each word read once: the program may be changing it. */
static void copy_entry(struct vti_site_entry *to, const uint8_t *at)
{
    const uint64_t *words = (const uint64_t *)(uintptr_t)at;
    uint64_t copy[sizeof *to / sizeof *words];

    _Static_assert(sizeof copy == sizeof *to, "entries are whole words");
    for (unsigned i = 0; i < sizeof copy / sizeof *copy; i++)
        copy[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    memcpy(to, copy, sizeof copy);
}

/* Functions of one process with equal texts (lambdas on one line, code made at run time) are several.
 * They come in the same order in a forked child, so that they get the same ids there. */
static uint32_t file_site(struct vti_target *process, struct vti_site_fact *fact)
{
    uint32_t id = vti_recorder_site(process->recorder, fact, 0);

    if (fact->type != VTI_SITE_FUNCTION || !id || id > SITES_MAX)
        return id;
    if (id >= process->twin_room) {
        uint32_t room = 2 * id + 64;
        uint32_t *grown = realloc(process->twins, room * sizeof *grown);

        if (!grown)
            return id;
        memset(grown + process->twin_room, 0, (room - process->twin_room) * sizeof *grown);
        process->twins = grown;
        process->twin_room = room;
    }
    if (process->twins[id]++ == 0)
        return id;
    return vti_recorder_site(process->recorder, fact, process->twins[id] - 1);
}

/* Reads one entry of the site log at `at`, a multiple of 8. Returns its size, 0 if it does not fit or
 * makes no sense. */
static uint32_t read_site(struct vti_target *process, const uint8_t *at, uint64_t left)
{
    struct vti_site_entry entry;
    struct vti_site_fact fact = {0};
    char texts[4 * VTI_SITE_TEXT_MAX];
    const char *text = texts;
    size_t len;

    if (left < sizeof entry)
        return 0;
    copy_entry(&entry, at);
    len = (size_t)entry.name_len + entry.function_len + entry.file_len + entry.unit_len;
    if (entry.bytes > left || entry.bytes % 8 || len > sizeof texts ||
        entry.bytes < sizeof entry + len)
        return 0;
    memcpy(texts, at + sizeof entry, len);
    fact.type = entry.type;
    fact.line = entry.line;
    fact.name = (struct vti_bytes){text, entry.name_len};
    fact.function = (struct vti_bytes){text += entry.name_len, entry.function_len};
    fact.file = (struct vti_bytes){text += entry.function_len, entry.file_len};
    fact.unit = (struct vti_bytes){text + entry.file_len, entry.unit_len};
    return remember_site(process, file_site(process, &fact)) ? entry.bytes : 0;
}

static void read_sites(struct vti_target *process)
{
    const struct vti_arena_producer *producer = vti_arena_producer(process->arena);
    uint64_t published = __atomic_load_n(&producer->site_bytes, __ATOMIC_ACQUIRE);
    const uint8_t *sites = vti_arena_sites(process->arena);

    if (published > VTI_SITE_AREA)
        published = VTI_SITE_AREA;
    while (process->site_bytes < published) {
        uint32_t bytes = read_site(process, sites + process->site_bytes,
                                   published - process->site_bytes);

        if (!bytes)
            break;
        process->site_bytes += bytes;
    }
}

uint32_t vti_target_site(struct vti_target *process, uint32_t id)
{
    struct vti_site_fact unknown = {.name = vti_bytes_of("(unknown)")};

    if (id > process->site_count)
        read_sites(process);
    if (id && id <= process->site_count && process->sites[id])
        return process->sites[id];
    return vti_recorder_site(process->recorder, &unknown, 0);
}
