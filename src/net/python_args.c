/* python_args.c - reads literals of Python. Nothing is evaluated: what is no literal is refused. */
#include "net/python_args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool take(const char **at, char c)
{
    while (isspace((unsigned char)**at))
        ++*at;
    if (**at != c || !c)
        return false;
    ++*at;
    return true;
}

static char escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '\\':
    case '\'':
    case '"':
        return c;
    }
    return 0;
}

static bool read_text(struct vti_python_arg *arg, const char **at, bool is_raw)
{
    char quote = *(*at)++;
    size_t len = 0;

    for (; **at && **at != quote; ++*at) {
        char c = **at;

        if (c == '\\' && !is_raw) {
            c = escaped(*++*at);
            if (!c)
                return false;
        }
        if (len + 1 >= sizeof arg->text)
            return false;
        arg->text[len++] = c;
    }
    arg->text[len] = 0;
    arg->kind = VTI_PYTHON_TEXT_ARG;
    return take(at, quote);
}

static bool read_number(struct vti_python_arg *arg, const char **at)
{
    arg->kind = VTI_PYTHON_NUMBER;
    arg->number = 1;
    do {
        char *end;
        long long factor;

        while (isspace((unsigned char)**at))
            ++*at;
        factor = strtoll(*at, &end, 10);
        if (end == *at || __builtin_mul_overflow(arg->number, factor, &arg->number))
            return false;
        *at = end;
    } while (take(at, '*'));
    return true;
}

static bool read_word(struct vti_python_arg *arg, const char **at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.";
    size_t len = strspn(*at, letters);

    if (!len || len >= sizeof arg->text)
        return false;
    memcpy(arg->text, *at, len);
    arg->text[len] = 0;
    *at += len;
    arg->kind = VTI_PYTHON_NUMBER;
    arg->number = !strcmp(arg->text, "True");
    if (arg->number || !strcmp(arg->text, "False"))
        return true;
    arg->kind = VTI_PYTHON_NOTHING;
    if (!strcmp(arg->text, "None"))
        return true;
    arg->kind = VTI_PYTHON_WORD;
    return !strcmp(arg->text, "sys.stdout") || !strcmp(arg->text, "sys.stderr");
}

static bool read_value(struct vti_python_arg *arg, const char **at)
{
    bool is_raw;

    while (isspace((unsigned char)**at))
        ++*at;
    is_raw = **at == 'r' || **at == 'R';
    if ((is_raw || **at == 'u') && ((*at)[1] == '"' || (*at)[1] == '\''))
        ++*at;
    if (**at == '"' || **at == '\'')
        return read_text(arg, at, is_raw);
    if (**at == '-' || isdigit((unsigned char)**at))
        return read_number(arg, at);
    return read_word(arg, at);
}

static bool at_end(const char *at)
{
    return at[strspn(at, " \t\r\n")] == 0;
}

static bool read_tuple(struct vti_python_arg *args, size_t count, const char *at)
{
    size_t i = 0;

    if (!take(&at, '('))
        return false;
    while (!take(&at, ')')) {
        if (i == count || !read_value(&args[i++], &at))
            return false;
        if (!take(&at, ','))
            return take(&at, ')') && at_end(at);
    }
    return at_end(at);
}

static bool read_dict(struct vti_python_arg *args, const char *const *names, size_t count,
                      const char *at)
{
    struct vti_python_arg key;

    if (!take(&at, '{'))
        return false;
    while (!take(&at, '}')) {
        size_t i = 0;

        if (!read_value(&key, &at) || key.kind != VTI_PYTHON_TEXT_ARG || !take(&at, ':'))
            return false;
        while (i < count && strcmp(names[i], key.text))
            i++;
        if (i == count || !read_value(&args[i], &at))
            return false;
        if (!take(&at, ','))
            return take(&at, '}') && at_end(at);
    }
    return at_end(at);
}

bool vti_python_args(struct vti_python_arg *args, const char *const *names, size_t count,
                     const char *tuple, const char *dict)
{
    for (size_t i = 0; i < count; i++)
        args[i].kind = VTI_PYTHON_NOTHING;
    return (!tuple || read_tuple(args, count, tuple)) &&
           (!dict || read_dict(args, names, count, dict));
}
