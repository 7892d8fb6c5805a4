/*
 * logging_config.c - follows a logger through a logging configuration: its level, its handlers, and on to those above it unless
 * it does not propagate. A file that Python would refuse is an error; what only Python can do is said and left out.
 */
#include "net/logging_config.h"

#include "base/error.h"
#include "net/log_format.h"
#include "net/python_args.h"
#include "net/say.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECTION_ROOM 256
#define ROOT_LEVEL 30 /* WARNING, unless the file says another */
#define DEPTH_MOST 32 /* loggers from one to the root */

struct loader {
    struct vti_logging *logging;
    const struct vti_ini *ini;
    const char *name;
    struct vti_buf *notes;
};

/* ---- lists and sections ---------------------------------------------------------------------- */

/* The next item of a list with commas, without the blanks around it; false after the last one. Empty ones are left out. */
static bool next_item(const char **list, const char **item, size_t *len)
{
    while (*list && **list) {
        const char *at = *list;
        size_t count = strcspn(at, ",");

        *list = at + count + (at[count] == ',');
        while (count && isspace((unsigned char)*at)) {
            at++;
            count--;
        }
        while (count && isspace((unsigned char)at[count - 1]))
            count--;
        if (count) {
            *item = at;
            *len = count;
            return true;
        }
    }
    return false;
}

/* A value of the section PREFIX_ITEM. */
static const char *get(const struct loader *loader, const char *prefix, const char *item,
                       size_t len, const char *key)
{
    char section[SECTION_ROOM];

    snprintf(section, sizeof section, "%s_%.*s", prefix, (int)len, item);
    return vti_ini_get(loader->ini, section, key);
}

static int level_of(const struct loader *loader, const char *text, int *level)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"NOTSET", 0},   {"DEBUG", 10}, {"INFO", 20},  {"WARN", 30},
                  {"WARNING", 30}, {"ERROR", 40}, {"FATAL", 50}, {"CRITICAL", 50}};

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (!strcmp(levels[i].name, text)) {
            *level = levels[i].level;
            return 0;
        }
    }
    return vti_fail(VTI_E_DAMAGED, "%s: unknown level '%.60s'", loader->name, text);
}

/* ---- handlers -------------------------------------------------------------------------------- */

static bool is_class(const char *class, const char *name)
{
    if (!strncmp(class, "logging.", 8))
        class += 8;
    return !strcmp(class, name);
}

/* Names in a line of the notes, which begins at `from`, may be anything. */
static void end_note(const struct loader *loader, size_t from)
{
    struct vti_buf *notes = loader->notes;

    if (notes->len > from)
        vti_say_harmless((char *)notes->data + from, notes->len - from);
    vti_buf_add_u8(notes, '\n');
}

static int cannot(const struct loader *loader, const char *what, const char *item, size_t len,
                  const char *why)
{
    size_t from = loader->notes->len;

    vti_buf_printf(loader->notes, "venturi: %s: %s %.*s is left out: %s", loader->name, what,
                   (int)len, item, why);
    end_note(loader, from);
    return 0;
}

static void read_format(const struct loader *loader, const char *formatter,
                        struct vti_log_spec *spec)
{
    size_t formatter_len = formatter ? strlen(formatter) : 0;
    const char *unknown;
    size_t len;

    spec->format = "%(message)s";
    spec->date = NULL;
    if (!formatter_len)
        return;
    spec->date = get(loader, "formatter", formatter, formatter_len, "datefmt");
    unknown = get(loader, "formatter", formatter, formatter_len, "format");
    if (unknown)
        spec->format = unknown;
    unknown = vti_log_format_check(spec->format, &len);
    if (unknown) {
        size_t from = loader->notes->len;

        vti_buf_printf(loader->notes, "venturi: %s: formatter %s: %.*s has no meaning here",
                       loader->name, formatter, (int)len, unknown);
        end_note(loader, from);
    }
}

/* Arguments of the three kinds of files; false if they are not understood. */
static bool read_file_args(struct vti_log_spec *spec, const char *tuple, const char *dict)
{
    static const char *const plain[] = {"filename", "mode", "encoding", "delay", "errors"};
    static const char *const rotating[] = {"filename", "mode",  "maxBytes", "backupCount",
                                           "encoding", "delay", "errors"};
    struct vti_python_arg args[7];
    bool is_rotating = spec->kind == VTI_LOG_ROTATING;

    if (!vti_python_args(args, is_rotating ? rotating : plain, is_rotating ? 7 : 5, tuple, dict) ||
        args[0].kind != VTI_PYTHON_TEXT_ARG || !args[0].text[0])
        return false;
    _Static_assert(sizeof spec->path == sizeof args[0].text, "a path is a text of Python");
    memcpy(spec->path, args[0].text, sizeof spec->path);
    spec->truncates = args[1].kind == VTI_PYTHON_TEXT_ARG && args[1].text[0] == 'w';
    if (is_rotating) {
        spec->bytes_most = args[2].kind == VTI_PYTHON_NUMBER ? args[2].number : 0;
        spec->backups = args[3].kind == VTI_PYTHON_NUMBER ? args[3].number : 0;
        spec->truncates = spec->truncates && spec->bytes_most <= 0; /* as Python */
    }
    return true;
}

