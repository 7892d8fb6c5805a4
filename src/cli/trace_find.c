/* trace_find.c - which trace `venturi trace show` is asked for: by its id, the beginning of one, or as the last or slowest. */
#include "base/uuid.h"
#include "cli/cmd.h"
#include "cli/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The digits of what may be the beginning of an id, without dashes; false: it is none. */
static bool take_prefix(const char *word, char digits[VTI_UUID_HEX])
{
    size_t count = 0;

    for (; *word; word++) {
        if (*word == '-')
            continue;
        if (!isxdigit((unsigned char)*word) || count == VTI_UUID_HEX - 1)
            return false;
        digits[count++] = (char)tolower((unsigned char)*word);
    }
    digits[count] = 0;
    return count > 0;
}

static size_t match_prefix(const struct vti_trace_bases *bases, const char *digits,
                           uint8_t base[16])
{
    size_t found = 0;

    for (size_t i = 0; i < bases->count; i++) {
        char hex[VTI_UUID_HEX];

        vti_uuid_hex(bases->list[i].base, hex);
        if (strncmp(hex, digits, strlen(digits)))
            continue;
        memcpy(base, bases->list[i].base, 16);
        found++;
    }
    return found;
}

/* With clocks put right, as the list shows them. */
static int find_slowest(uint8_t base[16], vt_recording *const *recordings, size_t count)
{
    const struct vti_trace *slowest = NULL;
    struct vti_traces traces;
    int code = vti_traces_load(&traces, recordings, count, NULL);

    if (code)
        return vti_cmd_error("trace", code);
    slowest = vti_traces_slowest(&traces);
    if (slowest)
        memcpy(base, slowest->base, 16);
    else
        code = vti_cmd_fail("trace", "slowest: there are no traces in the files");
    vti_traces_fini(&traces);
    return code;
}

int vti_trace_find(uint8_t base[16], const char *word, vt_recording *const *recordings,
                   size_t count)
{
    struct vti_trace_bases bases;
    char digits[VTI_UUID_HEX];
    size_t found;
    int code;

    if (!strcmp(word, "slowest"))
        return find_slowest(base, recordings, count);
    if (take_prefix(word, digits) && strlen(digits) == VTI_UUID_HEX - 1) {
        vti_uuid_parse(base, word, strlen(word));
        return 0;
    }
    code = vti_traces_bases(&bases, recordings, count);
    if (code)
        return vti_cmd_error("trace", code);
    if (!strcmp(word, "last") && bases.count) {
        memcpy(base, bases.list[bases.count - 1].base, 16);
    } else {
        found = take_prefix(word, digits) ? match_prefix(&bases, digits, base) : 0;
        if (found > 1)
            code = vti_cmd_fail("trace", "%s: %zu traces begin so, say more of the id", word,
                                found);
        else if (!found)
            vti_uuid_parse(base, word, strlen(word));
    }
    free(bases.list);
    return code;
}
