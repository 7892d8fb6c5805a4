/*
 * function.c - an address becomes a function: from debug info, else from the symbol table.
 */
#include "symbols/function.h"

#include "symbols/demangle.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The debug info of a function; false if there is none for this address. */
static bool find_die(const struct vti_symbols_module *of, GElf_Addr address, Dwarf_Die *unit,
                     Dwarf_Die *function)
{
    Dwarf_Die *scopes = NULL;
    Dwarf_Addr bias;
    Dwarf_Die *found = dwfl_module_addrdie(of->module, address, &bias);
    int count;
    bool is_found = false;

    if (!found)
        return false;
    *unit = *found;
    count = dwarf_getscopes(unit, address - bias, &scopes);
    for (int i = 0; i < count && !is_found; i++) {
        is_found = dwarf_tag(&scopes[i]) == DW_TAG_subprogram;
        if (is_found)
            *function = scopes[i];
    }
    free(scopes);
    return is_found;
}

static void set_file(struct vti_symbols_function *to, Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));

    if (!file)
        return;
    if (file[0] == '/' || !folder)
        snprintf(to->file, sizeof to->file, "%s", file);
    else
        snprintf(to->file, sizeof to->file, "%s/%s", folder, file);
}

static void take_source(const struct vti_symbols_module *of, GElf_Addr address,
                        struct vti_symbols_function *to)
{
    Dwarf_Die unit;
    Dwarf_Die function;
    const char *name;

    if (!find_die(of, address, &unit, &function))
        return;
    name = dwarf_diename(&function);
    if (name)
        snprintf(to->plain, sizeof to->plain, "%s", name);
    if (dwarf_decl_line(&function, &to->line))
        to->line = 0;
    set_file(to, &unit, dwarf_decl_file(&function));
}

/* Copies made by the optimiser ("f.constprop.0", "f.cold") are the function itself. */
static void cut_suffix(char *name)
{
    char *dot = strchr(name + (name[0] == '.'), '.');

    if (dot)
        *dot = 0;
}

void vti_symbols_find(const struct vti_symbols_module *of, GElf_Addr offset,
                      struct vti_symbols_function *to)
{
    GElf_Addr address = offset + of->bias;
    GElf_Off distance = 0;
    GElf_Sym symbol;
    const char *linked;
    char plain[VTI_SYMBOLS_TEXT];

    memset(to, 0, sizeof *to);
    if (!of->module)
        return;
    take_source(of, address, to);
    linked = dwfl_module_addrinfo(of->module, address, &distance, &symbol, NULL, NULL, NULL);
    if (linked && (distance == 0 || distance < symbol.st_size)) {
        snprintf(plain, sizeof plain, "%s", linked);
        cut_suffix(plain);
        if (!vti_demangle(plain, to->name, sizeof to->name))
            snprintf(to->name, sizeof to->name, "%s", plain);
        if (!to->plain[0])
            snprintf(to->plain, sizeof to->plain, "%s", plain);
    } else if (to->plain[0]) {
        snprintf(to->name, sizeof to->name, "%s", to->plain);
    }
}
