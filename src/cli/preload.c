/*
 * preload.c - functions of C programs under `run`: the collectors are put into programs.
 *
 * A program that was compiled with -finstrument-functions calls hooks, of which libc has empty ones; the collector in LD_PRELOAD
 * takes their place, in the program and in those that it starts. The sampler needs nothing of the program but a loader.
 */
#include "cli/preload.h"

#include "base/beside.h"
#include "base/buf.h"
#include "cli/cmd.h"
#include "cli/elf.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool vti_library_find(const char *name, char *to, size_t room)
{
    static const char *const folders[] = {"", "../lib*/", "../lib*/*/", "../"};
    char places[sizeof folders / sizeof *folders][64];
    const char *list[sizeof folders / sizeof *folders];

    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(places[i], sizeof places[i], "%s%s", folders[i], name);
        list[i] = places[i];
    }
    return vti_beside_find(list, sizeof list / sizeof *list, to, room);
}

void vti_program_find(const char *name, char *to, size_t room)
{
    const char *at = getenv("PATH");

    if (strchr(name, '/')) {
        snprintf(to, room, "%s", name);
        return;
    }
    while (at && *at) {
        size_t len = strcspn(at, ":");

        snprintf(to, room, "%.*s%s%s", (int)len, at, len ? "/" : "", name);
        if (!access(to, X_OK))
            return;
        at += len + (at[len] == ':');
    }
    to[0] = 0;
}

/* Behind what is there already: some libraries (of sanitizers) insist on being the first. */
static void add_preload(const char *library)
{
    const char *old = getenv("LD_PRELOAD");
    struct vti_buf list = {0};

    if (old && strstr(old, library))
        return;
    vti_buf_printf(&list, "%s%s%s", old ? old : "", old && *old ? ":" : "", library);
    vti_buf_add_u8(&list, 0);
    if (!list.failed)
        setenv("LD_PRELOAD", (const char *)list.data, 1);
    vti_buf_fini(&list);
}

void vti_preload_functions(const char *program, bool always, bool is_only_mine)
{
    struct vti_elf_facts facts;
    char path[PATH_MAX];

    if (is_only_mine)
        setenv("VENTURI_ONLY_MINE", "1", 1);
    else
        unsetenv("VENTURI_ONLY_MINE");
    vti_program_find(program, path, sizeof path);
    vti_elf_look(&facts, path);
    if (facts.is_elf && facts.is_static && (always || facts.has_hooks))
        vti_cmd_warn("run", "%s: linked statically: its functions cannot be recorded", program);
    else if (!always && (!facts.has_hooks || facts.brings_collector))
        return;
    else if (!vti_library_find("libventuri-functions.so", path, sizeof path))
        vti_cmd_warn("run", "no C functions: libventuri-functions.so is not where the tool is");
    else if (strpbrk(path, ": "))
        vti_cmd_warn("run", "no C functions: the loader takes no path with a space: %s", path);
    else
        add_preload(path);
}

void vti_preload_samples(const char *program, unsigned hz, bool has_stacks, bool has_lines)
{
    struct vti_elf_facts facts;
    char path[PATH_MAX];
    char rate[16];

    vti_program_find(program, path, sizeof path);
    vti_elf_look(&facts, path);
    setenv("VENTURI_NATIVE", !has_lines ? "stacks" : has_stacks ? "stacks,lines" : "lines", 1);
    if (hz) {
        snprintf(rate, sizeof rate, "%u", hz);
        setenv("VENTURI_NATIVE_HZ", rate, 1);
    }
    if (facts.is_elf && facts.is_static && has_stacks)
        vti_cmd_warn("run", "%s: linked statically: its stacks cannot be sampled", program);
    if (facts.is_elf && facts.is_static && facts.has_lines)
        vti_cmd_warn("run",
                     "%s: linked statically: its lines are counted, not sampled (times: --exact)",
                     program);
    if (facts.brings_sampler || (!has_stacks && facts.needs_to_be_first))
        return;
    if (!vti_library_find("libventuri-sample.so", path, sizeof path)) {
        vti_cmd_warn("run", "no native stacks: libventuri-sample.so is not where the tool is");
        return;
    }
    if (strpbrk(path, ": ")) {
        vti_cmd_warn("run", "no native stacks: the loader takes no path with a space: %s", path);
        return;
    }
    add_preload(path);
}

void vti_preload_warn_of_names(const char *program)
{
    struct vti_elf_facts facts;
    const char *base = strrchr(program, '/');
    char path[PATH_MAX];

    base = base ? base + 1 : program;
    vti_program_find(program, path, sizeof path);
    vti_elf_look(&facts, path);
    if (facts.is_elf && strncmp(base, "python", 6) != 0 && strncmp(base, "pypy", 4) != 0)
        vti_cmd_warn("run",
                     "-p is for Python, which %s does not look like (of C, `venturi cc -l` "
                     "chooses)",
                     program);
}
