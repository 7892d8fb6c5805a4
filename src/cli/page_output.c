/* page_output.c - where a page goes: a file that appears when it is whole, or standard output. */
#include "cli/page_output.h"

#include "base/browser.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/render.h"
#include "cli/stop.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIGN "id=\"venturi-block-0\""
#define SIGN_WITHIN (4u << 20) /* the shell is before it */

/* ---- checking -------------------------------------------------------------------------------- */

/* One of ours may be written anew; whatever else has that name stays, unless --force says otherwise. */
static bool is_page(const char *path)
{
    struct vti_mapping map;
    bool is_one;

    if (vti_mapping_open(&map, path))
        return false;
    is_one = map.data &&
             memmem(map.data, map.size < SIGN_WITHIN ? map.size : SIGN_WITHIN, SIGN, strlen(SIGN));
    vti_mapping_close(&map);
    return is_one;
}

int vti_page_output_check(const char *command, const struct vti_page_output *output,
                          const char *input)
{
    bool is_standard = !strcmp(output->path, "-");

    if (!*output->path)
        return vti_cmd_fail(command, "-o: which file? -o page.html, say");
    if (is_standard && output->opens)
        return vti_cmd_fail(command, "--open: needs a file (-o page.html), not standard output");
    if (is_standard && isatty(STDOUT_FILENO))
        return vti_cmd_fail(command, "a page is not for a terminal: use -o page.html");
    if (vti_file_is_same(input, output->path))
        return vti_cmd_fail(command, "%s: is the input, so it cannot be the output too",
                            output->path);
    return 0;
}

/* ---- progress -------------------------------------------------------------------------------- */

static bool has_said;

void vti_page_output_progress(void *arg, const char *what)
{
    (void)arg;
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\rventuri: %-24s", what);
    fflush(stderr);
    has_said = true;
}

static void end_progress(void)
{
    if (has_said)
        fprintf(stderr, "\r%-40s\r", "");
    has_said = false;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_output(void *arg, const void *bytes, size_t count)
{
    if (vti_stop_asked())
        return vti_fail(VTI_E_TIMEOUT, "interrupted, nothing written");
    return vti_output_write(arg, bytes, count);
}

static void say_done(const char *command, const struct vti_page_output *output)
{
    struct stat status;
    char size[VTI_NUMBER_BYTES];

    if (!strcmp(output->path, "-") || stat(output->path, &status) || !S_ISREG(status.st_mode))
        return;
    vti_text_bytes(size, (uint64_t)status.st_size);
    if (!output->opens) {
        vti_cmd_say("%s, %s: open it in a browser (xdg-open %s)", output->path, size, output->path);
    } else if (vti_browser_open(output->path)) {
        vti_cmd_say("%s, %s: opening it", output->path, size);
    } else {
        vti_cmd_say("%s, %s", output->path, size);
        vti_cmd_warn(command, "--open: no browser here (neither BROWSER nor xdg-open): take the "
                              "file to a machine that has one, it needs nothing else");
    }
}

int vti_page_output_write(const char *command, const struct vti_page_output *output,
                          int (*make)(const struct vti_sink *sink, void *arg), void *arg)
{
    struct vti_output *file = NULL;
    struct vti_sink sink;
    int code;

    vti_stop_watch(NULL);
    code = vti_output_open(&file, output->path, output->force || is_page(output->path), false);
    if (code == VTI_E_EXISTS)
        return vti_cmd_fail(command,
                            "%s: already exists and is not a page of Venturi's (--force would "
                            "replace it)",
                            output->path);
    if (code)
        return vti_cmd_error(command, code);
    sink = (struct vti_sink){write_output, file};
    code = make(&sink, arg);
    end_progress();
    if (!code)
        code = vti_output_commit(file);
    else
        vti_output_abandon(file);
    if (code)
        return vti_cmd_error(command, code);
    say_done(command, output);
    return VTI_EXIT_OK;
}
