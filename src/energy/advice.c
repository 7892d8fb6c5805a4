/*
 * advice.c - what could be better and how: one line each, with the command. Never to run a program as root.
 */
#include "energy/meter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vti_meter_advise(vt_energy *meter, const char *format, ...)
{
    char text[VTI_ADVICE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t i = 0; i < meter->advice_count; i++)
        if (!strncmp(meter->advice[i], text, strcspn(text, ":")))
            return; /* one for each matter */
    if (meter->advice_count < VTI_ADVICE_MOST &&
        (meter->advice[meter->advice_count] = strdup(text)) != NULL)
        meter->advice_count++;
}

void vti_advice_powercap(vt_energy *meter, const char *path)
{
    vti_meter_advise(
        meter,
        "energy counters may not be read: %s is for root. To let a group read them: "
        "sudo groupadd -f energy && sudo usermod -aG energy \"$USER\" && "
        "echo 'SUBSYSTEM==\"powercap\", RUN+=\"/bin/chgrp energy %%S%%p/energy_uj\", "
        "RUN+=\"/bin/chmod g+r %%S%%p/energy_uj\"' | sudo tee /etc/udev/rules.d/70-energy.rules && "
        "sudo udevadm control --reload && sudo udevadm trigger -c add -s powercap; "
        "then log in anew. In a container: mount /sys/devices/virtual/powercap as well",
        path);
}

void vti_advice_perf(vt_energy *meter)
{
    vti_meter_advise(meter,
                     "energy events of perf may not be read: allow them to this program alone with "
                     "sudo setcap cap_perfmon+ep PROGRAM, or to all with "
                     "sudo sysctl kernel.perf_event_paranoid=0");
}

void vti_advice_none(vt_energy *meter, bool is_virtual)
{
    if (meter->flags & VT_ENERGY_NO_COUNTERS || meter->advice_count)
        return;
    if (is_virtual)
        vti_meter_advise(meter, "no energy counters: this is a virtual machine, and they are its "
                                "host's; what processors use is estimated");
    else
        vti_meter_advise(meter, "no energy counters: load their driver with "
                                "sudo modprobe intel_rapl_msr (AMD's processors too); "
                                "what processors use is estimated");
}
