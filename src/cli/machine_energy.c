/* machine_energy.c - which sources of energy this machine has, and what would be better. */
#include "cli/machine.h"

#include <venturi/energy.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const hows[] = {
    [VT_ENERGY_UNKNOWN] = "unknown",   [VT_ENERGY_MEASURED] = "measured",
    [VT_ENERGY_MODELLED] = "modelled", [VT_ENERGY_ESTIMATED] = "estimated",
    [VT_ENERGY_GIVEN] = "given",
};

static void list(struct vti_check *check, const vt_energy *meter)
{
    size_t len = 0;

    for (size_t i = 0; i < vt_energy_source_count(meter) && len < sizeof check->text; i++) {
        const struct vt_energy_source *source = vt_energy_source_get(meter, i);
        int more = snprintf(check->text + len, sizeof check->text - len, "%s%s %s (%s%s%s)",
                            i ? ", " : "", source->name, hows[source->how % 5], source->from,
                            source->how == VT_ENERGY_ESTIMATED ? ": " : "",
                            source->how == VT_ENERGY_ESTIMATED ? source->note : "");

        len += more > 0 ? (size_t)more : 0;
    }
}

void vti_machine_check_energy(struct vti_check *check)
{
    struct vt_energy_options options = {.size = sizeof options, .pid = -1};
    char why[sizeof check->text];
    vt_energy *meter = vt_energy_open(&options, why, sizeof why);
    const char *advice = meter ? vt_energy_advice(meter, 0) : NULL;

    if (meter)
        list(check, meter);
    else
        snprintf(check->text, sizeof check->text, "%s", why);
    check->state = meter && !advice ? VTI_CHECK_OK : VTI_CHECK_NOTE;
    if (advice) {
        snprintf(check->advice, sizeof check->advice, "%s", advice);
        check->hint = check->advice;
    }
    vt_energy_close(meter);
}
