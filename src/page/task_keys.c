/*
 * task_keys.c - the keys of tasks: "('sum-1f3a', 3, 17)" is "('sum-1f3a', #, #)" with 3 and 17.
 *
 * Only what comes back letter by letter is taken apart: numbers without zeros in front that a browser can hold, and no keys in
 * which the mark itself occurs.
 */
#include "page/task_keys.h"

#include <string.h>

#define MARK '\001'
#define DIGITS_MOST 9
#define KEY_MOST 512 /* longer ones stay as they are */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What belongs to one word with a digit beside it: a token such as 1f3a is no number. */
static bool is_of_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || (c & 0x80);
}

/* Length of the number that begins here, 0: it is none. */
static size_t number_at(const char *text, const char *at, uint64_t *number)
{
    size_t len = 0;

    if (!is_digit(*at) || (at > text && is_of_word(at[-1])))
        return 0;
    *number = 0;
    for (; is_digit(at[len]) && len <= DIGITS_MOST; len++)
        *number = *number * 10 + (uint64_t)(at[len] - '0');
    return len > DIGITS_MOST || is_of_word(at[len]) || (*at == '0' && len > 1) ? 0 : len;
}

void vti_task_key_take(struct vti_task_key *key, struct vti_page *page, const struct vti_task *task)
{
    char form[KEY_MOST];
    size_t len = 0;
    unsigned count = 0;

    *key = (struct vti_task_key){0};
    if (!*task->key) {
        key->text = vti_page_bytes(page, (const char[]){MARK}, 1);
        key->numbers[0] = task->number;
        return;
    }
    if (strlen(task->key) >= sizeof form || strchr(task->key, MARK)) {
        key->text = vti_page_text(page, task->key);
        key->is_plain = true;
        return;
    }
    for (const char *at = task->key; *at;) {
        uint64_t number;
        size_t digits = count < VTI_TASK_KEY_NUMBERS ? number_at(task->key, at, &number) : 0;

        form[len++] = digits ? MARK : *at;
        at += digits ? digits : 1;
        if (digits)
            key->numbers[count++] = number;
    }
    key->text = vti_page_bytes(page, form, len);
}
