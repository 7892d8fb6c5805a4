/* host.c - the HOST entry of the machine that we run on: its name, system and CPU as the kernel tells them. */
#include "format/host.h"

#include "format/facts.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

void vti_host_cpu_model(char to[VTI_CPU_MODEL_BYTES])
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    to[0] = 0;
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');

        if (!colon || strncmp(line, "model name", 10))
            continue;
        colon[1 + strcspn(colon + 1, "\n")] = 0;
        snprintf(to, VTI_CPU_MODEL_BYTES, "%s", colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

void vti_host_write_this(struct vti_buf *out, uint32_t host)
{
    struct utsname name;
    char model[VTI_CPU_MODEL_BYTES];
    char system[256];
    struct vti_host_fact fact = {.host = host};

    uname(&name);
    vti_host_cpu_model(model);
    snprintf(system, sizeof system, "%.60s %.100s %.60s", name.sysname, name.release, name.machine);
    fact.name = vti_bytes_of(name.nodename);
    fact.os = vti_bytes_of(system);
    fact.cpu = vti_bytes_of(model);
    fact.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    vti_host_write(out, &fact);
}
