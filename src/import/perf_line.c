/*
 * perf_line.c - one line of what `perf script` prints.
 *
 * Names of threads may hold anything, so a head is recognised by the time in it, and by what stands before that.
 */
#include "import/perf_line.h"

#include <string.h>

static struct vti_bytes from(struct vti_bytes text, size_t at)
{
    return (struct vti_bytes){text.data + at, text.len - at};
}

static struct vti_bytes skip_blanks(struct vti_bytes text)
{
    while (text.len && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = from(text, 1);
    return text;
}

static void cut_blanks(struct vti_bytes *text)
{
    while (text->len && (text->data[text->len - 1] == ' ' || text->data[text->len - 1] == '\r'))
        text->len--;
}

/* Takes the next word; empty at the end. */
static struct vti_bytes next_word(struct vti_bytes *text)
{
    struct vti_bytes word = skip_blanks(*text);
    size_t len = 0;

    while (len < word.len && word.data[len] != ' ' && word.data[len] != '\t')
        len++;
    *text = from(word, len);
    word.len = len;
    return word;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Digits at the start of `text`, which they are taken from; false if there are none or too many. */
static bool take_number(struct vti_bytes *text, uint64_t *number)
{
    size_t len = 0;

    *number = 0;
    for (; len < text->len && is_digit(text->data[len]); len++) {
        if (len == 18)
            return false;
        *number = *number * 10 + (uint64_t)(text->data[len] - '0');
    }
    *text = from(*text, len);
    return len > 0;
}

/* "12828.226896:" in nanoseconds. */
static bool parse_time(struct vti_bytes word, uint64_t *ns)
{
    uint64_t seconds, part;
    size_t before;

    if (!take_number(&word, &seconds) || seconds > 4000000000u || !word.len || word.data[0] != '.')
        return false;
    word = from(word, 1);
    before = word.len;
    if (!take_number(&word, &part) || before - word.len > 9 || word.len != 1 || word.data[0] != ':')
        return false;
    for (size_t digits = before - word.len; digits < 9; digits++)
        part *= 10;
    *ns = seconds * 1000000000u + part;
    return true;
}

/* "123" is a thread, "120/123" a process and one of its threads. */
static bool parse_ids(struct vti_bytes word, struct vti_perf_head *head)
{
    uint64_t first, second;

    if (!take_number(&word, &first) || first > UINT32_MAX)
        return false;
    head->pid = 0;
    head->tid = (uint32_t)first;
    if (!word.len)
        return true;
    if (word.data[0] != '/')
        return false;
    word = from(word, 1);
    if (!take_number(&word, &second) || second > UINT32_MAX || word.len)
        return false;
    head->pid = (uint32_t)first;
    head->tid = (uint32_t)second;
    return true;
}

/* What stands before the time: a name, ids, perhaps the CPU. */
static bool parse_who(struct vti_bytes text, struct vti_perf_head *head)
{
    struct vti_bytes word;

    for (int i = 0; i < 2; i++) {
        cut_blanks(&text);
        word = text;
        while (word.len && text.data[word.len - 1] != ' ')
            word.len--;
        word = from(text, word.len);
        text.len -= word.len;
        if (i || !word.len || word.data[0] != '[')
            break;
    }
    cut_blanks(&text);
    head->name = skip_blanks(text);
    return head->name.len && parse_ids(word, head);
}

bool vti_perf_head(struct vti_bytes line, struct vti_perf_head *head)
{
    struct vti_bytes rest = line;
    struct vti_bytes word, before;

    memset(head, 0, sizeof *head);
    do {
        before = (struct vti_bytes){line.data, line.len - rest.len};
        word = next_word(&rest);
        if (!word.len)
            return false;
    } while (!parse_time(word, &head->time_ns) || !parse_who(before, head));
    word = next_word(&rest);
    if (take_number(&word, &head->period) && !word.len)
        word = next_word(&rest);
    else
        head->period = 0;
    if (!word.len || word.data[word.len - 1] != ':')
        return false;
    head->event = (struct vti_bytes){word.data, word.len - 1};
    head->rest = skip_blanks(rest);
    cut_blanks(&head->rest);
    return true;
}

/* "py::load:/home/me/step.py" */
static void parse_python(struct vti_perf_frame *frame)
{
    struct vti_bytes text = from(frame->name, 4);
    const char *colon = memrchr(text.data, ':', text.len);

    if (!colon)
        return;
    frame->name = (struct vti_bytes){text.data, (size_t)(colon - text.data)};
    frame->file = from(text, (size_t)(colon + 1 - text.data));
    frame->is_python = true;
}

bool vti_perf_frame(struct vti_bytes line, struct vti_perf_frame *frame)
{
    struct vti_bytes address;
    size_t len;

    memset(frame, 0, sizeof *frame);
    cut_blanks(&line);
    address = next_word(&line);
    if (!address.len)
        return false;
    for (size_t i = 0; i < address.len; i++)
        if (!memchr("0123456789abcdef", address.data[i], 16))
            return false;
    frame->name = skip_blanks(line);
    if (frame->name.len && frame->name.data[frame->name.len - 1] == ')') {
        const char *open = memrchr(frame->name.data, '(', frame->name.len);

        if (open && (open == frame->name.data || open[-1] == ' ')) {
            frame->file = from(frame->name, (size_t)(open + 1 - frame->name.data));
            frame->file.len--;
            frame->name.len = (size_t)(open - frame->name.data);
            cut_blanks(&frame->name);
        }
    }
    for (len = frame->name.len; len && frame->name.data[len - 1] != '+';)
        len--;
    if (len > 1 && frame->name.len - len > 2 && !memcmp(frame->name.data + len, "0x", 2))
        frame->name.len = len - 1;
    if (frame->name.len > 4 && !memcmp(frame->name.data, "py::", 4))
        parse_python(frame);
    return frame->name.len > 0;
}

bool vti_perf_is_clock(struct vti_bytes event)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock"};

    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        size_t len = strlen(clocks[i]);

        if (event.len >= len && !memcmp(event.data, clocks[i], len) &&
            (event.len == len || event.data[len] == ':'))
            return true;
    }
    return false;
}
