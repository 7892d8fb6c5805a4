/*
 * cfi.c - reads .eh_frame: a function's frame, described by a small program for each function.
 *
 * Runs in a signal handler. The tables are those of the running code; still nothing outside of the module
 * is read, and whatever is not understood ends the stack there.
 */
#include "collect/cfi.h"

#include "collect/machine.h"

#include <stddef.h>
#include <string.h>

#define REMEMBERED 4

/* Encodings of addresses (DW_EH_PE_…). */
enum { PE_ABSOLUTE = 0x00, PE_UDATA4 = 0x03, PE_UDATA8 = 0x04, PE_SDATA4 = 0x0b, PE_SDATA8 = 0x0c };
enum { PE_SIZE = 0x0f, PE_PCREL_SDATA4 = 0x1b, PE_DATAREL_SDATA4 = 0x3b };

/* Instructions (DW_CFA_…); the first three have an operand in their low bits. */
enum {
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE1 = 0x02,
    CFA_ADVANCE2 = 0x03,
    CFA_ADVANCE4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER = 0x0a,
    CFA_RECALL = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_SIGN_RETURN = 0x2d, /* aarch64: the return address is signed from here on */
    CFA_ARGS_SIZE = 0x2e
};

enum rule_type { SAME, UNDEFINED, AT_CFA, AT_FP, UNKNOWN };

struct rule {
    enum rule_type type;
    int64_t offset;
};

enum cfa_type { CFA_UNKNOWN, CFA_OF_REGISTER, CFA_AT_FP, CFA_OF_PLT };

struct state {
    enum cfa_type type;
    uint64_t reg;
    int64_t offset;
    struct rule fp, ra;
};

/* Bounded reading: past the end everything is zero, and it shows. */
struct bytes {
    const uint8_t *at, *end;
    bool failed;
};

struct program {
    const struct dl_find_object *module;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    uint8_t encoding; /* of addresses in the FDE */
    bool is_signal_frame, has_sizes;
    uintptr_t pc;
    struct state now, first, remembered[REMEMBERED];
    unsigned depth;
};

static uint64_t get(struct bytes *in, unsigned size)
{
    uint64_t value = 0;

    if ((size_t)(in->end - in->at) < size) {
        in->failed = true;
        in->at = in->end;
        return 0;
    }
    memcpy(&value, in->at, size); /* both machines are little-endian */
    in->at += size;
    return value;
}

