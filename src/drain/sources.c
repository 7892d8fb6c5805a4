/*
 * sources.c - the texts of source files that processes hand over.
 *
 * The first text of a file is written for all processes; one that has another text under the same name gets it for
 * itself. Texts are not kept here, only their digests.
 */
#include "drain/sources.h"

#include "base/buf.h"
#include "base/error.h"
#include "drain/target.h"
#include "format/lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCES_MAX 65536u

static uint64_t digest(const char *from, size_t len)
{
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        sum = (sum ^ (uint8_t)from[i]) * 0x100000001b3u;
    return sum ^ len << 40;
}

static bool room_for_one(struct vti_sources *sources)
{
    size_t room = sources->room ? 2 * sources->room : 64;
    struct vti_source_seen *grown;

    if (sources->count < sources->room)
        return true;
    grown = sources->count < SOURCES_MAX ? realloc(sources->seen, room * sizeof *grown) : NULL;
    if (!grown)
        return false;
    sources->seen = grown;
    sources->room = room;
    return true;
}

/* Whether it has to be written, and for whom. The last text of a process is the one that counts. */
static bool is_new(const struct vti_sources *sources, struct vti_source_seen *source)
{
    const struct vti_source_seen *for_all = NULL;
    const struct vti_source_seen *own = NULL;

    for (size_t i = 0; i < sources->count; i++) {
        const struct vti_source_seen *at = &sources->seen[i];

        if (at->file != source->file)
            continue;
        if (!at->process_plus_one)
            for_all = at;
        else if (at->process_plus_one == source->process_plus_one)
            own = at;
    }
    if (!for_all)
        source->process_plus_one = 0;
    own = own ? own : for_all;
    return !own || own->text != source->text;
}

static void state_lost(struct vti_target *process)
{
    uint64_t now = vti_recorder_ticks(process->recorder);
    struct vti_loss_fact loss = {.reason = VTI_LOSS_SOURCES,
                                 .process_plus_one = process->fact.process + 1,
                                 .events = 1,
                                 .first = now,
                                 .last = now};

    vti_recorder_loss(process->recorder, &loss);
}

static int read_all(int fd, char *to, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t got = pread(fd, to + done, bytes - done, (off_t)done);

        if (got <= 0)
            return VTI_E_SYSTEM;
        done += (size_t)got;
    }
    return 0;
}

static int write_source(struct vti_sources *sources, struct vti_target *process, const char *name,
                        const char *text, size_t bytes)
{
    struct vti_source_seen seen = {.file = digest(name, strlen(name)),
                                   .text = digest(text, bytes),
                                   .process_plus_one = process->fact.process + 1};
    struct vti_source_fact fact = {
        .file = name, .file_len = strlen(name), .text = text, .text_len = bytes};

    if (!is_new(sources, &seen))
        return 0;
    if (sources->bytes + bytes > VTI_SOURCES_BYTES_MAX || !room_for_one(sources))
        return VTI_E_LIMIT;
    fact.process_plus_one = seen.process_plus_one;
    vti_recorder_source(process->recorder, &fact);
    sources->seen[sources->count++] = seen;
    sources->bytes += bytes;
    return 0;
}

int vti_sources_take(struct vti_sources *sources, struct vti_target *process, const char *name,
                     int fd, uint64_t bytes)
{
    int code = bytes > VTI_SOURCE_BYTES_MAX ? VTI_E_LIMIT : 0;
    char *text = code ? NULL : malloc((size_t)bytes + 1);

    if (!code)
        code = text ? read_all(fd, text, (size_t)bytes) : VTI_E_NOMEM;
    if (!code)
        code = write_source(sources, process, name, text, (size_t)bytes);
    free(text);
    if (code)
        state_lost(process);
    return code;
}

void vti_sources_free(struct vti_sources *sources)
{
    free(sources->seen);
    *sources = (struct vti_sources){0};
}
