/*
 * functions.c - calls of functions that were compiled with -finstrument-functions.
 *
 * The compiler calls the two hooks at the beginning and the end of each function. Their usual way is a look into a
 * table from address to id, then vt_call_…_at(). Only the first call of a function does more: it
 * finds the module, asks the filters, and registers the function under "module+0xoffset"; its name
 * is found after the run. No malloc, no lock, no call into libc on the usual way.
 */
#include "collect/functions.h"

#include "collect/filter.h"
#include "collect/frame.h"
#include "collect/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <venturi/hook.h>
#include <venturi/span.h>

#define PLAIN __attribute__((no_instrument_function))
#define SLOW __attribute__((no_instrument_function, noinline, cold))
#define likely(x) __builtin_expect(!!(x), 1)

#define TABLE_ENTRIES (1u << 19)
#define TABLE_MOST (TABLE_ENTRIES / 4 * 3)
#define EXCLUDED 0u

/*
 * Open addressing; entries are only ever added, and what is known about one is replaced by one
 * store. The value is generation << 32 | id: ids of another generation have to be looked at again,
 * because a module was unloaded since and its addresses may belong to another one now. Never freed,
 * never locked: a fork, a signal or a kill finds it whole.
 */
struct entry {
    uint64_t key;
    uint64_t value;
};

static struct entry by_address[TABLE_ENTRIES];
static struct entry by_offset[TABLE_ENTRIES]; /* key: module and offset; these ids stay valid */
static uint32_t address_count, offset_count;

/* Even: as many modules as half of it had been unloaded when ids were looked up. Odd: one is being
 * unloaded, nothing that is found now can be relied on later. */
static uint32_t generation = 2;
static uint32_t closing;                   /* dlclose calls under way */
static uint32_t ticket;                    /* makes odd ones different from each other */
static unsigned long long unloaded_before; /* modules, when the generation became odd */

static bool is_calibrated;
static __thread bool is_busy __attribute__((tls_model("initial-exec")));

/* Functions lie close together: so do their entries. */
PLAIN static inline uint32_t place_of(uint64_t key)
{
    return (uint32_t)(key >> 4) & (TABLE_ENTRIES - 1);
}

/* The entry of a key, or the free one where it belongs. The table is never full. */
PLAIN static struct entry *find(struct entry *table, uint64_t key)
{
    uint32_t at = place_of(key);

    for (;; at = (at + 1) & (TABLE_ENTRIES - 1)) {
        uint64_t other = __atomic_load_n(&table[at].key, __ATOMIC_ACQUIRE);

        if (!other || other == key)
            return &table[at];
    }
}

/* The same, taken for the key if it was free; NULL if there are too many. */
PLAIN static struct entry *take(struct entry *table, uint32_t *count, uint64_t key)
{
    for (;;) {
        struct entry *entry = find(table, key);
        uint64_t other = __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE);

        if (other == key)
            return entry;
        if (other)
            continue;
        if (__atomic_load_n(count, __ATOMIC_RELAXED) >= TABLE_MOST)
            return NULL;
        if (__atomic_compare_exchange_n(&entry->key, &other, key, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
            return entry;
        }
    }
}

/* ---- a function is seen for the first time ----------------------------------------------------- */

PLAIN static uint32_t register_function(const struct vti_module *module, uintptr_t address)
{
    const char *slash = strrchr(module->path, '/');
    char name[VTI_MODULE_PATH + 24];
    const struct vt_function function = {name, module->build_id, module->path, 0, VT_LANGUAGE_C};

    snprintf(name, sizeof name, "%s+0x%lx", slash ? slash + 1 : module->path,
             (unsigned long)(address - module->base));
    return vt_function_id(&function);
}

PLAIN static uint64_t offset_key(const struct vti_module *module, uintptr_t offset)
{
    return (module->identity ^ offset * 0x9e3779b97f4a7c15u) | 1; /* never zero, which is free */
}

