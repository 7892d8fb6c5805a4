/*
 * spot.c - what is known about a place in the code, in a table that samples on all threads share.
 *
 * Entries are only added. One that is half written when a thread is killed or its process forked stays
 * so, and what it would say is worked out again each time.
 */
#include "collect/spot.h"

#include "collect/module.h"
#include "collect/symtab.h"

#include <stdio.h>
#include <string.h>
#include <venturi/hook.h>

#define ENTRIES (1u << 16)
#define ENTRIES_MOST (ENTRIES / 4 * 3)
#define PC_BITS 48
#define PYTHON_LOOP "_PyEval_EvalFrameDefault"
#define FUNCTION_ALIGN 16
#define UNKNOWN_GRAIN 15u /* without a description of functions: as good as one for each 16 bytes */

struct entry {
    uint64_t key;
    uint32_t is_ready;
    struct vti_spot spot;
};

/* Modules with lines that are counted; more are not sampled by line. */
#define LINE_MODULES_MOST 256
static const void *line_modules[LINE_MODULES_MOST];
static uint32_t line_module_count;

struct table {
    uint32_t count;
    struct entry entries[ENTRIES];
};

static struct table places;    /* by address and generation */
static struct table functions; /* by module and offset: these stay right */
static uint64_t generation;
static uintptr_t python_loop;
static const void *python_module;

static struct entry *find(struct table *table, uint64_t key)
{
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) & (ENTRIES - 1);

    for (;; at = (at + 1) & (ENTRIES - 1)) {
        uint64_t other = __atomic_load_n(&table->entries[at].key, __ATOMIC_ACQUIRE);

        if (!other || other == key)
            return &table->entries[at];
    }
}

/* The entry of a key, taken for it if it was free; NULL if there are too many. */
static struct entry *take(struct table *table, uint64_t key)
{
    for (;;) {
        struct entry *entry = find(table, key);
        uint64_t other = __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE);

        if (other == key)
            return entry;
        if (other)
            continue;
        if (__atomic_load_n(&table->count, __ATOMIC_RELAXED) >= ENTRIES_MOST)
            return NULL;
        if (__atomic_compare_exchange_n(&entry->key, &other, key, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            __atomic_fetch_add(&table->count, 1, __ATOMIC_RELAXED);
            return entry;
        }
    }
}

static bool is_known(const struct entry *entry, uint64_t key)
{
    return __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key &&
           __atomic_load_n(&entry->is_ready, __ATOMIC_ACQUIRE);
}

static void keep(struct table *table, uint64_t key, const struct vti_spot *spot)
{
    struct entry *entry = take(table, key);

    if (!entry || __atomic_load_n(&entry->is_ready, __ATOMIC_ACQUIRE))
        return;
    entry->spot = *spot;
    __atomic_store_n(&entry->is_ready, 1, __ATOMIC_RELEASE);
}

/* ---- modules with lines ------------------------------------------------------------------------- */

static bool has_lines(const void *module)
{
    for (unsigned i = 0; i < LINE_MODULES_MOST; i++)
        if (__atomic_load_n(&line_modules[i], __ATOMIC_RELAXED) == module)
            return true;
    return false;
}

bool vti_spots_have_lines(void)
{
    return __atomic_load_n(&line_module_count, __ATOMIC_RELAXED) != 0;
}

/* Called with the loader's lock held, by constructors and destructors: one at a time. */
static void replace(const void *address, bool is_added)
{
    struct dl_find_object found;
    const void *before = NULL;
    const void *after;

    if (_dl_find_object((void *)(uintptr_t)address, &found))
        return;
    after = found.dlfo_link_map;
    if (!is_added) {
        before = after;
        after = NULL;
    }
    for (unsigned i = 0; i < LINE_MODULES_MOST; i++) {
        if (line_modules[i] != before)
            continue;
        __atomic_store_n(&line_modules[i], after, __ATOMIC_RELAXED);
        __atomic_fetch_add(&line_module_count, is_added ? 1 : -1, __ATOMIC_RELAXED);
        break;
    }
    vti_spots_forget();
}

void vti_spots_add_lines(const void *address)
{
    replace(address, true);
}

void vti_spots_drop_lines(const void *address)
{
    replace(address, false);
}

/* ---- functions ---------------------------------------------------------------------------------- */

