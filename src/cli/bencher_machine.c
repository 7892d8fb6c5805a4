/* bencher_machine.c - the facts of this machine that decide whether times can be compared. */
#include "base/error.h"
#include "cli/bencher.h"
#include "cli/cmd.h"
#include "format/host.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static const char *governor(char to[64])
{
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");

    to[0] = 0;
    if (file && fgets(to, 64, file))
        to[strcspn(to, "\n")] = 0;
    if (file)
        fclose(file);
    return to;
}

int vti_bencher_machine(struct vti_bencher *bencher, struct vti_bench *bench)
{
    struct utsname name;
    cpu_set_t cpus;
    char text[VTI_CPU_MODEL_BYTES];
    int code;

    uname(&name);
    vti_host_cpu_model(text);
    code = vti_bench_text(&bench->cpu, text);
    if (!code && *governor(text))
        code = vti_bench_text(&bench->governor, text);
    if (!code)
        code = vti_bench_text(&bench->kernel, name.release);
    if (!code)
        code = vti_bench_text(&bench->host, name.nodename);
    if (!sched_getaffinity(0, sizeof cpus, &cpus))
        bench->cores = (unsigned)CPU_COUNT(&cpus);
    return code ? vti_cmd_error(bencher->command, code) : 0;
}
