/* fetch.c - what all ways of reading have in common: the recording that notifications become, its limits, words for traces. */
#include "store/fetch.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

int vti_fetch_begin(struct vti_fetch *fetch)
{
    int code = vti_import_open(&fetch->target, fetch->to, true, fetch->settings.is_stopped);

    if (code)
        return code;
    fetch->is_open = true;
    code = vti_notifications_init(&fetch->all, &fetch->target);
    fetch->all.keeps_facts = true;
    return code;
}

int vti_fetch_add(struct vti_fetch *fetch, const char *text, size_t len)
{
    if (fetch->events >= VTI_FETCH_EVENTS || fetch->bytes + len > VTI_FETCH_BYTES)
        return 1;
    fetch->events++;
    fetch->bytes += len;
    if (len > VTI_FETCH_EVENT_MOST) {
        fetch->too_long++;
        return 0;
    }
    return vti_notifications_text(&fetch->all, text, len);
}

int vti_fetch_write(struct vti_fetch *fetch)
{
    struct vti_import_input input = {.path = fetch->settings.shown,
                                     .is_stopped = fetch->settings.is_stopped};
    struct vti_writer_stats stats;
    int code = 0;

    if (!fetch->all.list.count)
        code = fetch->events && !fetch->all.foreign
                   ? vti_fail(VTI_E_EMPTY, "%s: nothing there is a notification that can be used",
                              fetch->settings.shown)
                   : vti_fail(VTI_E_NOT_FOUND, "%s: holds no such trace%s", fetch->settings.shown,
                              fetch->what == VTI_FETCH_SHOW
                                  ? " (venturi trace list --from shows all)"
                                  : "");
    if (!code)
        code = vti_notifications_write(&fetch->all, &input);
    if (!code && fetch->target.note[0] && !fetch->note[0])
        snprintf(fetch->note, sizeof fetch->note, "%s", fetch->target.note);
    if (!code && fetch->too_long && !fetch->note[0])
        snprintf(fetch->note, sizeof fetch->note, "notifications of more than 4 MB, not used: %llu",
                 (unsigned long long)fetch->too_long);
    if (code)
        return code;
    fetch->is_open = false;
    return vti_import_commit(&fetch->target, &stats);
}

void vti_fetch_fini(struct vti_fetch *fetch)
{
    vti_notifications_fini(&fetch->all);
    if (fetch->is_open)
        vti_import_abandon(&fetch->target);
    fetch->is_open = false;
    vti_settings_fini(&fetch->settings);
}

/* ---- words ----------------------------------------------------------------------------------- */

bool vti_fetch_is_prefix(const char *word, char prefix[VTI_UUID_TEXT])
{
    size_t len = 0;

    for (; *word; word++) {
        if (*word == '-')
            continue;
        if (!isxdigit((unsigned char)*word) || len >= VTI_UUID_TEXT - 1)
            return false;
        if (len == 8 || len == 13 || len == 18 || len == 23)
            prefix[len++] = '-';
        prefix[len++] = (char)tolower((unsigned char)*word);
    }
    prefix[len] = 0;
    return len > 0;
}

bool vti_fetch_is_id(const char *word, char text[VTI_UUID_TEXT])
{
    return vti_fetch_is_prefix(word, text) && strlen(text) == VTI_UUID_TEXT - 1;
}
