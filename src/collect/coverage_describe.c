/*
 * coverage_describe.c - what the counters of a module mean, from what its compilers left in it.
 *
 * gcc leaves structs whose layout depends on its version, clang a function that says it. Not for any hot path; with
 * the collector's lock held.
 */
#include "collect/coverage_describe.h"

#include "collect/module.h"
#include "share/coverage.h"

#include <string.h>
#include <sys/mman.h>
#include <venturi/span.h>

struct object {
    const void *module; /* NULL: a place that is free */
    const void *description;
    vt_coverage_writer writer;
};

/* ---- lists -------------------------------------------------------------------------------------- */

void *vti_coverage_list_get(const struct vti_coverage_list *list, size_t item_bytes, size_t at)
{
    return list->items + at * item_bytes;
}

static bool grow(struct vti_coverage_list *list, size_t item_bytes)
{
    size_t room = list->room ? 2 * list->room : 64;
    char *items = mmap(NULL, room * item_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);

    if (items == MAP_FAILED)
        return false;
    if (list->items) {
        memcpy(items, list->items, list->count * item_bytes);
        munmap(list->items, list->room * item_bytes);
    }
    list->items = items;
    list->room = room;
    return true;
}

void *vti_coverage_list_add(struct vti_coverage_list *list, size_t item_bytes)
{
    for (size_t i = 0; i < list->count; i++) {
        void *item = vti_coverage_list_get(list, item_bytes, i);
        const void *first;

        memcpy(&first, item, sizeof first);
        if (!first)
            return item;
    }
    if (list->count == list->room && !grow(list, item_bytes))
        return NULL;
    return vti_coverage_list_get(list, item_bytes, list->count++);
}

void vti_coverage_remember(struct vti_coverage_list *objects, const void *module,
                           const void *description, vt_coverage_writer writer)
{
    struct object *object = vti_coverage_list_add(objects, sizeof *object);

    if (object)
        *object = (struct object){module, description, writer};
}

void vti_coverage_forget(struct vti_coverage_list *objects, const void *module)
{
    for (size_t i = 0; i < objects->count; i++) {
        struct object *object = vti_coverage_list_get(objects, sizeof *object, i);

        if (object->module == module)
            memset(object, 0, sizeof *object);
    }
}

/* ---- writing ------------------------------------------------------------------------------------ */

struct description {
    const struct vti_coverage_source *source;
    char *to;
    size_t room;
    size_t len;
    struct vti_coverage_head head;
    struct vti_coverage_object object; /* the one that is being described, … */
    size_t object_at;                  /* … where it belongs */
    struct vti_coverage_function function;
};

static struct description *current; /* what a writer of clang's adds to */

static void put(struct description *all, size_t at, const void *data, size_t bytes)
{
    if (at <= all->room && bytes <= all->room - at)
        memcpy(all->to + at, data, bytes);
}

static void add(struct description *all, const void *data, size_t bytes)
{
    put(all, all->len, data, bytes);
    all->len += VTI_COVERAGE_ALIGN(bytes);
}

static void begin_object(struct description *all, const char *path, uint32_t version,
                         uint32_t stamp)
{
    all->object = (struct vti_coverage_object){version, stamp, (uint32_t)strlen(path), 0};
    all->object_at = all->len;
    add(all, &all->object, sizeof all->object);
    add(all, path, all->object.path_len);
    all->head.object_count++;
}

static void add_function(struct description *all, uint32_t ident, uint32_t checksum, uint32_t count,
                         const uint64_t *counters)
{
    uintptr_t at = (uintptr_t)counters - (uintptr_t)all->source->start;
    const struct vti_coverage_function function = {ident, checksum, count, 0, at};

    if (at > all->source->bytes || count > (all->source->bytes - at) / sizeof *counters) {
        all->head.left_out++;
        return;
    }
    add(all, &function, sizeof function);
    all->object.function_count++;
    put(all, all->object_at, &all->object, sizeof all->object);
}

/* ---- clang -------------------------------------------------------------------------------------- */

VT_API void vt_coverage_file(const char *path, uint32_t version, uint32_t stamp)
{
    if (current)
        begin_object(current, path, version, stamp);
}

VT_API void vt_coverage_function(uint32_t ident, uint32_t checksum)
{
    if (current)
        current->function = (struct vti_coverage_function){.ident = ident, .checksum = checksum};
}

VT_API void vt_coverage_counters(uint32_t count, const uint64_t *counters)
{
    if (current)
        add_function(current, current->function.ident, current->function.checksum, count, counters);
}

/* ---- gcc ---------------------------------------------------------------------------------------- */

/* As gcc has it, from 10 on; the rest of it depends on the version. */
struct gcc_object {
    uint32_t version;
    const void *next;
    uint32_t stamp;
    uint32_t checksum;
    const char *path;
    const void *merges[]; /* then: struct gcc_functions */
};

struct gcc_functions {
    uint32_t count;
    const struct gcc_function *const *list;
};

struct gcc_function {
    const void *object; /* another one: the linker has chosen that one's copy */
    uint32_t ident;
    uint32_t line_checksum;
    uint32_t checksum;
    struct {
        uint32_t count;
        const uint64_t *counters;
    } arcs;
};

/* How many kinds of counters a version of gcc knows; 0: not known to us. Its number is "B22*" for 12.2. */
static unsigned kinds_of(uint32_t version)
{
    unsigned major = ((version >> 24) - 'A') * 10 + ((version >> 16) & 0xff) - '0';

    return major < 10 || major > 15 ? 0 : major < 14 ? 8 : major - 5;
}

static void describe_gcc(struct description *all, const struct gcc_object *object)
{
    unsigned kinds = kinds_of(object->version);
    struct gcc_functions functions = {0, NULL};

    begin_object(all, object->path, object->version, object->stamp);
    if (kinds)
        memcpy(&functions, object->merges + kinds, sizeof functions);
    for (uint32_t i = 0; i < functions.count; i++) {
        const struct gcc_function *function = functions.list[i];

        if (function && function->object == object)
            add_function(all, function->ident, function->checksum, function->arcs.count,
                         function->arcs.counters);
    }
}

size_t vti_coverage_describe(const struct vti_coverage_source *source, void *to, size_t room)
{
    struct description all = {.source = source, .to = to, .room = room};
    struct vti_module module;

    if (!vti_module_find(&module, (uintptr_t)source->start))
        memset(&module, 0, sizeof module);
    all.head = (struct vti_coverage_head){.magic = VTI_COVERAGE_MAGIC,
                                          .counters_at = room,
                                          .counters_bytes = source->bytes,
                                          .path_len = (uint32_t)strlen(module.path),
                                          .build_id_len = (uint32_t)strlen(module.build_id)};
    add(&all, &all.head, sizeof all.head);
    add(&all, module.path, all.head.path_len);
    add(&all, module.build_id, all.head.build_id_len);
    for (size_t i = 0; i < source->objects->count; i++) {
        const struct object *object = vti_coverage_list_get(source->objects, sizeof *object, i);

        if (object->module != source->module)
            continue;
        current = &all;
        if (object->description)
            describe_gcc(&all, object->description);
        else
            object->writer();
        current = NULL;
    }
    all.head.described_bytes = all.len;
    put(&all, 0, &all.head, sizeof all.head);
    return all.len;
}
