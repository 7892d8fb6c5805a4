/* program_name.c - what a recording is called where people read. */
#include "analyze/program_name.h"

#include "model/fact_blocks.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* Its command begins with it too: that of a page which is called python-something begins with a program. */
static bool is_interpreter(const struct vt_process_info *process)
{
    const char *first = process->command;
    size_t len = strcspn(first, " ");

    while (memchr(first, '/', len)) {
        len--;
        first++;
    }
    return !strncmp(base_name(process->name), "python", 6) && len >= 6 &&
           !strncmp(first, "python", 6);
}

/* The program that an interpreter runs: the first word of its command after itself that is no option. NULL: it is none. */
static char *find_script(const struct vt_process_info *process)
{
    const char *at = process->command + strcspn(process->command, " ");
    size_t len;

    if (!is_interpreter(process))
        return NULL;
    do {
        at += strspn(at, " ");
        len = strcspn(at, " ");
        if (len && *at != '-' && *at != '\'')
            return strndup(at, len);
        at += len;
    } while (len && *at);
    return NULL;
}

bool vti_program_name(const vt_recording *recording, char to[VTI_PROGRAM_NAME])
{
    struct vt_process_info process;
    char *script;

    if (!vt_recording_process(recording, 0, &process) || !*process.name)
        return false;
    script = find_script(&process);
    snprintf(to, VTI_PROGRAM_NAME, "%s", base_name(script ? script : process.name));
    free(script);
    return true;
}

/* The first file, in which the program has ended: there is no other. */
static bool is_whole(const vt_recording *recording, struct vti_bytes number)
{
    struct vt_process_info process;

    return number.len == 1 && number.data[0] == '1' &&
           vt_recording_process(recording, 0, &process) && process.how != VT_END_UNKNOWN;
}

bool vti_spool_part(const vt_recording *recording, char *number, size_t room)
{
    struct vti_bytes text;

    if (!vti_recording_meta(recording, "spool.file", &text) || is_whole(recording, text))
        return false;
    snprintf(number, room, "%.*s", text.len > 20 ? 20 : (int)text.len, (const char *)text.data);
    return true;
}
