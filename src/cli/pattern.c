/*
 * pattern.c - a regular expression of Python becomes one of POSIX.
 *
 * Classes like \d, groups without a number, lazy repetition and braces that stand for themselves are
 * translated; what has no translation is refused, never guessed.
 */
#include "cli/pattern.h"

#include "base/buf.h"
#include "base/error.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct translation {
    const char *python; /* all of it, … */
    const char *at;     /* … and how far we are */
    struct vti_buf out;
    int flags;
    bool can_repeat; /* a quantifier may follow */
};

static int unsupported(const struct translation *to, const char *what)
{
    return vti_fail(
        VTI_E_LIMIT,
        "'%s': regular expressions have no %s here (those of venturi.Stats in Python do)",
        to->python, what);
}

/* What a class letter stands for within brackets, or NULL. */
static const char *class_of(char letter)
{
    switch (letter) {
    case 'd':
        return "0-9";
    case 'w':
        return "[:alnum:]_";
    case 's':
        return "[:space:]";
    default:
        return NULL;
    }
}

static char control_of(char letter)
{
    static const char letters[] = "nrtfva";
    static const char controls[] = "\n\r\t\f\v\a";
    const char *found = memchr(letters, letter, sizeof letters - 1);

    return found ? controls[found - letters] : 0;
}

static int add_escape(struct translation *to)
{
    char letter = *++to->at;

    if (!letter)
        return VTI_E_USAGE;
    to->at++;
    to->can_repeat = true;
    if (class_of(letter)) {
        vti_buf_printf(&to->out, "[%s]", class_of(letter));
    } else if (class_of((char)tolower((unsigned char)letter))) {
        vti_buf_printf(&to->out, "[^%s]", class_of((char)tolower((unsigned char)letter)));
    } else if (letter == 'A' || letter == 'Z') {
        vti_buf_add_u8(&to->out, letter == 'A' ? '^' : '$');
    } else if (letter == 'b' || letter == 'B') {
        vti_buf_printf(&to->out, "\\%c", letter);
    } else if (control_of(letter)) {
        vti_buf_add_u8(&to->out, (uint8_t)control_of(letter));
    } else if (isalnum((unsigned char)letter)) {
        return isdigit((unsigned char)letter) ? unsupported(to, "back references") : VTI_E_USAGE;
    } else {
        if (strchr(".[]{}()*+?^$|\\", letter))
            vti_buf_add_u8(&to->out, '\\');
        vti_buf_add_u8(&to->out, (uint8_t)letter);
    }
    return 0;
}

/* One character of a bracket expression; in POSIX a backslash is nothing special there. */
static int add_member(struct translation *to, struct vti_buf *members)
{
    char letter = *to->at++;

    if (letter == '\\') {
        letter = *to->at++;
        if (!letter)
            return VTI_E_USAGE;
        if (class_of(letter)) {
            vti_buf_add_text(members, class_of(letter));
            return 0;
        }
        if (class_of((char)tolower((unsigned char)letter)))
            return unsupported(to, "classes like [\\W]");
        if (control_of(letter))
            letter = control_of(letter);
        else if (isalnum((unsigned char)letter))
            return VTI_E_USAGE;
    }
    vti_buf_add_u8(members, (uint8_t)letter);
    return 0;
}

