/*
 * document.c - a JSON object of the author's own becomes the members that a record holds: on one line, and valid to the letter.
 *
 * What is not valid is refused here, where its author can be told; stores would refuse it later, or keep it as mere text.
 */
#include "base/error.h"
#include "base/json_check.h"
#include "step/step.h"

#include <string.h>

_Static_assert(VT_STEP_BAD_METRICS == VTI_E_USAGE, "as the header says");

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Blanks between two values become one space, never none: "1 2" must not become a number. In strings nothing changes: a line's end is
 * an error there, and stays one. */
static void add_folded(struct vti_buf *out, const char *text, size_t len)
{
    bool is_in_string = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (is_in_string && c == '\\' && i + 1 < len) {
            vti_buf_add_u8(out, (uint8_t)c);
            c = text[++i];
        } else if (c == '"') {
            is_in_string = !is_in_string;
        } else if (!is_in_string && is_blank(c)) {
            if (i && is_blank(text[i - 1]))
                continue;
            c = ' ';
        }
        vti_buf_add_u8(out, (uint8_t)c);
    }
}

int vti_step_members(struct vti_buf *out, const char *source, const char *json)
{
    const char *begin = json ? json : "";
    const char *end = begin + strlen(begin);

    vti_buf_clear(out);
    while (is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    if (end - begin < 2 || *begin != '{' || end[-1] != '}')
        return vti_fail(VTI_E_USAGE, "%s: metrics are one JSON object, and nothing else", source);
    add_folded(out, begin + 1, (size_t)(end - begin) - 2);
    if (out->failed)
        return vti_fail(VTI_E_NOMEM, "%s: no memory for metrics", source);
    if (out->len && !vti_json_are_members((const char *)out->data, out->len))
        return vti_fail(VTI_E_USAGE,
                        "%s: metrics are not valid JSON in UTF-8, nested less than 256 deep "
                        "(NaN, 01 and a comma before a brace are not)",
                        source);
    return 0;
}
