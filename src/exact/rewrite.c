/*
 * rewrite.c - puts calls of our hook into the assembler text of a compiler.
 *
 * The file was compiled with -finstrument-functions, so that functions say themselves when they are entered and left; those calls get
 * the lines of their function as one more argument. Between them, behind each line marker (.loc) that
 * names another line than the one before, or that can be jumped to, comes a call of the hook. It saves all that it
 * touches, the flags too, and needs a frame pointer and nothing below the stack pointer.
 */
#include "exact/rewrite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ENTER "__cyg_profile_func_enter"
#define EXIT "__cyg_profile_func_exit"
#define ROWS_MOST 65536u
#define FILES_MOST 65536u

/* A line of the text. */
struct words {
    const char *at;
    size_t len;
};

struct rewriting {
    struct vti_buf *out;
    struct vti_buf
        rows; /* u32 each: lines of the function that have a hook, in the order of their rows */
    struct vti_buf runs;   /* u32 each: the straight piece of code in which a row was met last */
    struct vti_buf behind; /* what comes behind all of it */
    struct vti_buf files;  /* u8 each, by number: whether it is the system's */
    struct words function; /* its name; empty: between functions */
    unsigned number;       /* of the function */
    unsigned long file;    /* the number of its file; 0: not known yet */
    unsigned long line;    /* the one that runs; 0: any */
    bool is_rest;          /* markers are of statements that go on */
    uint32_t run;          /* counts straight pieces of code, which nothing jumps into or out of */
    bool is_optimised;     /* code of a line may stand among that of others, … */
    bool is_mixed;         /* … and does so in this function */
    bool has_entered;      /* its frame is there, */
    bool is_fresh;         /* no line has run since, */
    bool is_leaving;       /* and not any more */
};

static bool starts(struct words line, const char *with)
{
    size_t len = strlen(with);

    return line.len >= len && !memcmp(line.at, with, len);
}

/* Without the blanks in front of it. */
static struct words trimmed(struct words line)
{
    while (line.len && (*line.at == ' ' || *line.at == '\t')) {
        line.at++;
        line.len--;
    }
    return line;
}

/* The next word, which ends with a blank or a comma. */
static struct words next_word(struct words *rest)
{
    struct words word;

    *rest = trimmed(*rest);
    word = (struct words){rest->at, 0};
    while (word.len < rest->len && !strchr(" \t,", word.at[word.len]))
        word.len++;
    rest->at += word.len;
    rest->len -= word.len;
    if (rest->len && *rest->at == ',') {
        rest->at++;
        rest->len--;
    }
    return word;
}

static unsigned long next_number(struct words *rest)
{
    struct words word = next_word(rest);
    unsigned long number = 0;

    for (size_t i = 0; i < word.len && word.at[i] >= '0' && word.at[i] <= '9'; i++)
        number = number * 10 + (unsigned long)(word.at[i] - '0');
    return number;
}

static bool contains(struct words line, const char *text)
{
    return memmem(line.at, line.len, text, strlen(text)) != NULL;
}

/* ---- behind all functions ------------------------------------------------------------------------- */

/* Where calls of the hook for one row lead: the row, then the function's lines, onto the stack. No flag is changed. */
static void add_thunk(struct rewriting *all, uint32_t row)
{
    vti_buf_printf(&all->behind,
                   ".Lvt_row_%u_%u:\n\t.cfi_startproc\n\tpushq\t$%u\n"
                   "\t.cfi_adjust_cfa_offset 8\n\tjmp\t.Lvt_line_%u\n\t.cfi_endproc\n",
                   all->number, row, row, all->number);
}

