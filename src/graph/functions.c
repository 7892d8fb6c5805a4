/*
 * functions.c - functions by name, and names by function. What was registered or found once stays; libraries are never unloaded.
 */
#include "graph/functions.h"

#include "base/error.h"
#include "base/hash.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_MOST 4096
#define SEPARATOR ':'

struct entry {
    char *name;
    vt_function *function;
};

static struct {
    pthread_mutex_t lock;
    struct vti_map *by_name, *by_function;
    struct entry *entries; /* by the number in by_name */
    size_t count, room;
    uint32_t *names; /* by the number in by_function: an entry */
    size_t function_room;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void)
{
    pthread_mutex_lock(&known.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&known.lock);
}

/* A worker that is forked while another thread looks one up must still be able to. */
__attribute__((constructor)) static void survive_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static void *grown(void *array, size_t *room, size_t count, size_t size)
{
    size_t more = *room ? *room * 2 : 32;
    void *bigger;

    if (count < *room)
        return array;
    bigger = realloc(array, more * size);
    if (bigger != NULL)
        *room = more;
    return bigger;
}

static int make_room(void)
{
    struct entry *entries;
    uint32_t *names;

    if ((known.by_name == NULL && vti_map_create(&known.by_name) != 0) ||
        (known.by_function == NULL && vti_map_create(&known.by_function) != 0))
        return VTI_E_NOMEM;
    entries = grown(known.entries, &known.room, known.count, sizeof *entries);
    if (entries != NULL)
        known.entries = entries;
    names = grown(known.names, &known.function_room, known.count, sizeof *names);
    if (names != NULL)
        known.names = names;
    return entries != NULL && names != NULL ? 0 : VTI_E_NOMEM;
}

/* With the lock. A name means one function for good; a function is known by the first of its names. */
static int add(const char *name, vt_function *function)
{
    char *copy = strdup(name);
    int64_t index = -1, place = -1;
    int is_new = 0, result = VTI_E_NOMEM;

    if (copy == NULL || make_room() != 0)
        goto out;
    index = vti_map_add(known.by_name, name, strlen(name), &is_new);
    if (index < 0)
        goto out;
    if (!is_new) {
        result = known.entries[index].function == function
                     ? 0
                     : vti_fail(VTI_E_EXISTS, "function '%s' is another one already", name);
        goto out;
    }
    known.entries[index] = (struct entry){copy, function};
    known.count = (size_t)index + 1;
    copy = NULL;
    place = vti_map_add(known.by_function, &function, sizeof function, &is_new);
    if (place >= 0 && is_new)
        known.names[place] = (uint32_t)index;
    result = 0;
out:
    free(copy);
    return result;
}

int vt_function_register(const char *name, vt_function *function)
{
    int result;

    if (name == NULL || !*name || strnlen(name, NAME_MOST) == NAME_MOST || function == NULL)
        return vti_fail(VTI_E_USAGE, "a function's name has 1 to %d bytes", NAME_MOST - 1);
    pthread_mutex_lock(&known.lock);
    result = add(name, function);
    pthread_mutex_unlock(&known.lock);
    return result;
}

static vt_function *look_up(const char *name, size_t len)
{
    int64_t index = known.by_name ? vti_map_find(known.by_name, name, len) : -1;

    return index < 0 ? NULL : known.entries[index].function;
}

/* "path/libX.so:function". A path must be that of a file: opening a pipe would wait for ever. */
static vt_function *load(const char *name)
{
    char library[NAME_MOST];
    const char *colon = strrchr(name, SEPARATOR);
    size_t len = colon ? (size_t)(colon - name) : 0;
    struct stat about;
    vt_function *function = NULL;
    void *handle, *symbol;

    if (!len || !colon[1])
        return NULL;
    memcpy(library, name, len);
    library[len] = 0;
    if (strstr(library, ".so") == NULL)
        return NULL;
    if (strchr(library, '/') != NULL && (stat(library, &about) != 0 || !S_ISREG(about.st_mode)))
        return NULL;
    handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    symbol = handle ? dlsym(handle, colon + 1) : NULL;
    memcpy(&function, &symbol, sizeof function);
    if (function == NULL && handle != NULL)
        dlclose(handle);
    return function;
}

vt_function *vt_function_find(const char *name)
{
    size_t len = name ? strnlen(name, NAME_MOST) : 0;
    vt_function *function;

    if (!len || len == NAME_MOST)
        return NULL;
    pthread_mutex_lock(&known.lock);
    function = look_up(name, len);
    pthread_mutex_unlock(&known.lock);
    if (function != NULL)
        return function;
    /* Not under the lock: a library may register functions when it is loaded. */
    function = load(name);
    if (function != NULL) {
        pthread_mutex_lock(&known.lock);
        if (add(name, function) != 0)
            function = look_up(name, len);
        pthread_mutex_unlock(&known.lock);
        return function;
    }
    return NULL;
}

const char *vti_function_name(vt_function *function)
{
    const char *name = NULL;
    int64_t place;

    pthread_mutex_lock(&known.lock);
    place = known.by_function ? vti_map_find(known.by_function, &function, sizeof function) : -1;
    if (place >= 0)
        name = known.entries[known.names[place]].name;
    pthread_mutex_unlock(&known.lock);
    return name;
}
