/*
 * chain.c - the lines that an address belongs to, through all functions that were inlined there.
 */
#include "symbols/chain.h"

#include "symbols/answer.h"
#include "symbols/scope.h"
#include "symbols/units.h"

#include <dwarf.h>
#include <string.h>

/* A place in the source. */
struct place {
    const char *file; /* libdw's; NULL: unknown */
    int line;         /* 0: unknown */
};

/* The code that an address is in. */
struct code {
    const struct vti_symbols_module *of;
    Dwarf_Die unit;
    Dwarf_Addr bias;
};

/* Where a function is declared. gcc does not say it of lambdas: where their code begins. */
static bool find_declaration(struct code *in, Dwarf_Die *function, struct place *at)
{
    const char *name = dwarf_diename(function);
    Dwarf_Addr address;
    Dwarf_Line *line;

    at->file = vti_symbols_decl_file(&in->unit, function);
    if (!dwarf_decl_line(function, &at->line))
        return true;
    if (!name || strcmp(name, "operator()") || dwarf_entrypc(function, &address))
        return false;
    line = dwarf_getsrc_die(&in->unit, address);
    if (!line || dwarf_lineno(line, &at->line))
        return false;
    at->file = dwarf_linesrc(line, NULL, NULL);
    return true;
}

static void print_function(struct code *in, Dwarf_Die *function, const struct place *at)
{
    struct vti_symbols_function found = {.name = ""};
    struct vti_symbols_function place = {.name = ""};
    struct place declared = {NULL, 0};
    char linked[VTI_SYMBOLS_TEXT];

    if (!find_declaration(in, function, &declared) ||
        !vti_symbols_linked_name(in->of, in->bias, function, linked, sizeof linked))
        return;
    found.line = declared.line;
    vti_symbols_set_file(&found, &in->unit, declared.file);
    vti_symbols_set_file(&place, &in->unit, at->file);
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

void vti_chain_print(struct vti_symbols_module *of, GElf_Addr offset)
{
    GElf_Addr address = offset + of->bias;
    struct code in = {.of = of};
    struct place at = {NULL, 0};
    struct vti_scopes scopes;
    Dwarf_Line *line;

    if (!of->module || !vti_units_find(of, address, &in.unit, &in.bias))
        return;
    line = dwarf_getsrc_die(&in.unit, address - in.bias);
    if (line && !dwarf_lineno(line, &at.line))
        at.file = dwarf_linesrc(line, NULL, NULL);
    vti_scopes_find(&in.unit, address - in.bias, &scopes);
    for (unsigned i = scopes.count; i-- > 0;) {
        int tag = dwarf_tag(&scopes.dies[i]);

        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            print_function(&in, &scopes.dies[i], &at);
        if (tag == DW_TAG_inlined_subroutine)
            at = place_of_call(&in.unit, &scopes.dies[i]);
    }
}
