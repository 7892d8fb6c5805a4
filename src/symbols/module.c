/*
 * module.c - finds the file of a module and its debug info, and checks that it is the recorded one.
 *
 * Debug info may be in the file, beside it (.gnu_debuglink), or in /usr/lib/debug, by path or by build id.
 * If the file is gone or another one by now, the separate debug info of the recorded build id still fits.
 */
#include "symbols/module.h"

#include "symbols/units.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILD_ID_BYTES 32

static char *debug_path = NULL; /* libdwfl's own: beside the file, .debug/, /usr/lib/debug */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

static bool has_build_id(Dwfl_Module *module, const char *recorded)
{
    const unsigned char *bits;
    GElf_Addr address;
    char text[2 * BUILD_ID_BYTES + 1] = "";
    int bytes = dwfl_module_build_id(module, &bits, &address);

    for (int i = 0; i < bytes && i < BUILD_ID_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", bits[i]);
    return !strcmp(text, recorded);
}

static void close_file(struct vti_symbols_module *of)
{
    vti_units_free(of);
    if (of->dwfl)
        dwfl_end(of->dwfl);
    of->dwfl = NULL;
    of->module = NULL;
}

/* Opens a file as this module; false if it is none, or another one. */
static bool open_file(struct vti_symbols_module *of, const char *path)
{
    of->dwfl = dwfl_begin(&callbacks);
    if (!of->dwfl)
        return false;
    dwfl_report_begin(of->dwfl);
    of->module = dwfl_report_offline(of->dwfl, path, path, -1);
    dwfl_report_end(of->dwfl, NULL, NULL);
    if (of->module && dwfl_module_getelf(of->module, &of->bias) &&
        has_build_id(of->module, of->build_id))
        return true;
    close_file(of);
    return false;
}

static bool open_debug_file(struct vti_symbols_module *of)
{
    char path[256];

    if (strlen(of->build_id) < 4)
        return false;
    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%.100s.debug", of->build_id,
             of->build_id + 2);
    return access(path, R_OK) == 0 && open_file(of, path);
}

static bool has_symbol_table(const struct vti_symbols_module *of)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(of->module, &bias);
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while (elf && (section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            return true;
    return false;
}

static const char *find_missing(const struct vti_symbols_module *of)
{
    GElf_Addr bias;

    if (dwfl_module_getdwarf(of->module, &bias))
        return NULL;
    if (has_symbol_table(of))
        return "no debug info: functions without lines (compile with -g)";
    return "stripped, no debug info: functions that it does not export stay addresses";
}

/* Code that the kernel brings with it: nobody can do anything about what is missing there. */
static bool is_of_the_kernel(const char *path)
{
    return !strncmp(path, "linux-vdso", 10) || !strncmp(path, "linux-gate", 10) || path[0] == '[';
}

static void open_any(struct vti_symbols_module *of)
{
    if (!of->path[0])
        of->missing = "functions stay addresses";
    else if (open_file(of, of->path) || open_debug_file(of))
        of->missing = find_missing(of);
    else if (is_of_the_kernel(of->path))
        of->missing = NULL;
    else if (access(of->path, R_OK))
        of->missing = "cannot be read: functions stay addresses";
    else
        of->missing = "is not the file that ran (another build id): functions stay addresses";
}

struct vti_symbols_module *vti_symbols_open(struct vti_symbols_module **list, const char *path,
                                            const char *build_id)
{
    struct vti_symbols_module *of;

    for (of = *list; of; of = of->next)
        if (!strcmp(of->path, path) && !strcmp(of->build_id, build_id))
            return of;
    of = calloc(1, sizeof *of);
    if (!of)
        return NULL;
    of->path = strdup(path);
    of->build_id = strdup(build_id);
    of->next = *list;
    *list = of;
    if (!of->path || !of->build_id)
        return NULL;
    open_any(of);
    return of;
}

void vti_symbols_say(const struct vti_symbols_module *list)
{
    for (; list; list = list->next)
        if (list->missing && list->is_seen)
            fprintf(stderr, "venturi: %s: %s\n", list->path[0] ? list->path : "code in no file",
                    list->missing);
}

void vti_symbols_free(struct vti_symbols_module *list)
{
    while (list) {
        struct vti_symbols_module *of = list;

        list = of->next;
        close_file(of);
        free(of->path);
        free(of->build_id);
        free(of);
    }
}
