/*
 * run_nothing.c - why a recording is empty, and what helps.
 *
 * The program's file says how it was made; what it has loaded or started since is not known here.
 */
#include "cli/run_nothing.h"

#include "cli/cmd.h"
#include "cli/elf.h"
#include "cli/preload.h"
#include "cli/spawn.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#define NOT_LOADED 127 /* the loader's exit code */
#define LOADER_SAYS "error while loading shared libraries: "

/* Whether what is to be recorded and how the program was made do not go together. */
static bool say_about_lines(const struct vti_run_wish *wish, const char *path,
                            const struct vti_elf_facts *facts)
{
    if (wish->wants_lines == facts->has_lines)
        return false;
    if (facts->has_lines) {
        vti_cmd_say("%s  nothing recorded: %s was compiled by `venturi cc -l`, for its lines", path,
                    wish->program);
        vti_cmd_say("next  venturi run -l %s", wish->program);
    } else {
        vti_cmd_say("%s  nothing recorded: %s was not compiled by `venturi cc -l`", path,
                    wish->program);
        vti_cmd_say("next  venturi cc -l to compile it, or venturi run --native %s as it is",
                    wish->program);
    }
    return true;
}

/* What the loader said when it gave up; it is asked again, because its words went to the program's own stderr. False: it did not. */
static bool say_about_loader(const struct vti_run_wish *wish, const char *path,
                             struct vti_elf_facts *facts, char *file)
{
    char *const words[] = {facts->loader, (char *)(uintptr_t) "--list", file, NULL};
    char line[VTI_LAST_WORDS_BYTES];
    struct vti_spawned spawned;
    bool is_it = false;

    if (wish->exit_code != NOT_LOADED || !facts->loader[0])
        return false;
    if (!vti_spawn(&spawned, words, NULL) && spawned.status == NOT_LOADED) {
        const char *why = strstr(vti_spawned_last_words(&spawned, line), LOADER_SAYS);

        is_it = why != NULL;
        if (why)
            vti_cmd_say("%s  nothing recorded: %s cannot be loaded: %s", path, wish->program,
                        why + strlen(LOADER_SAYS));
        if (why)
            vti_cmd_say("next  ldd %s; LD_LIBRARY_PATH names folders with libraries, -Wl,-rpath "
                        "does when it is linked",
                        wish->program);
    }
    vti_spawned_fini(&spawned);
    return is_it;
}

static void say_about_native(const struct vti_run_wish *wish, const char *path,
                             const struct vti_elf_facts *facts)
{
    if (!facts->has_hooks && say_about_lines(wish, path, facts))
        return;
    if (facts->is_static) {
        vti_cmd_say("%s  nothing recorded: %s is linked statically, which leaves no place for us",
                    path, wish->program);
        vti_cmd_say("next  link it dynamically; or `perf record -g`, and `venturi import` of what "
                    "`perf script` prints");
    } else if (facts->has_hooks) {
        vti_cmd_say(
            "%s  nothing recorded: %s was compiled for it, but did not connect (a sandbox?)", path,
            wish->program);
        vti_cmd_say("next  venturi doctor");
    } else if (wish->wants_samples) {
        vti_cmd_say("%s  nothing recorded: too little CPU time was used for a sample", path);
    } else {
        vti_cmd_say("%s  nothing recorded: %s was not compiled by `venturi cc`%s", path,
                    wish->program,
                    wish->wants_c_functions ? " (-finstrument-functions), nor was what it loaded"
                                            : ", and hit no trace point, or a sandbox kept us out");
        vti_cmd_say("next  venturi cc to compile it, or venturi run --native %s as it is (or "
                    "VT_SPAN in its code)",
                    wish->program);
    }
}

void vti_run_say_no_lines(const char *path)
{
    vti_cmd_say("%s  nothing recorded: no function that is profiled was called", path);
    vti_cmd_say("next  put @profile above a function that runs, or use -p MODULE");
}

bool vti_run_is_made_for_lines(const struct vti_run_wish *wish)
{
    struct vti_elf_facts facts;
    char file[PATH_MAX];

    vti_program_find(wish->program, file, sizeof file);
    vti_elf_look(&facts, file);
    return !facts.is_elf || facts.has_lines;
}

void vti_run_say_nothing(const struct vti_run_wish *wish, const char *path)
{
    struct vti_elf_facts facts;
    char file[PATH_MAX];

    vti_program_find(wish->program, file, sizeof file);
    vti_elf_look(&facts, file);
    if (wish->starts_off) {
        vti_cmd_say("%s  nothing recorded: it began with --paused, and nobody switched it on",
                    path);
        vti_cmd_say("next  venturi control, while the program runs");
    } else if (wish->is_python && wish->wants_lines) {
        vti_run_say_no_lines(path);
    } else if (wish->is_python) {
        vti_cmd_say("%s  nothing recorded: no function was seen", path);
    } else if (facts.is_elf && say_about_loader(wish, path, &facts, file)) {
        return;
    } else if (facts.is_elf) {
        say_about_native(wish, path, &facts);
    } else {
        vti_cmd_say("%s  nothing recorded: %s is no program of its own, and what it started is not "
                    "made for it (venturi cc, run --native)",
                    path, wish->program);
    }
}
