/* host.c - the HOST entry of the machine that we run on: its name, system and CPU as the kernel tells them. */
#include "format/host.h"

#include "format/facts.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What stands behind the colon, if the line is of that key; else NULL. */
static const char *value_of(char *line, const char *key)
{
    char *colon = strchr(line, ':');
    size_t len = strlen(key);

    if (!colon || strncmp(line, key, len) || line[len + strspn(line + len, " \t")] != ':')
        return NULL;
    colon += 1 + strspn(colon + 1, " \t");
    colon[strcspn(colon, "\n")] = 0;
    return *colon ? colon : NULL;
}

/* "0x41 0xd0c": maker and kind of core where there is no name; machines with two kinds have two. */
static void add_once(char to[VTI_CPU_MODEL_BYTES], const char *text)
{
    size_t len = strlen(to);

    if (!strstr(to, text) && len + strlen(text) + 2 < VTI_CPU_MODEL_BYTES)
        snprintf(to + len, VTI_CPU_MODEL_BYTES - len, "%s%s", len ? " " : "", text);
}

void vti_host_cpu_model_read(char to[VTI_CPU_MODEL_BYTES], FILE *file)
{
    static const char *const names[] = {"model name", "cpu model", "cpu", "uarch"};
    static const char *const codes[] = {"CPU implementer", "CPU part"};
    char line[256];
    const char *value;

    to[0] = 0;
    while (fgets(line, sizeof line, file)) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if ((value = value_of(line, names[i]))) {
                snprintf(to, VTI_CPU_MODEL_BYTES, "%s", value);
                return;
            }
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
            if ((value = value_of(line, codes[i])))
                add_once(to, value);
    }
}

void vti_host_cpu_model(char to[VTI_CPU_MODEL_BYTES])
{
    FILE *file = fopen("/proc/cpuinfo", "re");

    to[0] = 0;
    if (!file)
        return;
    vti_host_cpu_model_read(to, file);
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
