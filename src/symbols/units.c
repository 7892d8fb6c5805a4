/*
 * units.c - which compilation unit an address belongs to.
 *
 * libdwfl looks into .debug_aranges only, which clang does not write unless it is told to. For what is missing there
 * the ranges of all units are gathered once for each module, and searched.
 */
#include "symbols/units.h"

#include <stdlib.h>

#define MOST_RANGES (1u << 22)

struct vti_unit_range {
    Dwarf_Addr begin, end;
    Dwarf_Die unit;
};

struct vti_unit_ranges {
    struct vti_unit_range *list; /* owned, by their begins */
    size_t count, room;
};

static bool add(struct vti_unit_ranges *to, const struct vti_unit_range *range)
{
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : 64;
        struct vti_unit_range *list = room <= MOST_RANGES ? realloc(to->list, room * sizeof *list)
                                                          : NULL;

        if (!list)
            return false;
        to->list = list;
        to->room = room;
    }
    to->list[to->count++] = *range;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct vti_unit_range *one = left;
    const struct vti_unit_range *other = right;

    return one->begin < other->begin ? -1 : one->begin > other->begin;
}

static void gather(struct vti_unit_ranges *to, Dwarf *debug)
{
    Dwarf_CU *at = NULL;
    struct vti_unit_range range;
    Dwarf_Addr base;
    ptrdiff_t offset;

    while (dwarf_get_units(debug, at, &at, NULL, NULL, &range.unit, NULL) == 0)
        for (offset = 0;
             (offset = dwarf_ranges(&range.unit, offset, &base, &range.begin, &range.end)) > 0;)
            if (range.begin < range.end && !add(to, &range))
                return;
}

static const struct vti_unit_ranges *ranges_of(struct vti_symbols_module *of, Dwarf *debug)
{
    if (of->ranges)
        return of->ranges;
    of->ranges = calloc(1, sizeof *of->ranges);
    if (!of->ranges)
        return NULL;
    gather(of->ranges, debug);
    if (of->ranges->count)
        qsort(of->ranges->list, of->ranges->count, sizeof *of->ranges->list, compare);
    return of->ranges;
}

bool vti_units_find(struct vti_symbols_module *of, GElf_Addr address, Dwarf_Die *unit,
                    Dwarf_Addr *bias)
{
    Dwarf_Die *known = dwfl_module_addrdie(of->module, address, bias);
    const struct vti_unit_ranges *all;
    size_t first = 0, end;
    Dwarf *debug;

    /* What lies between two units that are known there is taken for the first one's. */
    if (known && dwarf_haspc(known, address - *bias) > 0) {
        *unit = *known;
        return true;
    }
    debug = dwfl_module_getdwarf(of->module, bias);
    all = debug ? ranges_of(of, debug) : NULL;
    end = all ? all->count : 0;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct vti_unit_range *range = &all->list[middle];

        if (address - *bias >= range->begin && address - *bias < range->end) {
            *unit = range->unit;
            return true;
        }
        if (address - *bias < range->begin)
            end = middle;
        else
            first = middle + 1;
    }
    if (known)
        *unit = *known;
    return known != NULL;
}

void vti_units_free(struct vti_symbols_module *of)
{
    if (of->ranges)
        free(of->ranges->list);
    free(of->ranges);
    of->ranges = NULL;
}
