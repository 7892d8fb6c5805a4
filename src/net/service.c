/*
 * service.c - [profiler] of a service's ini file, and the log that goes with it. What the file has that is wrong is an error with
 * its place; what is not known is said. Values of secrets are in no message.
 */
#include "base/error.h"
#include "net/ini.h"
#include "net/log.h"
#include "net/say.h"
#include "net/store_session.h"

#include <venturi/service.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum type { BOOLEAN, NUMBER, SECONDS, TEXT, KEYS };

struct option {
    const char *name;
    const char *old_name; /* or NULL */
    enum type type;
    size_t offset;    /* of where it is kept */
    size_t room;      /* of TEXT */
    const char *text; /* what it is unless the file says so */
};

#define AT(member) offsetof(struct vt_service, member)
#define TEXT_AT(member) TEXT, AT(member), sizeof((struct vt_service *)0)->member

static const struct option options[] = {
    {"enabled", "profiler_enabled", BOOLEAN, AT(is_enabled), 0, "False"},
    {"hmac_keys", NULL, KEYS, AT(keys), 0, ""},
    {"connection_string", NULL, TEXT_AT(connection_string), "messaging://"},
    {"filter_error_trace", NULL, BOOLEAN, AT(filter_error_trace), 0, "False"},
    {"trace_sqlalchemy", NULL, BOOLEAN, AT(trace_sqlalchemy), 0, "False"},
    {"trace_requests", NULL, BOOLEAN, AT(trace_requests), 0, "False"},
    {"es_doc_type", NULL, TEXT_AT(es_doc_type), "notification"},
    {"es_scroll_time", NULL, TEXT_AT(es_scroll_time), "2m"},
    {"es_scroll_size", NULL, NUMBER, AT(es_scroll_size), 0, "10000"},
    {"socket_timeout", NULL, SECONDS, AT(socket_timeout), 0, "0.1"},
    {"sentinel_service_name", NULL, TEXT_AT(sentinel_service_name), "mymaster"},
    {"profiler_log_name", NULL, TEXT_AT(log_name), "profiler_trace"},
};
#define OPTIONS (sizeof options / sizeof options[0])

static const struct vt_service *log_owner;   /* the service whose log is open */
static const struct vt_service *store_owner; /* the one whose spans go to a store */

/* ---- values ---------------------------------------------------------------------------------- */

static bool read_boolean(const char *text, int *value)
{
    static const char *const words[] = {"false", "true", "0", "1", "off", "on", "no", "yes"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!strcasecmp(text, words[i])) {
            *value = i % 2;
            return true;
        }
    }
    return false;
}

static bool read_number(const char *text, int *value)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    *value = (int)number;
    return end != text && !*end && !errno && number >= INT_MIN && number <= INT_MAX;
}

static bool read_seconds(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && !*end && *value >= 0 && isfinite(*value);
}

/* NULL if the value is of its type, else what it should be. */
static const char *set(struct vt_service *service, const struct option *option, const char *text)
{
    void *at = (char *)service + option->offset;
    size_t len = strlen(text);

    switch (option->type) {
    case BOOLEAN:
        return read_boolean(text, at) ? NULL : "True or False";
    case NUMBER:
        return read_number(text, at) ? NULL : "a whole number";
    case SECONDS:
        return read_seconds(text, at) ? NULL : "a number of seconds";
    case TEXT:
        if (len >= option->room)
            return "a shorter text";
        memcpy(at, text, len + 1);
        return NULL;
    case KEYS:
        break;
    }
    service->keys = vt_keys_new(text);
    return service->keys ? NULL : "what fits into memory";
}

/* oslo.config leaves one pair of quotes out. The text is cut where it lies. */
static const char *unquoted(const char *text, char *room, size_t size)
{
    size_t len = strlen(text);

    if (len < 2 || len - 1 > size || (text[0] != '"' && text[0] != '\'') ||
        text[len - 1] != text[0])
        return text;
    memcpy(room, text + 1, len - 2);
    room[len - 2] = 0;
    return room;
}