/* ']' must come first, '^' must not, '-' must come last unless it makes a range, '[' is free. */
static int add_bracket(struct translation *to)
{
    struct vti_buf members = {0};
    bool has_close = false;
    bool has_dash = false;
    bool has_caret = false;
    bool is_negated;
    int code = 0;
    const char *first;

    to->at++;
    is_negated = *to->at == '^';
    to->at += is_negated;
    for (first = to->at; !code && (*to->at != ']' || to->at == first);) {
        bool is_escaped = to->at[0] == '\\';
        char letter = is_escaped ? to->at[1] : to->at[0];

        if (!*to->at) {
            code = VTI_E_USAGE;
        } else if (letter == ']' || letter == '^' ||
                   (letter == '-' && (is_escaped || to->at == first || to->at[1] == ']'))) {
            has_close |= letter == ']';
            has_caret |= letter == '^';
            has_dash |= letter == '-';
            to->at += 1 + is_escaped;
        } else {
            code = add_member(to, &members);
        }
    }
    if (!code) {
        to->at++;
        if (has_caret && !has_close && !is_negated && !members.len)
            vti_buf_add_text(&to->out, has_dash ? "[-^]" : "\\^");
        else
            vti_buf_printf(&to->out, "[%s%s%.*s%s%s]", is_negated ? "^" : "", has_close ? "]" : "",
                           (int)members.len, members.len ? (const char *)members.data : "",
                           has_caret ? "^" : "", has_dash ? "-" : "");
    }
    to->can_repeat = true;
    vti_buf_fini(&members);
    return code;
}

/* {3}, {3,}, {,3}, {3,4}: how long; 0: the brace stands for itself. */
static size_t interval_length(const char *at)
{
    size_t len = 1;
    size_t digits;

    digits = strspn(at + len, "0123456789");
    len += digits;
    if (at[len] == ',') {
        size_t more = strspn(at + len + 1, "0123456789");

        digits += more;
        len += 1 + more;
    }
    return at[len] == '}' && digits ? len + 1 : 0;
}

static int add_quantifier(struct translation *to)
{
    size_t len = *to->at == '{' ? interval_length(to->at) : 1;

    if (!len) {
        vti_buf_add_text(&to->out, "\\{");
        to->at++;
        to->can_repeat = true;
        return 0;
    }
    if (!to->can_repeat)
        return VTI_E_USAGE;
    if (!strncmp(to->at, "{,", 2))
        vti_buf_printf(&to->out, "{0%.*s", (int)len - 1, to->at + 1);
    else
        vti_buf_add(&to->out, to->at, len);
    to->at += len;
    if (*to->at == '?')
        to->at++;
    else if (*to->at == '+')
        return unsupported(to, "possessive quantifiers");
    to->can_repeat = false;
    return 0;
}

static int add_group(struct translation *to)
{
    to->can_repeat = false;
    if (!strncmp(to->at, "(?i)", 4) && !to->out.len) {
        to->flags |= REG_ICASE;
        to->at += 4;
        return 0;
    }
    if (!strncmp(to->at, "(?:", 3))
        to->at += 3;
    else if (!strncmp(to->at, "(?P<", 4) && strchr(to->at, '>'))
        to->at = strchr(to->at, '>') + 1;
    else if (to->at[1] == '?' && to->at[2] && strchr("=!<", to->at[2]))
        return unsupported(to, "looking ahead or back");
    else if (to->at[1] == '?')
        return unsupported(to, "groups that begin with (?");
    else
        to->at++;
    vti_buf_add_u8(&to->out, '(');
    return 0;
}

static int add_next(struct translation *to)
{
    switch (*to->at) {
    case '\\':
        return add_escape(to);
    case '[':
        return add_bracket(to);
    case '(':
        return add_group(to);
    case '*':
    case '+':
    case '?':
    case '{':
        return add_quantifier(to);
    case '}':
        vti_buf_add_text(&to->out, "\\}");
        to->at++;
        to->can_repeat = true;
        return 0;
    default:
        to->can_repeat = *to->at != '|';
        vti_buf_add_u8(&to->out, (uint8_t)*to->at++);
        return 0;
    }
}

int vti_pattern_compile(regex_t *regex, const char *python)
{
    struct translation to = {.python = python, .at = python, .flags = REG_EXTENDED | REG_NOSUB};
    int code = 0;

    while (!code && *to.at)
        code = add_next(&to);
    vti_buf_add_u8(&to.out, 0);
    if (!code && to.out.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code && regcomp(regex, (const char *)to.out.data, to.flags))
        code = VTI_E_USAGE;
    vti_buf_fini(&to.out);
    return code;
}