static uint64_t get_uleb(struct bytes *in)
{
    uint64_t value = 0;
    uint64_t byte;
    unsigned shift = 0;

    do {
        byte = get(in, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static int64_t get_sleb(struct bytes *in)
{
    uint64_t value = 0;
    uint64_t byte;
    unsigned shift = 0;

    do {
        byte = get(in, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && byte & 0x40)
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static void skip(struct bytes *in, uint64_t count)
{
    if (count > (size_t)(in->end - in->at)) {
        in->failed = true;
        count = (uint64_t)(in->end - in->at);
    }
    in->at += count;
}

/* The bytes of the module from an address on; none if it is not in there. */
static struct bytes bytes_at(const struct dl_find_object *module, uintptr_t at)
{
    uintptr_t first = (uintptr_t)module->dlfo_map_start;
    uintptr_t end = (uintptr_t)module->dlfo_map_end;
    struct bytes none = {NULL, NULL, true};

    if (at < first || at >= end)
        return none;
    return (struct bytes){(const uint8_t *)at, (const uint8_t *)end, false};
}

static unsigned encoded_size(uint8_t encoding)
{
    switch (encoding & PE_SIZE) {
    case PE_UDATA4:
    case PE_SDATA4:
        return 4;
    case PE_ABSOLUTE:
    case PE_UDATA8:
    case PE_SDATA8:
        return 8;
    default:
        return 0;
    }
}

/* ---- where a function is ----------------------------------------------------------------------- */

struct vti_cfi_function vti_cfi_find(const struct dl_find_object *module, uintptr_t pc)
{
    uintptr_t head = (uintptr_t)module->dlfo_eh_frame;
    struct bytes in = bytes_at(module, head);
    struct vti_cfi_function none = {0, 0};
    const int32_t *table;
    uint64_t first = 0, end;

    /* version, how .eh_frame, the count and the table are encoded; then those three */
    if (get(&in, 1) != 1 || encoded_size((uint8_t)get(&in, 1)) != 4 || get(&in, 1) != PE_UDATA4 ||
        get(&in, 1) != PE_DATAREL_SDATA4)
        return none;
    skip(&in, 4);
    end = get(&in, 4);
    if (in.failed || !end || end > (size_t)(in.end - in.at) / 8)
        return none;
    table = (const int32_t *)(uintptr_t)in.at;
    if (head + (uintptr_t)(intptr_t)table[0] > pc)
        return none;
    while (end - first > 1) {
        uint64_t middle = first + (end - first) / 2;

        if (head + (uintptr_t)(intptr_t)table[2 * middle] <= pc)
            first = middle;
        else
            end = middle;
    }
    return (struct vti_cfi_function){head + (uintptr_t)(intptr_t)table[2 * first],
                                     head + (uintptr_t)(intptr_t)table[2 * first + 1]};
}

/* ---- the program ------------------------------------------------------------------------------- */

static void set_rule(struct program *program, uint64_t reg, enum rule_type type, int64_t offset)
{
    if (reg == VTI_MACHINE_FP)
        program->now.fp = (struct rule){type, offset};
    if (reg == program->return_register)
        program->now.ra = (struct rule){type, offset};
}

static void restore_rule(struct program *program, uint64_t reg)
{
    if (reg == VTI_MACHINE_FP)
        program->now.fp = program->first.fp;
    if (reg == program->return_register)
        program->now.ra = program->first.ra;
}

/* Two expressions are in use for a frame's end: that of lazy binding stubs (the stack is one word deeper
 * in the second half of each), and "where the word at fp + n says". */
static void set_cfa_expression(struct program *program, struct bytes in)
{
    uint64_t code = get(&in, 1);
    int64_t offset = get_sleb(&in);
    uint64_t next = get(&in, 1);

    program->now.type = CFA_UNKNOWN;
    program->now.offset = offset;
    if (code == 0x70 + VTI_MACHINE_FP && next == 0x06 && in.at == in.end) {
        program->now.type = CFA_AT_FP;
    } else if (code == 0x70 + VTI_MACHINE_SP && next == 0x80 && get(&in, 1) == 0 &&
               get(&in, 1) == 0x3f && get(&in, 1) == 0x1a) {
        program->now.type = CFA_OF_REGISTER;
        program->now.reg = VTI_MACHINE_SP;
        if ((program->pc & 15) >= get(&in, 1) - 0x30)
            program->now.offset += 8;
    }
}

static void set_expression(struct program *program, uint64_t reg, struct bytes in)
{
    uint64_t code = get(&in, 1);
    int64_t offset = get_sleb(&in);
    bool is_fp = code == 0x70 + VTI_MACHINE_FP && in.at == in.end && !in.failed;

    set_rule(program, reg, is_fp ? AT_FP : UNKNOWN, offset);
}

static struct bytes get_block(struct bytes *in)
{
    uint64_t length = get_uleb(in);
    struct bytes block = *in;

    skip(in, length);
    block.end = in->at;
    return block;
}

static void remember(struct program *program, struct bytes *in)
{
    if (program->depth < REMEMBERED)
        program->remembered[program->depth++] = program->now;
    else
        in->failed = true;
}

static void recall(struct program *program, struct bytes *in)
{
    if (program->depth)
        program->now = program->remembered[--program->depth];
    else
        in->failed = true;
}

static void define_cfa(struct program *program, uint64_t reg, int64_t offset)
{
    program->now.type = CFA_OF_REGISTER;
    program->now.reg = reg;
    program->now.offset = offset;
}

/* What defines the end of the frame. False: something else. */
static bool run_cfa(struct program *program, uint64_t code, struct bytes *in)
{
    uint64_t reg = program->now.reg;

    switch (code) {
    case CFA_DEF_CFA:
        reg = get_uleb(in);
        define_cfa(program, reg, (int64_t)get_uleb(in));
        return true;
    case CFA_DEF_CFA_SF:
        reg = get_uleb(in);
        define_cfa(program, reg, get_sleb(in) * program->data_align);
        return true;
    case CFA_DEF_CFA_REGISTER:
        define_cfa(program, get_uleb(in), program->now.offset);
        return true;
    case CFA_DEF_CFA_OFFSET:
        define_cfa(program, reg, (int64_t)get_uleb(in));
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        define_cfa(program, reg, get_sleb(in) * program->data_align);
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        set_cfa_expression(program, get_block(in));
        return true;
    default:
        return false;
    }
}

/* What says where a register is. */
static void run_rule(struct program *program, uint64_t code, struct bytes *in)
{
    uint64_t reg = code == CFA_ARGS_SIZE ? UINT64_MAX : get_uleb(in);

    switch (code) {
    case CFA_OFFSET_EXTENDED:
        set_rule(program, reg, AT_CFA, (int64_t)get_uleb(in) * program->data_align);
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set_rule(program, reg, AT_CFA, get_sleb(in) * program->data_align);
        break;
    case CFA_RESTORE_EXTENDED:
        restore_rule(program, reg);
        break;
    case CFA_UNDEFINED:
        set_rule(program, reg, UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        set_rule(program, reg, SAME, 0);
        break;
    case CFA_REGISTER:
        get_uleb(in);
        set_rule(program, reg, UNKNOWN, 0);
        break;
    case CFA_EXPRESSION:
        set_expression(program, reg, get_block(in));
        break;
    case CFA_VAL_EXPRESSION:
        get_block(in);
        set_rule(program, reg, UNKNOWN, 0);
        break;
    case CFA_ARGS_SIZE:
        get_uleb(in);
        break;
    default:
        in->failed = true;
    }
}

/* Runs until the row of `pc` is complete. */
static void run(struct program *program, struct bytes *in, uintptr_t location)
{
    while (in->at < in->end && !in->failed) {
        uint64_t code = get(in, 1);
        uint64_t low = code & 0x3f;
        uint64_t advance = 0;

        if ((code & 0xc0) == CFA_ADVANCE)
            advance = low;
        else if ((code & 0xc0) == CFA_OFFSET)
            set_rule(program, low, AT_CFA, (int64_t)get_uleb(in) * program->data_align);
        else if ((code & 0xc0) == CFA_RESTORE)
            restore_rule(program, low);
        else if (code >= CFA_ADVANCE1 && code <= CFA_ADVANCE4)
            advance = get(in, 1u << (code - CFA_ADVANCE1));
        else if (code == CFA_REMEMBER)
            remember(program, in);
        else if (code == CFA_RECALL)
            recall(program, in);
        else if (code != CFA_NOP && code != CFA_SIGN_RETURN && !run_cfa(program, code, in))
            run_rule(program, code, in);
        location += advance * program->code_align;
        if (advance && location > program->pc)
            return;
    }
}

/* What all functions with this beginning have in common; its program is run. False: not understood. */
static bool read_common(struct program *program, uintptr_t at)
{
    struct bytes in = bytes_at(program->module, at);
    uint64_t length = get(&in, 4);
    uint64_t id = get(&in, 4);
    uint64_t version = get(&in, 1);
    const char *letter = (const char *)in.at;
    struct bytes extra;

    if (length < 8 || length - 5 > (size_t)(in.end - in.at) || id)
        return false;
    in.end = in.at + length - 5;
    while (get(&in, 1))
        ;
    program->code_align = get_uleb(&in);
    program->data_align = get_sleb(&in);
    program->return_register = version == 1 ? get(&in, 1) : get_uleb(&in);
    program->has_sizes = *letter == 'z';
    if (in.failed || (*letter && !program->has_sizes))
        return false;
    if (program->has_sizes) {
        extra = get_block(&in);
        for (letter++; *letter && !extra.failed; letter++) {
            if (*letter == 'R')
                program->encoding = (uint8_t)get(&extra, 1);
            else if (*letter == 'L')
                get(&extra, 1);
            else if (*letter == 'P')
                skip(&extra, encoded_size((uint8_t)get(&extra, 1)));
            else if (*letter == 'S')
                program->is_signal_frame = true;
        }
    }
    run(program, &in, 0);
    program->first = program->now;
    return !in.failed;
}

/* From the state to a row, if that can express it. */
static struct vti_row make_row(const struct program *program)
{
    const struct state *now = &program->now;
    struct vti_row row = {.type = VTI_ROW_NONE, .cfa = (int32_t)now->offset};

    if (program->is_signal_frame)
        return (struct vti_row){.type = VTI_ROW_SIGNAL};
    if (now->ra.type == UNDEFINED)
        return (struct vti_row){.type = VTI_ROW_END};
    if (now->offset < -(1 << 30) || now->offset > 1 << 30 || now->fp.type == UNKNOWN ||
        now->ra.offset / 8 != (int16_t)(now->ra.offset / 8) ||
        now->fp.offset / 8 != (int16_t)(now->fp.offset / 8) ||
        (now->ra.type != AT_CFA && now->ra.type != SAME))
        return row;
    row.return_words = (int16_t)(now->ra.offset / 8);
    if (now->fp.type == AT_CFA || now->fp.type == AT_FP) {
        row.saved = now->fp.type == AT_CFA ? VTI_SAVED_AT_CFA : VTI_SAVED_AT_FP;
        row.saved_words = (int16_t)(now->fp.offset / 8);
    }
    if (now->type == CFA_AT_FP)
        row.type = VTI_ROW_FP_DEREF;
    else if (now->type == CFA_OF_REGISTER && now->reg == VTI_MACHINE_SP)
        row.type = VTI_ROW_SP;
    else if (now->type == CFA_OF_REGISTER && now->reg == VTI_MACHINE_FP)
        row.type = VTI_ROW_FP;
    return row;
}

struct vti_row vti_cfi_row(const struct dl_find_object *module,
                           const struct vti_cfi_function *function, uintptr_t pc)
{
    const struct vti_row none = {.type = VTI_ROW_NONE};
    struct program program = {.module = module, .pc = pc};
    struct bytes in = bytes_at(module, function->fde);
    uint64_t length = get(&in, 4);
    uintptr_t id_at = (uintptr_t)in.at;
    uint64_t range;
    unsigned size;

    if (!function->fde || length < 8 || length > (size_t)(in.end - in.at))
        return none;
    in.end = in.at + length;
    if (!read_common(&program, id_at - (uintptr_t)get(&in, 4)))
        return none;
    size = encoded_size(program.encoding);
    skip(&in, size);
    range = get(&in, size);
    if (!size || in.failed || pc - function->start >= range)
        return none;
    if (program.has_sizes)
        get_block(&in);
    run(&program, &in, function->start);
    return in.failed ? none : make_row(&program);
}
