/*
 * demangle.c - C++ names as people write them, by whichever C++ runtime is there.
 */
#include "symbols/demangle.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangle_function)(const char *name, char *to, size_t *room, int *status);

static demangle_function find_demangler(void)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1"};

    for (unsigned i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        void *runtime = dlopen(runtimes[i], RTLD_NOW | RTLD_LOCAL);
        void *symbol = runtime ? dlsym(runtime, "__cxa_demangle") : NULL;

        if (symbol)
            return (demangle_function)(uintptr_t)symbol;
    }
    return NULL;
}

bool vti_demangle(const char *name, char *to, size_t room)
{
    static demangle_function demangle;
    static bool is_searched;
    char *text;
    int status;

    if (strncmp(name, "_Z", 2))
        return false;
    if (!is_searched)
        demangle = find_demangler();
    is_searched = true;
    text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (!text)
        return false;
    snprintf(to, room, "%s", text);
    free(text);
    return true;
}
