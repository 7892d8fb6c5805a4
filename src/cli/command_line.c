/* command_line.c - commands as words. No shell where none is needed: its start would be measured too. */
#include "cli/command_line.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/spawn.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char for_a_shell[] = "|&;<>()$`\\\"'*?[]#~={}!\n";

static int add_word(struct vti_command_line *line, size_t *count, const char *word, size_t len)
{
    char **grown = realloc(line->words, (*count + 2) * sizeof *grown);

    if (!grown)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    line->words = grown;
    line->words[*count] = strndup(word, len);
    line->words[*count + 1] = NULL;
    if (!line->words[*count])
        return vti_fail(VTI_E_NOMEM, "out of memory");
    ++*count;
    return 0;
}

int vti_command_line_parse(struct vti_command_line *line, const char *text)
{
    size_t count = 0;
    int code = 0;

    *line = (struct vti_command_line){.text = strdup(text)};
    if (!line->text)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (strpbrk(text, for_a_shell)) {
        code = add_word(line, &count, "/bin/sh", 7);
        if (!code)
            code = add_word(line, &count, "-c", 2);
        return code ? code : add_word(line, &count, text, strlen(text));
    }
    while (!code && *(text += strspn(text, " \t"))) {
        size_t len = strcspn(text, " \t");

        code = add_word(line, &count, text, len);
        text += len;
    }
    return !code && !count ? vti_fail(VTI_E_USAGE, "an empty command") : code;
}

static void add_quoted(struct vti_buf *out, const char *word)
{
    if (*word && !strpbrk(word, for_a_shell) && !strpbrk(word, " \t")) {
        vti_buf_add_text(out, word);
        return;
    }
    vti_buf_add_u8(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            vti_buf_add_text(out, "'\\''");
        else
            vti_buf_add_u8(out, (uint8_t)*word);
    vti_buf_add_u8(out, '\'');
}

int vti_command_line_words(struct vti_command_line *line, char **words)
{
    struct vti_buf text = {0};
    size_t count = 0;
    int code = 0;

    *line = (struct vti_command_line){0};
    for (size_t i = 0; words[i] && !code; i++) {
        code = add_word(line, &count, words[i], strlen(words[i]));
        if (i)
            vti_buf_add_u8(&text, ' ');
        add_quoted(&text, words[i]);
    }
    vti_buf_add_u8(&text, 0);
    if (!code && text.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    if (code)
        vti_buf_fini(&text);
    else
        line->text = (char *)text.data;
    return code;
}

/* As execvp() looks for it; what it makes of a folder without a name is left to it. */
static bool is_on_path(const char *name)
{
    const char *at = getenv("PATH");
    char path[4096];

    while (at && *at) {
        size_t len = strcspn(at, ":");

        if (!len ||
            (size_t)snprintf(path, sizeof path, "%.*s/%s", (int)len, at, name) >= sizeof path ||
            !access(path, F_OK))
            return true;
        at += len + (at[len] == ':');
    }
    return !at;
}

int vti_command_line_find(const struct vti_command_line *line)
{
    const char *name = line->words[0];
    bool is_here = *name == '/' || !line->directory;
    char path[4096];
    bool is_there;

    if (!*name)
        return vti_fail(VTI_E_USAGE, "an empty command");
    snprintf(path, sizeof path, "%s%s%s", is_here ? "" : line->directory, is_here ? "" : "/", name);
    is_there = strchr(name, '/') ? !access(path, F_OK) : is_on_path(name);
    return is_there ? 0 : vti_fail(VTI_E_NOT_FOUND, "%s: not found", name);
}

void vti_command_line_fini(struct vti_command_line *line)
{
    for (size_t i = 0; line->words && line->words[i]; i++)
        free(line->words[i]);
    free(line->words);
    free(line->text);
    *line = (struct vti_command_line){0};
}

void vti_command_line_interpreter(const struct vti_command_line *line,
                                  char to[VTI_INTERPRETER_BYTES])
{
    const char *name = line->words[0];
    const char *slash = strrchr(name, '/');
    char *words[] = {(char *)name, "--version", NULL};
    struct vti_spawned spawned;
    size_t len;

    to[0] = 0;
    if (strncmp(slash ? slash + 1 : name, "python", 6))
        return;
    if (!vti_spawn(&spawned, words, line->directory) && !spawned.status) {
        snprintf(to, VTI_INTERPRETER_BYTES, "%.*s", (int)spawned.out.len,
                 spawned.out.data ? (const char *)spawned.out.data : "");
        len = strcspn(to, "\n");
        to[len] = 0;
    }
    vti_spawned_fini(&spawned);
}
