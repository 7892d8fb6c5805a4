/*
 * ini.c - reads an ini file into a list of entries: one copy of its text, cut where it lies. Bounded by the size of the file; what
 * is not of the format is an error that names its line, as for the readers that these files are written for.
 */
#include "net/ini.h"

#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is being read: `value_end` is where a further line of the value goes. */
struct parser {
    struct vti_ini *ini;
    const char *name;
    const char *section;
    char *value_end; /* NULL: no value is open */
    unsigned line;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Cuts blanks off both ends of the text between `at` and `*end`. */
static char *trim(char *at, char **end)
{
    while (at < *end && is_blank(*at))
        at++;
    while (*end > at && is_blank((*end)[-1]))
        --*end;
    **end = 0;
    return at;
}

static int fail(const struct parser *parser, const char *why)
{
    return vti_fail(VTI_E_DAMAGED, "%s: line %u: %s", parser->name, parser->line, why);
}

static int add_entry(struct vti_ini *ini, const char *section, const char *key, const char *value)
{
    if (ini->count == ini->capacity) {
        size_t capacity = ini->capacity ? 2 * ini->capacity : 64;
        void *grown = reallocarray(ini->entries, capacity, sizeof *ini->entries);

        if (!grown)
            return vti_fail(VTI_E_NOMEM, "an ini file");
        ini->entries = grown;
        ini->capacity = capacity;
    }
    ini->entries[ini->count++] = (struct vti_ini_entry){section, key, value};
    return 0;
}

static int parse_section(struct parser *parser, char *at, char *end)
{
    if (end[-1] != ']')
        return fail(parser, "a section without ]");
    if (end - at <= 2)
        return fail(parser, "a section without a name");
    end[-1] = 0;
    parser->section = at + 1;
    return 0;
}

static int parse_assignment(struct parser *parser, char *at, char *end)
{
    char *middle = at + strcspn(at, ":=");
    char *key_end = middle;
    char *value;

    if (middle == end)
        return fail(parser, "neither a section nor key = value");
    value = trim(middle + 1, &end);
    at = trim(at, &key_end);
    if (!*at)
        return fail(parser, "a value without a key");
    if (!parser->section)
        return fail(parser, "a value before the first section");
    parser->value_end = end;
    return add_entry(parser->ini, parser->section, at, value);
}

/* The value has a further line; it moves down to where the value ends, which is before where it lies. */
static int parse_more(struct parser *parser, char *at, char *end)
{
    if (!parser->value_end)
        return fail(parser, "an indented line that continues nothing");
    *parser->value_end++ = '\n';
    memmove(parser->value_end, at, (size_t)(end - at));
    parser->value_end += end - at;
    *parser->value_end = 0;
    return 0;
}

static int parse_line(struct parser *parser, char *line, char *end)
{
    char *at = trim(line, &end);

    if (*at == '#' || *at == ';')
        return 0;
    if (!*at) {
        parser->value_end = NULL;
        return 0;
    }
    if (at > line)
        return parse_more(parser, at, end);
    parser->value_end = NULL;
    return *at == '[' ? parse_section(parser, at, end) : parse_assignment(parser, at, end);
}

int vti_ini_parse(struct vti_ini *ini, const char *name, const void *bytes, size_t count)
{
    struct parser parser = {.ini = ini, .name = name};
    char *at;
    char *end;
    int code = 0;

    memset(ini, 0, sizeof *ini);
    if (count > VTI_INI_BYTES_MOST)
        return vti_fail(VTI_E_LIMIT, "%s: larger than %u bytes", name, VTI_INI_BYTES_MOST);
    if (count && memchr(bytes, 0, count))
        return vti_fail(VTI_E_DAMAGED, "%s: not a text file", name);
    ini->text = malloc(count + 1);
    if (!ini->text)
        return vti_fail(VTI_E_NOMEM, "%s", name);
    if (count)
        memcpy(ini->text, bytes, count);
    ini->text[count] = 0;
    ini->size = count;
    end = ini->text + count;
    at = ini->text;
    if (count >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
        at += 3;
    while (!code && at < end) {
        char *stop = strchrnul(at, '\n');

        parser.line++;
        code = parse_line(&parser, at, stop);
        at = stop + 1;
    }
    return code;
}

int vti_ini_read(struct vti_ini *ini, const char *path)
{
    struct vti_mapping file;
    int code;

    memset(ini, 0, sizeof *ini);
    code = vti_mapping_open(&file, path);
    if (code)
        return code;
    code = vti_ini_parse(ini, path, file.data, file.size);
    vti_mapping_close(&file);
    return code;
}

void vti_ini_close(struct vti_ini *ini)
{
    free(ini->entries);
    if (ini->text) /* it may hold secrets */
        explicit_bzero(ini->text, ini->size);
    free(ini->text);
    memset(ini, 0, sizeof *ini);
}

const char *vti_ini_get(const struct vti_ini *ini, const char *section, const char *key)
{
    for (size_t i = ini->count; i-- > 0;)
        if (!strcasecmp(ini->entries[i].section, section) && !strcasecmp(ini->entries[i].key, key))
            return ini->entries[i].value;
    return NULL;
}