static uint32_t flags_of(const struct vti_module *module, const struct dl_find_object *found,
                         uintptr_t start)
{
    const char *slash = strrchr(module->path, '/');
    const char *name = slash ? slash + 1 : module->path;
    char symbol[VTI_SYMBOL_BYTES];

    if (!strncmp(name, "libventuri-sample.", 18))
        return VTI_SPOT_CODE | VTI_SPOT_WRAPPER;
    if (!strncmp(name, "libventuri", 10) || !strncmp(name, "_venturi.", 9))
        return VTI_SPOT_CODE | VTI_SPOT_OURS;
    if (!python_module || found->dlfo_link_map != python_module)
        return VTI_SPOT_CODE;
    /* The part of the loop that is seldom run lies elsewhere, as "…Default.cold". Such parts are not aligned as
     * functions are: only for them it is worth 100 microseconds to read the file's symbols. */
    if (start == python_loop ||
        (start % FUNCTION_ALIGN && vti_symtab_name(module, start, symbol, sizeof symbol) &&
         !strncmp(symbol, PYTHON_LOOP, sizeof PYTHON_LOOP - 1)))
        return VTI_SPOT_CODE | VTI_SPOT_PYTHON;
    return VTI_SPOT_CODE;
}

static uint32_t register_function(const struct vti_module *module, uintptr_t offset)
{
    const char *slash = strrchr(module->path, '/');
    char name[VTI_MODULE_PATH + 24];
    const struct vt_function function = {name, module->build_id, module->path, 0, VT_LANGUAGE_C};

    snprintf(name, sizeof name, "%s+0x%lx", slash ? slash + 1 : module->path,
             (unsigned long)offset);
    return vt_function_id(&function);
}

static void identify(struct vti_spot *spot, const struct dl_find_object *found, uintptr_t start)
{
    struct vti_module module;
    const struct entry *entry;
    uint64_t key;

    if (!vti_module_of(&module, found, start)) {
        spot->flags = 0;
        return;
    }
    key = (module.identity ^ (start - module.base) * 0x9e3779b97f4a7c15u) | 1;
    entry = find(&functions, key);
    if (is_known(entry, key)) {
        spot->function = entry->spot.function;
        spot->flags = entry->spot.flags;
        return;
    }
    spot->flags = flags_of(&module, found, start);
    spot->function = register_function(&module, start - module.base);
    if (spot->function)
        keep(&functions, key, spot);
}

/* Code that was made at run time: one function for all of it. */
static uint32_t foreign_function(void)
{
    static const struct vt_function function = {"(code in no file)", "", "", 0, VT_LANGUAGE_C};
    static uint32_t id;

    if (!__atomic_load_n(&id, __ATOMIC_RELAXED))
        __atomic_store_n(&id, vt_function_id(&function), __ATOMIC_RELAXED);
    return id;
}

/* ---- places ------------------------------------------------------------------------------------- */

static void look_at(struct vti_spot *spot, uintptr_t pc)
{
    struct vti_cfi_function function;
    struct dl_find_object found;

    memset(spot, 0, sizeof *spot);
    if (_dl_find_object((void *)pc, &found)) {
        spot->function = foreign_function();
        return;
    }
    function = vti_cfi_find(&found, pc);
    if (function.fde)
        spot->row = vti_cfi_row(&found, &function, pc);
    if (spot->row.type == VTI_ROW_NONE)
        function.start = pc & ~(uintptr_t)UNKNOWN_GRAIN;
    identify(spot, &found, function.start);
    spot->offset = (uint32_t)(pc - function.start);
    if (spot->flags == VTI_SPOT_CODE && vti_spots_have_lines() && has_lines(found.dlfo_link_map))
        spot->flags |= VTI_SPOT_LINES;
}

void vti_spot_find(struct vti_spot *spot, uintptr_t pc)
{
    uint64_t key = __atomic_load_n(&generation, __ATOMIC_ACQUIRE) << PC_BITS ^ pc;
    const struct entry *entry = find(&places, key);

    if (is_known(entry, key)) {
        *spot = entry->spot;
        return;
    }
    look_at(spot, pc);
    if (spot->function && spot->flags & VTI_SPOT_CODE)
        keep(&places, key, spot);
}

void vti_spots_forget(void)
{
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

void vti_spots_init(void)
{
    struct dl_find_object found;

    python_loop = (uintptr_t)dlsym(RTLD_DEFAULT, PYTHON_LOOP);
    if (python_loop && !_dl_find_object((void *)python_loop, &found))
        python_module = found.dlfo_link_map;
}
