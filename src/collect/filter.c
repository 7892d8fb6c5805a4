/*
 * filter.c - which functions are not recorded.
 *
 * A pattern is tried on the function's symbol, where the module's file has one, and on the module's name and
 * path. Where a stripped module has no symbols, patterns for functions find nothing there.
 */
#include "collect/filter.h"

#include "collect/glob.h"
#include "collect/symtab.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN __attribute__((no_instrument_function))

static const char *include;
static const char *exclude;
static bool only_mine;

static const char *const not_mine[] = {"/usr/", "/lib/", "/lib32/", "/lib64/", "/bin/", "/sbin/"};
static const char *const packages[] = {"/site-packages/", "/dist-packages/"};

__attribute__((constructor)) PLAIN static void read_environment(void)
{
    const char *mine = secure_getenv("VENTURI_ONLY_MINE");

    include = secure_getenv("VENTURI_INCLUDE");
    exclude = secure_getenv("VENTURI_EXCLUDE");
    if (include && !*include)
        include = NULL;
    if (exclude && !*exclude)
        exclude = NULL;
    only_mine = mine && *mine && strcmp(mine, "0") != 0;
}

/* The program itself is always mine, wherever it is installed. */
PLAIN static bool is_mine(const struct vti_module *module)
{
    if (module->is_program)
        return true;
    for (unsigned i = 0; i < sizeof not_mine / sizeof *not_mine; i++)
        if (!strncmp(module->path, not_mine[i], strlen(not_mine[i])))
            return false;
    for (unsigned i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strstr(module->path, packages[i]))
            return false;
    return true;
}

/* Whether one of the patterns, with colons between them, fits one of the texts. */
PLAIN static bool fits(const char *patterns, const char *const *texts, unsigned count)
{
    for (;;) {
        size_t len = strcspn(patterns, ":");

        for (unsigned i = 0; i < count; i++)
            if (vti_glob_fits(patterns, len, texts[i]))
                return true;
        if (!patterns[len])
            return false;
        patterns += len + 1;
    }
}

PLAIN bool vti_filter_allows(const struct vti_module *module, uintptr_t address)
{
    const char *slash = strrchr(module->path, '/');
    const char *texts[3] = {module->path, slash ? slash + 1 : module->path, NULL};
    char name[VTI_SYMBOL_BYTES];
    unsigned count = 2;

    if (only_mine && !is_mine(module))
        return false;
    if (!include && !exclude)
        return true;
    if (vti_symtab_name(module, address, name, sizeof name))
        texts[count++] = name;
    if (exclude && fits(exclude, texts, count))
        return false;
    return !include || fits(include, texts, count);
}