static bool read_stream_args(struct vti_log_spec *spec, const char *tuple, const char *dict)
{
    static const char *const names[] = {"stream"};
    struct vti_python_arg arg;

    if (!vti_python_args(&arg, names, 1, tuple, dict) ||
        (arg.kind != VTI_PYTHON_WORD && arg.kind != VTI_PYTHON_NOTHING))
        return false;
    spec->kind = arg.kind == VTI_PYTHON_WORD && !strcmp(arg.text, "sys.stdout") ? VTI_LOG_STDOUT
                                                                                : VTI_LOG_STDERR;
    return true;
}

static int add_handler(struct loader *loader, const char *item, size_t len)
{
    struct vti_logging *logging = loader->logging;
    struct vti_log_spec *spec = &logging->specs[logging->count];
    const char *class = get(loader, "handler", item, len, "class");
    const char *level_text = get(loader, "handler", item, len, "level");
    const char *tuple = get(loader, "handler", item, len, "args");
    const char *dict = get(loader, "handler", item, len, "kwargs");
    int level = 0;
    bool is_known;

    if (!class)
        return vti_fail(VTI_E_DAMAGED, "%s: no class for handler '%.*s'", loader->name, (int)len,
                        item);
    if (level_text && *level_text && level_of(loader, level_text, &level))
        return VTI_E_DAMAGED;
    if (level > VTI_LOG_INFO || is_class(class, "NullHandler"))
        return 0;
    if (logging->count == VTI_LOG_HANDLERS_MOST)
        return cannot(loader, "handler", item, len, "there are too many");
    memset(spec, 0, sizeof *spec);
    if (is_class(class, "StreamHandler")) {
        is_known = read_stream_args(spec, tuple, dict);
    } else {
        if (is_class(class, "handlers.RotatingFileHandler"))
            spec->kind = VTI_LOG_ROTATING;
        else if (is_class(class, "handlers.WatchedFileHandler"))
            spec->kind = VTI_LOG_WATCHED;
        else if (!is_class(class, "FileHandler"))
            return cannot(loader, "handler", item, len, "its class is not known here");
        is_known = read_file_args(spec, tuple, dict);
    }
    if (!is_known)
        return cannot(loader, "handler", item, len, "its args are not understood here");
    read_format(loader, get(loader, "handler", item, len, "formatter"), spec);
    logging->count++;
    return 0;
}

/* ---- loggers --------------------------------------------------------------------------------- */

/* The item of [loggers] whose section has this name (NULL: the root). */
static bool find_logger(const struct loader *loader, const char *name, size_t name_len,
                        const char **item, size_t *len)
{
    const char *keys = vti_ini_get(loader->ini, "loggers", "keys");

    while (next_item(&keys, item, len)) {
        bool is_root = *len == 4 && !memcmp(*item, "root", 4);
        const char *qualname = is_root ? NULL : get(loader, "logger", *item, *len, "qualname");

        if (!name ? is_root
                  : qualname && strlen(qualname) == name_len && !memcmp(qualname, name, name_len))
            return true;
    }
    return false;
}

static int add_handlers(struct loader *loader, const char *logger, size_t logger_len)
{
    const char *handlers = get(loader, "logger", logger, logger_len, "handlers");
    const char *item;
    size_t len;
    int code = 0;

    while (!code && next_item(&handlers, &item, &len))
        code = add_handler(loader, item, len);
    return code;
}

/* "a.b.c" becomes "a.b" becomes "a" becomes NULL, the root. */
static const char *parent_of(const char *name, size_t *len)
{
    while (*len && name[*len - 1] != '.')
        --*len;
    if (!*len)
        return NULL;
    --*len;
    return name;
}

int vti_logging_load(struct vti_logging *logging, const struct vti_ini *ini, const char *name,
                     const char *logger, struct vti_buf *notes)
{
    struct loader loader = {logging, ini, name, notes};
    size_t logger_len = strlen(logger);
    int level = -1; /* the first that is set, on the way up */
    bool propagates = true;
    int code = 0;

    logging->count = 0;
    for (int depth = 0; depth < DEPTH_MOST && !code; depth++) {
        const char *item;
        size_t len;

        if (find_logger(&loader, logger, logger_len, &item, &len)) {
            const char *text = get(&loader, "logger", item, len, "level");
            const char *propagate = get(&loader, "logger", item, len, "propagate");

            if (level < 0 && text && *text)
                code = level_of(&loader, text, &level);
            if (level == 0 && logger)
                level = -1; /* NOTSET: that of the one above; the root's lets all pass */
            if (!code && propagates)
                code = add_handlers(&loader, item, len);
            propagates = propagates && !(propagate && strtol(propagate, NULL, 10) == 0);
        }
        if (!logger)
            break;
        logger = parent_of(logger, &logger_len);
    }
    if (!code && (level < 0 ? ROOT_LEVEL : level) > VTI_LOG_INFO)
        logging->count = 0;
    return code;
}
