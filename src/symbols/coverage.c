/*
 * coverage.c - how often lines were executed, from the counters that programs have left and the notes beside
 * the objects. Neither is trusted.
 */
#include "symbols/coverage.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "share/coverage.h"
#include "symbols/answer.h"
#include "symbols/flow.h"
#include "symbols/landing.h"
#include "symbols/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_SUFFIX ".gcno"

/* The notes of one object, kept for the next process. */
struct notes_file {
    struct notes_file *next;
    char *path; /* owned */
    struct vti_mapping mapping;
    struct vti_notes notes;
    bool is_good;
    bool is_told; /* what is wrong with it */
};

/* A module with its names, kept likewise. */
struct named_module {
    struct named_module *next;
    const struct vti_symbols_module *of;
    struct vti_symbols_names *names; /* owned */
};

struct reading {
    struct vti_symbols_module **modules;
    struct notes_file *files;   /* owned */
    struct named_module *named; /* owned */
    uint64_t number;            /* of the counters that are being read, … */
    const uint8_t *counters;    /* … where they are … */
    uint64_t counters_bytes;
    const struct named_module *module; /* … and whose they are */
    struct vti_map *seen;              /* owned: files that were looked at */
};

/* ---- notes ---------------------------------------------------------------------------------------- */

static void say(struct notes_file *file, const struct reading *in, const char *what)
{
    if (!file->is_told)
        fprintf(stderr, "venturi: %s: %s (notes of %s): its lines are not counted\n", file->path,
                what, in->module->of->path);
    file->is_told = true;
}

static void free_notes(struct notes_file *file)
{
    if (file->is_good)
        vti_notes_close(&file->notes);
    vti_mapping_close(&file->mapping);
    free(file->path);
    free(file);
}

/* The notes lie where the counters would have been written to, under another ending. */
static struct notes_file *find_notes(struct reading *in, const char *data, size_t len)
{
    struct notes_file *file;
    const char *dot = memrchr(data, '.', len);
    char path[4096];

    snprintf(path, sizeof path, "%.*s" NOTES_SUFFIX, (int)(dot ? dot - data : (ptrdiff_t)len),
             data);
    for (file = in->files; file; file = file->next)
        if (!strcmp(file->path, path))
            return file;
    file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return NULL;
    }
    file->next = in->files;
    in->files = file;
    if (vti_mapping_open(&file->mapping, path))
        say(file, in, "cannot be read");
    else if (!(file->is_good = vti_notes_open(&file->notes, file->mapping.data,
                                              file->mapping.size)))
        say(file, in, "makes no sense");
    return file;
}

/* ---- functions ------------------------------------------------------------------------------------ */

static void copy_text(char *to, size_t room, struct vti_notes_text text)
{
    snprintf(to, room, "%.*s", (int)(text.len < room ? text.len : room - 1), text.data);
}

/* A file as the compiler was told of it. clang does not say from where: most often it is where the object is. */
static void set_file(struct vti_symbols_function *to, const struct notes_file *notes,
                     struct vti_notes_text text)
{
    char folder[VTI_SYMBOLS_TEXT];
    char file[VTI_SYMBOLS_TEXT];

    copy_text(file, sizeof file, text);
    copy_text(folder, sizeof folder, notes->notes.folder);
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s", notes->path);
        folder[strrchr(folder, '/') ? strrchr(folder, '/') - folder : 0] = 0;
    }
    vti_symbols_join(to->file, sizeof to->file, folder, file);
    if (!notes->notes.folder.len && access(to->file, R_OK))
        snprintf(to->file, sizeof to->file, "%s", file);
}

/* Without debug info: as the notes have it. */
static void name_by_notes(const struct notes_file *notes, const struct vti_notes_function *function,
                          const char *linked, struct vti_symbols_function *to)
{
    memset(to, 0, sizeof *to);
    set_file(to, notes, function->file);
    to->line = (int)function->line;
    vti_symbols_take_name(to, linked);
}

/* Once for each file. */
static void say_if_newer(struct reading *in, const char *file)
{
    struct stat of_file, of_module;
    int is_new = 0;

    if (!in->seen && vti_map_create(&in->seen))
        return;
    if (vti_map_add(in->seen, file, strlen(file), &is_new) < 0 || !is_new)
        return;
    if (!stat(file, &of_file) && !stat(in->module->of->path, &of_module) &&
        of_file.st_mtime > of_module.st_mtime)
        fprintf(stderr, "venturi: %s: changed since %s was made: lines may be others\n", file,
                in->module->of->path);
}

