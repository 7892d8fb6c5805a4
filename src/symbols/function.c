/*
 * function.c - an address becomes a function: from debug info, else from the symbol table.
 */
#include "symbols/function.h"

#include "symbols/demangle.h"
#include "symbols/scope.h"
#include "symbols/shorten.h"
#include "symbols/units.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vti_symbols_set_file(struct vti_symbols_function *to, Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));

    if (file)
        vti_symbols_join(to->file, sizeof to->file, folder ? folder : "", file);
}

/* libdw takes the first file of a unit, number 0 from DWARF 5 on, for none. */
const char *vti_symbols_decl_file(Dwarf_Die *unit, Dwarf_Die *function)
{
    const char *file = dwarf_decl_file(function);
    Dwarf_Attribute attribute;
    Dwarf_Word number;

    if (!file &&
        !dwarf_formudata(dwarf_attr_integrate(function, DW_AT_decl_file, &attribute), &number) &&
        number == 0)
        file = dwarf_diename(unit);
    return file;
}

/* Copies made by the optimiser ("f.constprop.0", "f.cold") are the function itself. */
static void cut_suffix(char *name)
{
    char *dot = strchr(name + (name[0] == '.'), '.');

    if (dot)
        *dot = 0;
}

bool vti_symbols_linked_name(const struct vti_symbols_module *of, Dwarf_Addr bias,
                             Dwarf_Die *function, char *to, size_t room)
{
    const char *name = dwarf_diename(function);
    Dwarf_Attribute attribute;
    const char *linked = dwarf_formstring(
        dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
    Dwarf_Addr address;

    if (!linked && dwarf_entrypc(function, &address) == 0)
        linked = dwfl_module_addrname(of->module, address + bias);
    if (!linked || strncmp(linked, "_Z", 2))
        linked = name;
    if (!linked)
        return false;
    snprintf(to, room, "%s", linked);
    if (linked != name)
        cut_suffix(to);
    return true;
}

/* As the linker knows it, and as its source calls it. */
static void take_linked_name(struct vti_symbols_function *to, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_diename(function);
    const char *linked = dwarf_formstring(
        dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));

    if (name)
        snprintf(to->plain, sizeof to->plain, "%s", name);
    if (linked)
        snprintf(to->name, sizeof to->name, "%s", linked);
}

/* A function that is declared nowhere, because the compiler made it, is where its code comes from. */
static void take_first_line(struct vti_symbols_function *to, Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);

    if (line && dwarf_lineno(line, &to->line) == 0)
        vti_symbols_set_file(to, unit, dwarf_linesrc(line, NULL, NULL));
}

/* With -gsplit-dwarf most of a unit is in a file of its own, whose names of source files libdw does not read. */
static bool find_split(const Dwarf_Die *unit, Dwarf_Die *split)
{
    memset(split, 0, sizeof *split);
    return dwarf_cu_info(unit->cu, NULL, NULL, NULL, split, NULL, NULL, NULL) == 0 && split->addr;
}

static void take_source(struct vti_symbols_module *of, GElf_Addr address,
                        struct vti_symbols_function *to)
{
    Dwarf_Die unit, split;
    struct vti_scopes scopes;
    Dwarf_Addr bias;
    bool is_split;
    int line = 0;

    if (!vti_units_find(of, address, &unit, &bias))
        return;
    is_split = find_split(&unit, &split);
    vti_scopes_find(is_split ? &split : &unit, address - bias, &scopes);
    if (scopes.count) {
        take_linked_name(to, &scopes.dies[0]);
        if (dwarf_decl_line(&scopes.dies[0], &line) == 0 && !is_split)
            vti_symbols_set_file(to, &unit, vti_symbols_decl_file(&unit, &scopes.dies[0]));
    }
    if (!to->file[0] || !line)
        take_first_line(to, &unit, address - bias);
    if (line)
        to->line = line;
}

/* What is done before main() for all variables of a file. */
static bool is_static_initialisation(const char *symbol)
{
    return !strncmp(symbol, "_GLOBAL__sub_I_", 15) || !strncmp(symbol, "_GLOBAL__I_", 11);
}

static void name_after_file(struct vti_symbols_function *to)
{
    const char *slash = strrchr(to->file, '/');

    if (!to->file[0])
        return;
    snprintf(to->name, sizeof to->name, "static initialisation of %.900s",
             slash ? slash + 1 : to->file);
    snprintf(to->plain, sizeof to->plain, "%s", to->name);
}

/* C++: as people write it, the table's shorter. What is no C++ is called as it is. */
void vti_symbols_take_name(struct vti_symbols_function *to, const char *symbol)
{
    if (vti_demangle(symbol, to->name, sizeof to->name)) {
        vti_shorten(to->name, to->plain, sizeof to->plain);
    } else {
        snprintf(to->name, sizeof to->name, "%s", symbol);
        if (is_static_initialisation(symbol))
            name_after_file(to);
    }
    if (!to->plain[0])
        snprintf(to->plain, sizeof to->plain, "%s", to->name);
}

void vti_symbols_find(struct vti_symbols_module *of, GElf_Addr offset,
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
    if (!linked || (distance && distance >= symbol.st_size))
        linked = to->name[0] ? to->name : to->plain;
    if (!linked[0])
        return;
    snprintf(plain, sizeof plain, "%s", linked);
    cut_suffix(plain);
    vti_symbols_take_name(to, plain);
}
