/* source.c - the text of a source file: its encoding, its lines. Never fails on strange bytes, only on unknown encodings. */
#include "analyze/source.h"

#include "base/error.h"
#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST (64u << 20)
#define ENCODING_MOST 40

/* The name after "coding:" or "coding=" in a comment; false if the line has none. */
static bool find_name(const char *line, size_t len, char *to)
{
    size_t at = 0, used = 0;

    while (at < len && (line[at] == ' ' || line[at] == '\t' || line[at] == '\f'))
        at++;
    if (at == len || line[at] != '#')
        return false;
    for (; at + 7 < len; at++)
        if (!memcmp(line + at, "coding", 6) && (line[at + 6] == ':' || line[at + 6] == '='))
            break;
    if (at + 7 >= len)
        return false;
    for (at += 7; at < len && (line[at] == ' ' || line[at] == '\t'); at++)
        ;
    for (; at < len && used + 1 < ENCODING_MOST &&
           (isalnum((unsigned char)line[at]) || line[at] == '-' || line[at] == '_' ||
            line[at] == '.');
         at++)
        to[used++] = line[at] == '_' ? '-' : (char)tolower((unsigned char)line[at]);
    to[used] = 0;
    return used > 0;
}

/* As the system knows it, where Python has a name of its own. */
static void translate(char *name)
{
    static const char *const known[][2] = {
        {"latin-1", "iso-8859-1"},  {"latin1", "iso-8859-1"},      {"l1", "iso-8859-1"},
        {"latin-9", "iso-8859-15"}, {"iso8859-15", "iso-8859-15"}, {"shift-jis", "shift_jis"},
        {"ascii", "us-ascii"},      {"windows-1252", "cp1252"},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i][0]))
            memcpy(name, known[i][1], strlen(known[i][1]) + 1);
}

static bool find_encoding(const char *bytes, size_t count, char *name)
{
    const char *end = memchr(bytes, '\n', count);
    size_t first = end ? (size_t)(end - bytes) : count;
    bool is_found = find_name(bytes, first, name);

    if (!is_found && end) {
        const char *next = end + 1;
        size_t left = count - first - 1;
        const char *stop = memchr(next, '\n', left);

        is_found = find_name(next, stop ? (size_t)(stop - next) : left, name);
    }
    if (is_found)
        translate(name);
    return is_found;
}

static int decode(struct vti_buf *to, iconv_t converter, const char *bytes, size_t count)
{
    char *in = (char *)(uintptr_t)bytes;
    size_t left = count;

    while (left) {
        uint8_t *room = vti_buf_reserve(to, 4096);
        char *out = (char *)room;
        size_t free_bytes = 4096;
        size_t done;

        if (!room)
            return VTI_E_NOMEM;
        done = iconv(converter, &in, &left, &out, &free_bytes);
        to->len += 4096 - free_bytes;
        if (done == (size_t)-1 && errno != E2BIG)
            return VTI_E_DAMAGED;
    }
    return 0;
}

static int take_text(struct vti_buf *to, const char *name, const char *bytes, size_t count)
{
    char encoding[ENCODING_MOST + 16];
    iconv_t converter;
    int code;

    if (vti_utf8_good(bytes, count) == count) {
        vti_buf_add(to, bytes, count);
        return to->failed ? VTI_E_NOMEM : 0;
    }
    if (!find_encoding(bytes, count, encoding) || !strcmp(encoding, "utf-8"))
        return vti_fail(VTI_E_DAMAGED, "%s: is not UTF-8 and names no other encoding", name);
    converter = iconv_open("utf-8", encoding);
    if (converter == (iconv_t)-1)
        return vti_fail(VTI_E_DAMAGED, "%s: its encoding '%s' is unknown here", name, encoding);
    code = decode(to, converter, bytes, count);
    iconv_close(converter);
    if (code == VTI_E_DAMAGED)
        return vti_fail(code, "%s: is not in the encoding it names, '%s'", name, encoding);
    return code;
}

/* Lines end with \n, \r\n or \r. */
static int split(struct vti_source_text *source)
{
    const char *text = (const char *)source->text.data;
    size_t len = source->text.len, at = 0, room = 0;

    while (at < len) {
        size_t from = at;

        if (source->count == room) {
            struct vti_source_line *grown;

            room = room ? room * 2 : 256;
            grown = realloc(source->lines, room * sizeof *grown);
            if (!grown)
                return VTI_E_NOMEM;
            source->lines = grown;
        }
        while (at < len && text[at] != '\n' && text[at] != '\r')
            at++;
        source->lines[source->count++] = (struct vti_source_line){text + from, at - from};
        at += at + 1 < len && text[at] == '\r' && text[at + 1] == '\n' ? 2 : 1;
    }
    return 0;
}

int vti_source_text_read(struct vti_source_text *source, const char *name, const char *bytes,
                         size_t count)
{
    int code;

    memset(source, 0, sizeof *source);
    if (count > TEXT_MOST)
        return vti_fail(VTI_E_LIMIT, "%s: larger than %u MB", name, TEXT_MOST >> 20);
    if (count >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
        bytes += 3;
        count -= 3;
    }
    code = count ? take_text(&source->text, name, bytes, count) : 0;
    if (!code)
        code = split(source);
    if (code)
        vti_source_text_fini(source);
    return code == VTI_E_NOMEM ? vti_fail(code, "out of memory") : code;
}

void vti_source_text_fini(struct vti_source_text *source)
{
    vti_buf_fini(&source->text);
    free(source->lines);
    memset(source, 0, sizeof *source);
}

bool vti_source_is_c(const char *file)
{
    static const char *const endings[] = {".c",   ".h",   ".cc", ".cpp", ".cxx", ".hh",
                                          ".hpp", ".hxx", ".C",  ".c++", ".ipp", ".inl"};
    const char *ending = strrchr(file, '.');

    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(ending, endings[i]))
            return true;
    return false;
}