static void print_function(struct reading *in, uint64_t calls, uint32_t last,
                           const struct vti_symbols_function *function)
{
    printf("f\t%llu\t%llu\t%u\t", (unsigned long long)in->number, (unsigned long long)calls, last);
    vti_answer_print(function);
    say_if_newer(in, function->file);
}

/* The function that a line is shown for: code that was inlined before it was counted belongs to another one, and
 * what was included into the body of a function lies in another file. */
static void owner_of(const struct reading *in, const struct notes_file *notes,
                     const struct vti_notes_function *function, const struct vti_flow_line *line,
                     const struct vti_symbols_function *own, struct vti_symbols_function *to)
{
    *to = *own;
    if (vti_notes_text_is(line->file, function->file)) {
        if (line->line < function->line ||
            (function->last_line && line->line > function->last_line))
            vti_symbols_by_line(in->module->names, own->file, (int)line->line, to);
        return;
    }
    set_file(to, notes, line->file);
    if (!vti_symbols_by_line(in->module->names, to->file, (int)line->line, to))
        to->line = 1;
}

static uint32_t last_line(const struct vti_notes_function *function, const struct vti_flow *flow)
{
    uint32_t last = function->last_line;

    for (size_t i = 0; i < flow->line_count; i++)
        if (vti_notes_text_is(flow->lines[i].file, function->file) && flow->lines[i].line > last)
            last = function->last_line ? last : flow->lines[i].line;
    return last;
}

static void print_lines(struct reading *in, const struct notes_file *notes,
                        const struct vti_notes_function *function, const struct vti_flow *flow)
{
    struct vti_symbols_function own, shown, owner;
    char linked[VTI_SYMBOLS_TEXT];
    char file[VTI_SYMBOLS_TEXT];

    copy_text(linked, sizeof linked, function->name);
    copy_text(file, sizeof file, function->file);
    if (!vti_symbols_by_name(in->module->names, linked, file, (int)function->line, &own))
        name_by_notes(notes, function, linked, &own);
    print_function(in, flow->calls, last_line(function, flow), &own);
    shown = own;
    for (size_t i = 0; i < flow->line_count; i++) {
        if (!flow->lines[i].hits)
            continue;
        owner_of(in, notes, function, &flow->lines[i], &own, &owner);
        if (strcmp(owner.name, shown.name) || strcmp(owner.file, shown.file) ||
            owner.line != shown.line) {
            print_function(in, 0, 0, &owner);
            shown = owner;
        }
        printf("l\t%u\t%llu\n", flow->lines[i].line, (unsigned long long)flow->lines[i].hits);
    }
}

static bool is_zero(const uint64_t *counters, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (counters[i])
            return false;
    return true;
}

static void read_function(struct reading *in, struct notes_file *file,
                          const struct vti_coverage_function *said)
{
    const struct vti_notes_function *function = vti_notes_find(&file->notes, said->ident);
    const uint64_t *counters = (const uint64_t *)(in->counters + said->at);
    struct vti_symbols_function place = {.name = ""};
    struct vti_notes_graph graph;
    struct vti_flow flow;

    if (is_zero(counters, said->count) || (function && function->is_made))
        return;
    if (!function || function->checksum != said->checksum ||
        !vti_notes_graph(&file->notes, function, &graph)) {
        say(file, in, "does not fit");
        return;
    }
    if (file->notes.version < 80) {
        set_file(&place, file, function->file);
        vti_landings_drop(&graph, function->file, place.file);
    }
    if (vti_flow_solve(&flow, &graph, counters, said->count, file->notes.version >= 80))
        print_lines(in, file, function, &flow);
    else
        say(file, in, "has another number of counters");
    vti_flow_free(&flow);
    vti_notes_graph_free(&graph);
}

/* ---- counters ------------------------------------------------------------------------------------- */

static const uint8_t *take(struct vti_reader *in, uint64_t bytes)
{
    uint64_t aligned = VTI_COVERAGE_ALIGN(bytes);

    return vti_reader_bytes(in, aligned < bytes ? SIZE_MAX : (size_t)aligned);
}

