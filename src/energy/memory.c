/*
 * memory.c - what memory uses, from how much of it there is, where no counter tells.
 *
 * The model: modules guessed from the size, 5 W each (1.5 W with ARM), less for each of many, and never less than two
 * modules of it. It does not depend on what the memory does.
 */
#include "energy/meter.h"

#include <stdio.h>

#define GIB 1073741824.0
#define MODULES_MOST 32
#define KEPT 1.05 /* what the kernel does not tell of */
#ifdef __aarch64__
#define MODULE_W 1.5
#define LEAST_W 3
#else
#define MODULE_W 5
#define LEAST_W 10
#endif

static unsigned modules_of(double gib)
{
    static const struct {
        double gib;
        unsigned modules;
    } steps[] = {{2, 1}, {16, 2}, {32, 4}, {64, 4}, {128, 8}};

    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
        if (gib <= steps[i].gib)
            return steps[i].modules;
    for (double each = 128; each >= 4; each /= 2)
        if (gib * KEPT / each >= 8)
            return gib / each < MODULES_MOST ? (unsigned)(gib / each + 0.5) : MODULES_MOST;
    return 8;
}

static double watts_of(unsigned modules)
{
    double watts = 0;

    for (unsigned i = 0; i < modules; i++)
        watts += MODULE_W * (i < 4 ? 1 : i < 8 ? 0.9 : i < 16 ? 0.8 : 0.7);
    return watts > LEAST_W ? watts : LEAST_W;
}

void vti_memory_find(vt_energy *meter, double given_watts)
{
    bool is_given = given_watts > 0;
    double gib = (double)meter->machine.memory_bytes / GIB;
    unsigned modules = modules_of(gib);
    struct vti_counter *counter;

    if (!is_given && gib <= 0)
        return;
    counter = vti_meter_add(meter, VT_ENERGY_MEMORY,
                            is_given ? VT_ENERGY_GIVEN : VT_ENERGY_MODELLED,
                            is_given ? "given" : "modules", "memory");
    if (!counter)
        return;
    counter->kind = VTI_COUNTER_LOAD;
    counter->source.watts = is_given ? given_watts : watts_of(modules);
    counter->source.idle_watts = counter->source.watts;
    if (!is_given)
        snprintf(counter->source.note, sizeof counter->source.note,
                 "%.1f GiB taken for %u module%s", gib, modules, modules == 1 ? "" : "s");
}
