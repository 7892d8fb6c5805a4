/*
 * scope.c - the function of debug info that an address is in, and what was inlined there.
 *
 * As dwarf_getscopes(), which does not look into namespaces: clang keeps functions there. gcc keeps those of a class
 * that a function declares, lambdas too, in that function.
 */
#include "symbols/scope.h"

#include <dwarf.h>

#define NESTED_MOST 32 /* namespaces and classes in each other */

static bool is_code(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static bool is_around_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_module || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

/* The child that has the address, if it is code. */
static bool find_child(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *child)
{
    if (dwarf_child(parent, child))
        return false;
    do
        if (is_code(dwarf_tag(child)) && dwarf_haspc(child, address) > 0)
            return true;
    while (dwarf_siblingof(child, child) == 0);
    return false;
}

static bool find_function(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *function,
                          unsigned depth)
{
    Dwarf_Die child;

    if (find_child(parent, address, function))
        return true;
    if (depth == NESTED_MOST || dwarf_child(parent, &child))
        return false;
    do
        if (is_around_functions(dwarf_tag(&child)) &&
            find_function(&child, address, function, depth + 1))
            return true;
    while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

void vti_scopes_find(Dwarf_Die *unit, Dwarf_Addr address, struct vti_scopes *to)
{
    Dwarf_Die found;

    to->count = 0;
    if (!find_function(unit, address, &found, 0))
        return;
    do
        to->dies[to->count++] = found;
    while (to->count < VTI_SCOPES_MOST && find_child(&to->dies[to->count - 1], address, &found));
}