static void read_object(struct reading *in, struct vti_reader *from)
{
    const uint8_t *head = take(from, sizeof(struct vti_coverage_object));
    struct vti_coverage_object object = {0};
    struct notes_file *file;
    const uint8_t *path;

    if (head)
        memcpy(&object, head, sizeof object);
    path = take(from, object.path_len);
    file = path && head ? find_notes(in, (const char *)path, object.path_len) : NULL;
    if (file && file->is_good && file->notes.stamp != object.stamp)
        say(file, in, "is of another build, or of another source of that name");
    for (uint32_t i = 0; i < object.function_count && !from->failed; i++) {
        const uint8_t *at = take(from, sizeof(struct vti_coverage_function));
        struct vti_coverage_function function;

        if (!at)
            return;
        memcpy(&function, at, sizeof function);
        if (file && file->is_good && file->notes.stamp == object.stamp && function.at % 8 == 0 &&
            function.at <= in->counters_bytes &&
            function.count <= (in->counters_bytes - function.at) / 8)
            read_function(in, file, &function);
    }
}

static const struct named_module *find_module(struct reading *in, const uint8_t *path,
                                              size_t path_len, const uint8_t *id, size_t id_len)
{
    char texts[2][4096];
    struct named_module *one;
    const struct vti_symbols_module *of;

    copy_text(texts[0], sizeof texts[0], (struct vti_notes_text){(const char *)path, path_len});
    copy_text(texts[1], sizeof texts[1], (struct vti_notes_text){(const char *)id, id_len});
    of = vti_symbols_open(in->modules, texts[0], texts[1]);
    for (one = in->named; one; one = one->next)
        if (one->of == of)
            return one;
    one = of ? calloc(1, sizeof *one) : NULL;
    if (!one)
        return NULL;
    one->of = of;
    one->names = vti_symbols_names_open(of);
    one->next = in->named;
    in->named = one;
    return one->names ? one : NULL;
}

static void read_counters(struct reading *in, const uint8_t *data, size_t size)
{
    struct vti_coverage_head head;
    struct vti_reader from;
    const uint8_t *path, *id;

    if (size < sizeof head)
        return;
    memcpy(&head, data, sizeof head);
    if (head.magic != VTI_COVERAGE_MAGIC || head.described_bytes > size ||
        head.counters_at > size || head.counters_at % 8 ||
        head.counters_bytes > size - head.counters_at)
        return;
    vti_reader_init(&from, data, (size_t)head.described_bytes);
    take(&from, sizeof head);
    path = take(&from, head.path_len);
    id = take(&from, head.build_id_len);
    in->counters = data + head.counters_at;
    in->counters_bytes = head.counters_bytes;
    in->module = path && id ? find_module(in, path, head.path_len, id, head.build_id_len) : NULL;
    if (!in->module)
        return;
    if (head.left_out)
        fprintf(stderr,
                "venturi: %s: %u functions have counters that `venturi cc -l` did not make\n",
                in->module->of->path, head.left_out);
    for (uint32_t i = 0; i < head.object_count && !from.failed; i++)
        read_object(in, &from);
}

static void free_all(struct reading *in)
{
    while (in->files) {
        struct notes_file *file = in->files;

        in->files = file->next;
        free_notes(file);
    }
    vti_map_free(in->seen);
    while (in->named) {
        struct named_module *one = in->named;

        in->named = one->next;
        vti_symbols_names_close(one->names);
        free(one);
    }
}

void vti_coverage_print(struct vti_symbols_module **modules, int fd)
{
    struct reading in = {.modules = modules};
    struct stat st;
    const uint8_t *data;
    size_t size, at = 0;

    if (fstat(fd, &st) || st.st_size < 16)
        return;
    size = (size_t)st.st_size;
    data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return;
    while (size - at >= 16) {
        uint64_t bytes = vti_get_u64(data + at + 8);

        in.number = vti_get_u64(data + at);
        at += 16;
        if (bytes > size - at || bytes % 8)
            break;
        read_counters(&in, data + at, (size_t)bytes);
        at += (size_t)bytes;
    }
    free_all(&in);
    munmap((void *)(uintptr_t)data, size);
}