static int set_option(struct vt_service *service, const struct option *option,
                      const struct vti_ini *ini, const char *path)
{
    const char *text = vti_ini_get(ini, "profiler", option->name);
    const char *wanted;
    char room[1024];

    if (!text && option->old_name)
        text = vti_ini_get(ini, "profiler", option->old_name);
    text = unquoted(text ? text : option->text, room, sizeof room);
    wanted = set(service, option, text);
    explicit_bzero(room, sizeof room);
    if (wanted)
        return vti_fail(VTI_E_DAMAGED, "%s: [profiler] %s has to be %s", path, option->name,
                        wanted);
    return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void name_unknown(const struct vti_ini *ini, const char *path)
{
    for (size_t i = 0; i < ini->count; i++) {
        const struct vti_ini_entry *entry = &ini->entries[i];
        bool is_known = strcasecmp(entry->section, "profiler") != 0;

        for (size_t j = 0; j < OPTIONS; j++)
            is_known |= !strcasecmp(entry->key, options[j].name) ||
                        (options[j].old_name && !strcasecmp(entry->key, options[j].old_name));
        if (!is_known)
            vti_say("%s: [profiler] %s is not known here", path, entry->key);
    }
}

static int read_settings(struct vt_service *service, const struct vti_ini *ini, const char *path)
{
    vt_keys *none;
    int code = 0;

    for (size_t i = 0; i < OPTIONS && !code; i++)
        code = set_option(service, &options[i], ini, path);
    if (code)
        return code;
    name_unknown(ini, path);
    if (service->is_enabled) {
        if (!vti_ini_get(ini, "profiler", "hmac_keys"))
            vti_say("%s: [profiler] has no hmac_keys: no request can start a trace", path);
        return 0;
    }
    none = vt_keys_new(NULL);
    if (!none)
        return vti_fail(VTI_E_NOMEM, "%s", path);
    vt_keys_free(service->keys);
    service->keys = none;
    return 0;
}

/* Beside the ini file, else from the working directory. */
static int open_log(const struct vt_service *service, const char *path, const char *log_config)
{
    const char *slash = strrchr(path, '/');
    char beside[PATH_MAX];
    bool is_open = false;
    int code;
    int len;

    len = snprintf(beside, sizeof beside, "%.*s%s",
                   log_config[0] == '/' || !slash ? 0 : (int)(slash - path + 1), path, log_config);
    if (len >= (int)sizeof beside || access(beside, F_OK))
        code = vti_log_open(log_config, service->log_name, &is_open);
    else
        code = vti_log_open(beside, service->log_name, &is_open);
    if (is_open)
        log_owner = service;
    return code;
}

int vt_service_open(struct vt_service *service, const char *path, char *error, size_t room)
{
    struct vti_ini ini;
    const char *log_config;
    char unquoted_room[PATH_MAX];
    int code;

    memset(service, 0, sizeof *service);
    code = vti_ini_read(&ini, path);
    if (!code)
        code = read_settings(service, &ini, path);
    log_config = code ? NULL : vti_ini_get(&ini, "DEFAULT", "log_config_append");
    if (log_config && *log_config && service->is_enabled)
        code = open_log(service, path, unquoted(log_config, unquoted_room, sizeof unquoted_room));
    vti_ini_close(&ini);
    if (code) {
        snprintf(error, room, "%s", vti_error_message(code));
        vti_say_harmless(error, room ? strlen(error) : 0);
        vt_keys_free(service->keys);
        memset(service, 0, sizeof *service);
    } else if (service->is_enabled && !store_owner &&
               vti_store_is_known(service->connection_string) &&
               vti_store_session_start(service->connection_string)) {
        store_owner = service;
    }
    return code;
}

void vt_service_close(struct vt_service *service)
{
    if (log_owner == service) {
        log_owner = NULL;
        vti_log_close();
    }
    if (store_owner == service) {
        store_owner = NULL;
        vti_store_session_stop();
    }
    vt_keys_free(service->keys);
    memset(service, 0, sizeof *service);
}

uint64_t vt_service_lost(void)
{
    return vti_log_lost();
}