/* The id of a function; false if nobody records. */
PLAIN static bool identify(uintptr_t address, uint32_t *id)
{
    struct vti_module module;
    struct entry *entry;
    uint64_t value;
    uint64_t known = 0;

    if (!vti_module_find(&module, address))
        memset(&module, 0, sizeof module);
    if (!vti_filter_allows(&module, address)) {
        *id = EXCLUDED;
        return true;
    }
    entry = take(by_offset, &offset_count, offset_key(&module, address - module.base));
    value = entry ? __atomic_load_n(&entry->value, __ATOMIC_ACQUIRE) : 0;
    if (!value) {
        value = register_function(&module, address);
        if (value && entry &&
            !__atomic_compare_exchange_n(&entry->value, &known, value, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            value = known; /* another thread was quicker: one function, one id */
    }
    *id = (uint32_t)value;
    return value != 0;
}

/* Before the first trace point only the control word knows, in a program that profiles itself only the clock. */
PLAIN static bool is_recording(void)
{
    return __atomic_load_n(__atomic_load_n(&vt_control_word, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED) ||
           vt_ticks();
}

PLAIN static void remember(uintptr_t address, uint32_t now, uint32_t id)
{
    struct entry *entry = take(by_address, &address_count, address);

    if (entry)
        __atomic_store_n(&entry->value, (uint64_t)now << 32 | id, __ATOMIC_RELEASE);
}

PLAIN void vti_functions_adopt(uintptr_t address, uint32_t id)
{
    remember(address, __atomic_load_n(&generation, __ATOMIC_ACQUIRE), id);
}

/* Seen for the first time, or since a module was unloaded. With signals blocked: a handler's functions would find
 * us busy, and be missing. */
SLOW static uint32_t learn(uintptr_t address, uint32_t now)
{
    int saved_errno = errno;
    uint32_t id = EXCLUDED;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_busy = true;
    if (identify(address, &id) && now % 2 == 0) {
        remember(address, now, id);
        if (!__atomic_exchange_n(&is_calibrated, true, __ATOMIC_RELAXED))
            vti_functions_calibrate();
    }
    is_busy = false;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved_errno;
    return id;
}

PLAIN static void settle(uint32_t odd, unsigned long long unloaded)
{
    __atomic_compare_exchange_n(&generation, &odd, (uint32_t)(2 * unloaded + 2), false,
                                __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* A module has told that it is being unloaded; whether that is done only the loader knows, which unloads one
 * at a time. */
SLOW static uint32_t settled_generation(uint32_t odd)
{
    unsigned long long unloaded = vti_modules_unloaded();

    if (__atomic_load_n(&closing, __ATOMIC_SEQ_CST) == 0 && unloaded != unloaded_before)
        settle(odd, unloaded);
    return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

PLAIN __attribute__((noinline)) static uint32_t look_up(uintptr_t address, bool is_new)
{
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    const struct entry *entry = find(by_address, address);
    uint64_t value = __atomic_load_n(&entry->value, __ATOMIC_ACQUIRE);

    if (now % 2)
        now = settled_generation(now);
    if (__atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) != address)
        value = 0;
    if (value >> 32 == now)
        return (uint32_t)value;
    /* Busy: the program has instrumented a function that we use ourselves. */
    if ((!is_new && !value) || !is_recording() || is_busy)
        return EXCLUDED;
    return learn(address, now);
}

PLAIN static inline bool is_off(void)
{
    const uint32_t *word = __atomic_load_n(&vt_control_word, __ATOMIC_ACQUIRE);

    return !(__atomic_load_n(word, __ATOMIC_RELAXED) |
             __atomic_load_n(&vt_local_word, __ATOMIC_RELAXED));
}

PLAIN static inline uint32_t id_of(const void *function, bool is_new)
{
    uintptr_t address = (uintptr_t)function;
    const struct entry *entry = &by_address[place_of(address)];
    uint64_t value = __atomic_load_n(&entry->value, __ATOMIC_RELAXED);

    if (likely(__atomic_load_n(&entry->key, __ATOMIC_RELAXED) == address &&
               value >> 32 == __atomic_load_n(&generation, __ATOMIC_RELAXED)))
        return (uint32_t)value;
    /* What a program costs that nobody records: it gets no further. */
    return is_off() ? EXCLUDED : look_up(address, is_new);
}

/* ---- the hooks ---------------------------------------------------------------------------------- */

#pragma GCC diagnostic ignored "-Wframe-address" /* frame.h does not trust it */

PLAIN VT_API void vt_functions_enter(void *function, void *caller)
{
    uint32_t id = id_of(function, true);
    uintptr_t own = (uintptr_t)__builtin_dwarf_cfa();
    uintptr_t pointer = (uintptr_t)__builtin_frame_address(1);
    uintptr_t place = (uintptr_t)__builtin_return_address(0);

    if (id != EXCLUDED)
        vt_call_enter_at(id, vti_frame_find((uintptr_t)caller, own, pointer),
                         (uint32_t)(uintptr_t)caller << 16 | (uint16_t)place);
}

/* A function that is called from here has its frame at ours or below, the one that we were called from above it, unless it
 * has left the hook to return in its place. */
PLAIN VT_API void vt_functions_exit(void *function, void *caller)
{
    uint32_t id = id_of(function, false);
    uintptr_t own = (uintptr_t)__builtin_dwarf_cfa();

    if (id != EXCLUDED)
        vt_call_leave_at(id, own + (__builtin_return_address(0) != caller));
}

/* For whoever was not linked by `venturi cc`. */
PLAIN VT_API void __cyg_profile_func_enter(void *function, void *caller)
    __attribute__((alias("vt_functions_enter")));
PLAIN VT_API void __cyg_profile_func_exit(void *function, void *caller)
    __attribute__((alias("vt_functions_exit")));

/* ---- modules are unloaded ----------------------------------------------------------------------- */

static int (*next_dlclose)(void *);

__attribute__((constructor)) PLAIN static void find_dlclose(void)
{
    next_dlclose = (int (*)(void *))(uintptr_t)dlsym(RTLD_NEXT, "dlclose");
}

PLAIN VT_API void vt_functions_unload(void)
{
    uint32_t number = __atomic_fetch_add(&ticket, 1, __ATOMIC_SEQ_CST);

    unloaded_before = vti_modules_unloaded();
    __atomic_store_n(&generation, 2 * number + 1, __ATOMIC_SEQ_CST);
}

/* In front of libc's: another module may come to lie where this one was, with no sign of it. Modules
 * that were not linked by `venturi cc` do not tell by themselves. */
PLAIN VT_API int dlclose(void *handle)
{
    uint32_t odd;
    int code;

    if (!next_dlclose)
        find_dlclose();
    __atomic_fetch_add(&closing, 1, __ATOMIC_SEQ_CST);
    vt_functions_unload();
    code = next_dlclose(handle);
    odd = __atomic_load_n(&generation, __ATOMIC_SEQ_CST);
    /* The last of several settles it, unless one more has begun meanwhile. */
    if (__atomic_sub_fetch(&closing, 1, __ATOMIC_SEQ_CST) == 0)
        settle(odd, vti_modules_unloaded());
    return code;
}