static void add_function(struct rewriting *all)
{
    unsigned number = all->number;
    size_t count = all->rows.len / sizeof(uint32_t);
    uint32_t line = 0;

    vti_buf_printf(&all->behind,
                   ".Lvt_line_%u:\n\t.cfi_startproc\n\t.cfi_def_cfa_offset 16\n"
                   "\tmovq\t%%rax, -16(%%rsp)\n\tleaq\t.Lvt_lines_%u(%%rip), %%rax\n"
                   "\tmovq\t%%rax, -8(%%rsp)\n\tmovq\t-16(%%rsp), %%rax\n"
                   "\tleaq\t-8(%%rsp), %%rsp\n\t.cfi_adjust_cfa_offset 8\n"
                   "\tjmp\tvt_exact_line\n\t.cfi_endproc\n",
                   number, number);
    vti_buf_printf(&all->behind,
                   ".Lvt_enter_%u:\n\tleaq\t.Lvt_lines_%u(%%rip), %%rdx\n\tmovq\t%%rbp, %%rcx\n"
                   "\tjmp\tvt_exact_enter\n"
                   ".Lvt_exit_%u:\n\tleaq\t.Lvt_lines_%u(%%rip), %%rdx\n\tmovq\t%%rbp, %%rcx\n"
                   "\tjmp\tvt_exact_exit\n",
                   number, number, number, number);
    vti_buf_printf(&all->behind,
                   "\t.section .rodata.venturi,\"a\",@progbits\n\t.balign 4\n.Lvt_rows_%u:\n",
                   number);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&line, all->rows.data + i * sizeof line, sizeof line);
        vti_buf_printf(&all->behind, "\t.long\t%u, %u\n", line, i);
    }
    vti_buf_printf(&all->behind,
                   "\t.section .data.venturi,\"aw\",@progbits\n\t.balign 8\n.Lvt_lines_%u:\n"
                   "\t.long\t0, 0, %u, 0\n\t.quad\t.Lvt_rows_%u\n\t.long\t%d, 0\n"
                   "\t.section .text.venturi,\"ax\",@progbits\n",
                   number, (unsigned)count, number, all->is_optimised && all->is_mixed);
}

/* ---- in a function -------------------------------------------------------------------------------- */

/* The row of a line; how many there are if it has none. */
static uint32_t find_row(const struct rewriting *all, unsigned long line)
{
    uint32_t count = (uint32_t)(all->rows.len / sizeof(uint32_t));
    uint32_t wanted = (uint32_t)line;
    uint32_t row = 0;

    while (row < count && memcmp(all->rows.data + row * sizeof wanted, &wanted, sizeof wanted))
        row++;
    return row;
}

static bool has_row(const struct rewriting *all, unsigned long line)
{
    return find_row(all, line) < all->rows.len / sizeof(uint32_t);
}

/* The row of a line, added if it is new; false if there are too many. */
static bool row_of(struct rewriting *all, unsigned long line, uint32_t *row)
{
    uint32_t wanted = (uint32_t)line;

    *row = find_row(all, line);
    if (has_row(all, line))
        return true;
    if (*row >= ROWS_MOST)
        return false;
    vti_buf_add(&all->rows, &wanted, sizeof wanted);
    vti_buf_add_u32(&all->runs, 0);
    add_thunk(all, *row);
    return true;
}

/* What goes on with a statement while another one runs stands in its time; behind the end of the function, in none. */
static void note_rest(struct rewriting *all, struct words rest, unsigned long file,
                      unsigned long line)
{
    if (contains(rest, "is_stmt")) /* it holds until the next one says otherwise */
        all->is_rest = contains(rest, "is_stmt 0");
    if (all->is_rest && all->has_entered && !all->is_fresh && file + 1 == all->file && all->line &&
        line != all->line)
        all->is_mixed |= !all->is_leaving || has_row(all, line);
}

/* Another line comes. One that comes again in a straight piece of code has had others in between. */
static void note_run(struct rewriting *all, uint32_t row)
{
    uint32_t last = all->run + 1;

    if (all->runs.failed)
        return;
    all->is_mixed |= !memcmp(all->runs.data + row * sizeof last, &last, sizeof last);
    memcpy(all->runs.data + row * sizeof last, &last, sizeof last);
}

/* `.file 3 "/usr/include/c++/12" "vector"`; clang may write the folder as it has found it. */
static void take_file(struct rewriting *all, struct words rest)
{
    unsigned long number;
    bool is_system;

    rest = trimmed(rest);
    if (!rest.len || *rest.at < '0' || *rest.at > '9')
        return;
    number = next_number(&rest);
    rest = trimmed(rest);
    is_system = starts(rest, "\"/usr/include/") || starts(rest, "\"/usr/include\"") ||
                starts(rest, "\"/usr/lib") || starts(rest, "\"/usr/bin/../lib");
    while (number < FILES_MOST && all->files.len <= number && !all->files.failed)
        vti_buf_add_u8(&all->files, 0);
    if (number < all->files.len)
        all->files.data[number] = is_system;
}

/* What the system brought with it runs without our hooks: gcc can be told so, clang cannot. */
static bool is_of_system(const struct rewriting *all)
{
    return all->file && all->file - 1 < all->files.len && all->files.data[all->file - 1];
}

/* ".loc 1 12 5 is_stmt 0 view .LVU3" */
static void take_marker(struct rewriting *all, struct words rest)
{
    unsigned long file = next_number(&rest);
    unsigned long line = next_number(&rest);
    uint32_t row;

    note_rest(all, rest, file, line);
    /* clang calls a body on the line of its function the rest of a statement, which is the hook's. */
    if ((contains(rest, "is_stmt 0") && !all->is_fresh) || !line || line > UINT32_MAX)
        return;
    if (!all->file)
        all->file = file + 1;
    if (file + 1 != all->file || !all->has_entered || all->is_leaving || line == all->line)
        return;
    if (row_of(all, line, &row)) {
        vti_buf_printf(all->out, "\tcall\t.Lvt_row_%u_%u\n", all->number, row);
        note_run(all, row);
    }
    all->line = line;
    all->is_fresh = false;
}

