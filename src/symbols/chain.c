/*
 * chain.c - the lines that an address belongs to, through all functions that were inlined there.
 */
#include "symbols/chain.h"

#include "symbols/answer.h"
#include "symbols/units.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* A place in the source. */
struct place {
    const char *file; /* libdw's; NULL: unknown */
    int line;         /* 0: unknown */
};

static void print_function(Dwarf_Die *unit, Dwarf_Die *function, const struct place *at)
{
    struct vti_symbols_function found = {.name = ""};
    struct vti_symbols_function place = {.name = ""};
    Dwarf_Attribute attribute;
    const char *linked = dwarf_formstring(
        dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
    const char *file = vti_symbols_decl_file(unit, function);

    if (!linked)
        linked = dwarf_diename(function);
    if (!linked || dwarf_decl_line(function, &found.line))
        return;
    vti_symbols_set_file(&found, unit, file);
    vti_symbols_set_file(&place, unit, at->file);
    if (place.file[0] && strcmp(place.file, found.file)) { /* included into its body */
        found = place;
        found.line = 1;
    }
    vti_symbols_take_name(&found, linked);
    vti_answer_print_part(&found);
    vti_answer_print_number((unsigned)at->line, '\t');
}

/* Where the code was inlined. */
static struct place place_of_call(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    struct place at = {NULL, 0};
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Files *files;
    size_t count;

    if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number))
        at.line = (int)number;
    if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) &&
        !dwarf_getsrcfiles(unit, &files, &count) && number < count)
        at.file = dwarf_filesrc(files, number, NULL, NULL);
    return at;
}

static void print_scopes(Dwarf_Die *unit, Dwarf_Die *inner, struct place at)
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes_die(inner, &scopes);

    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);

        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            print_function(unit, &scopes[i], &at);
        if (tag == DW_TAG_subprogram)
            break;
        if (tag == DW_TAG_inlined_subroutine)
            at = place_of_call(unit, &scopes[i]);
    }
    free(scopes);
}

void vti_chain_print(struct vti_symbols_module *of, GElf_Addr offset)
{
    GElf_Addr address = offset + of->bias;
    struct place at = {NULL, 0};
    Dwarf_Die *scopes = NULL;
    Dwarf_Line *line;
    Dwarf_Addr bias;
    Dwarf_Die unit;

    if (!of->module || !vti_units_find(of, address, &unit, &bias))
        return;
    line = dwarf_getsrc_die(&unit, address - bias);
    if (line && !dwarf_lineno(line, &at.line))
        at.file = dwarf_linesrc(line, NULL, NULL);
    if (dwarf_getscopes(&unit, address - bias, &scopes) > 0)
        print_scopes(&unit, &scopes[0], at);
    free(scopes);
}
