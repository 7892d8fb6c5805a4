/*
 * settings.c - how this process records, as the environment says it. A value that makes no sense counts
 * as not given: recording with the default is better than not recording, if it is said.
 */
#include "core/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct vti_settings vti_settings;

static void complain(const char *name, const char *value, const char *what)
{
    if (!vti_settings.trouble[0])
        snprintf(vti_settings.trouble, sizeof vti_settings.trouble,
                 "%s is '%.40s', %s: the default holds", name, value, what);
}

/* A number, behind it one of `units` (each 1,024 times the one before), which may be followed by B or
 * iB. False if the text is anything else. */
static bool read_number(const char *text, const char *units, uint64_t most, uint64_t *value)
{
    const char *unit;
    unsigned shift = 0;
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (errno)
        return false;
    unit = *end ? strchr(units, *end | 0x20) : NULL;
    if (unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
        end += !strcmp(end, "B") ? 1 : !strcmp(end, "iB") ? 2 : 0;
    }
    if (*end || *value > most >> shift)
        return false;
    *value <<= shift;
    return true;
}

static uint64_t number_setting(const char *name, const char *units, uint64_t most, const char *what)
{
    const char *text = secure_getenv(name);
    uint64_t value;

    if (!text || !text[0])
        return 0;
    if (read_number(text, units, most, &value))
        return value;
    complain(name, text, what);
    return 0;
}

static uint32_t policy_setting(void)
{
    const char *text = secure_getenv("VENTURI_POLICY");
    uint64_t ms = 0;

    if (!text || !text[0] || !strcmp(text, "drop"))
        return 0;
    if (strncmp(text, "block:", 6))
        complain("VENTURI_POLICY", text, "neither drop nor block:MS");
    else if (!read_number(text + 6, "", UINT32_MAX, &ms))
        complain("VENTURI_POLICY", text, "not a number of milliseconds");
    else
        return (uint32_t)ms;
    return 0;
}

void vti_settings_output(const char *path)
{
    char *to = vti_settings.output;
    size_t room = sizeof vti_settings.output;
    size_t used = 0;

    to[0] = 0;
    if (path[0] != '/' && getcwd(to, room - 1)) {
        used = strlen(to);
        to[used++] = '/';
    }
    if (used + strlen(path) < room)
        memcpy(to + used, path, strlen(path) + 1);
    else
        to[0] = 0;
}

void vti_settings_spool(const char *path, bool is_own)
{
    size_t len;

    vti_settings_output(path);
    len = strlen(vti_settings.output);
    memcpy(vti_settings.spool, vti_settings.output, len + 1);
    if (is_own && len && len + 24 < sizeof vti_settings.output)
        snprintf(vti_settings.output + len, 24, ", process %ld", (long)getpid());
}

/* The environment of a set-user-id program is not trusted (secure_getenv). */
void vti_settings_read(void)
{
    const char *session = secure_getenv("VENTURI_SESSION");
    const char *output = secure_getenv("VENTURI_OUTPUT");
    const char *spool = secure_getenv("VENTURI_SPOOL");

    if (session && strlen(session) < sizeof vti_settings.session)
        memcpy(vti_settings.session, session, strlen(session) + 1);
    if (output && output[0] && !vti_settings.session[0]) {
        vti_settings_output(output);
        vti_settings.is_from_environment = true;
    } else if (spool && spool[0] && !vti_settings.session[0]) {
        vti_settings_spool(spool, false);
        vti_settings.is_from_environment = true;
    }
    vti_settings.spool_limit = number_setting("VENTURI_SPOOL_LIMIT", "kmg", INT64_MAX,
                                              "not a size");
    vti_settings.force = number_setting("VENTURI_FORCE", "", UINT32_MAX, "not a number") != 0;
    vti_settings.buffer_bytes = number_setting("VENTURI_BUFFER", "kmg", INT64_MAX, "not a size");
    vti_settings.ring_seconds = (uint32_t)number_setting("VENTURI_RING", "", UINT32_MAX,
                                                         "not a number of seconds");
    vti_settings.block_ms = policy_setting();
}