/* Whether it is a call (or a jump) of one of the compiler's hooks; then it leads to ours. */
static bool take_call(struct rewriting *all, struct words line, const char *name, const char *to)
{
    bool is_jump = starts(line, "jmp");

    if ((!is_jump && !starts(line, "call")) || !contains(line, name))
        return false;
    if (!is_of_system(all))
        vti_buf_printf(all->out, "\t%s\t.Lvt_%s_%u\n", is_jump ? "jmp" : "call", to, all->number);
    else if (is_jump)
        vti_buf_add_text(all->out, "\tret\n");
    return true;
}

static void end_function(struct rewriting *all)
{
    if (all->has_entered)
        add_function(all);
    vti_buf_clear(&all->rows);
    vti_buf_clear(&all->runs);
    all->function.len = 0;
    all->is_mixed = false;
    all->number++;
}

/* A place that code may come to from elsewhere. Those that only debug info and exceptions speak of are none: ".LBB7"
 * of gcc, but not ".LBB0_7" of clang. */
static bool is_label(struct words word)
{
    static const char *const none[] = {".Ltmp", ".LVL", ".LBE", ".LBI", ".LEHB", ".LEHE"};

    if (!word.len || word.at[word.len - 1] != ':')
        return false;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (starts(word, none[i]))
            return false;
    return !starts(word, ".LBB") || memchr(word.at, '_', word.len);
}

/* A line inside of a function, without blanks; false if it was replaced. */
static bool take_inner(struct rewriting *all, struct words line)
{
    struct words rest = line;
    struct words word = next_word(&rest);

    if (take_call(all, line, ENTER, "enter")) {
        all->has_entered = all->is_fresh = !is_of_system(all);
        return false;
    }
    if (take_call(all, line, EXIT, "exit")) {
        all->is_leaving = true;
        return false;
    }
    if (starts(line, ".size")) {
        end_function(all);
    } else if (is_label(word)) {
        all->line = 0;
        all->run++;
        all->is_leaving = false;
    } else if (starts(line, "leave") || (starts(line, "pop") && contains(rest, "%rbp"))) {
        all->is_leaving = true;
    } else if (starts(line, "j")) {
        all->run++;
    }
    return true;
}

static void take_line(struct rewriting *all, struct words line, struct words *wanted)
{
    struct words inner = trimmed(line);
    struct words rest = inner;
    struct words word = next_word(&rest);
    bool is_kept = true;

    if (starts(inner, ".file"))
        take_file(all, rest);
    else if (starts(inner, ".type") && (contains(rest, "@function") || contains(rest, "%function")))
        *wanted = next_word(&rest);
    else if (!all->function.len && wanted->len && word.len == wanted->len + 1 &&
             word.at[wanted->len] == ':' && !memcmp(word.at, wanted->at, wanted->len)) {
        all->function = *wanted;
        all->file = all->line = 0;
        all->has_entered = all->is_fresh = all->is_leaving = false;
    } else if (all->function.len) {
        is_kept = take_inner(all, inner);
    }
    if (!is_kept)
        return;
    vti_buf_add(all->out, line.at, line.len);
    vti_buf_add_u8(all->out, '\n');
    if (all->function.len && starts(inner, ".loc") && word.len == 4)
        take_marker(all, rest);
}

void vti_exact_rewrite(const char *text, size_t len, bool is_optimised, struct vti_buf *out)
{
    struct rewriting all = {.out = out, .is_optimised = is_optimised};
    struct words wanted = {NULL, 0};
    const char *end = text + len;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        stop = stop ? stop : end;
        take_line(&all, (struct words){text, (size_t)(stop - text)}, &wanted);
        text = stop + 1;
    }
    if (all.behind.len) {
        vti_buf_add_text(out,
                         "\t.hidden vt_exact_line\n\t.hidden vt_exact_enter\n"
                         "\t.hidden vt_exact_exit\n\t.section .text.venturi,\"ax\",@progbits\n");
        vti_buf_add(out, all.behind.data, all.behind.len);
    }
    out->failed |= all.behind.failed || all.rows.failed || all.runs.failed || all.files.failed;
    vti_buf_fini(&all.behind);
    vti_buf_fini(&all.rows);
    vti_buf_fini(&all.runs);
    vti_buf_fini(&all.files);
}
