/* pickle.c - reads what a line profile of Python is pickled with. See pickle.h for what it must withstand. */
#include "analyze/pickle.h"

#include "base/bytes.h"
#include "base/error.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MOST (256u << 20)
#define PROTOCOL_MOST 5
#define NO_ITEM UINT32_MAX

struct reading {
    struct vti_pickle *pickle;
    struct vti_reader in;
    const uint8_t *start;
    const char *name;
    size_t size;
};

static int refuse(const struct reading *reading, const char *what)
{
    return vti_fail(VTI_E_DAMAGED, "%s: no recording, nor a line profile of Python: byte %zu: %s",
                    reading->name, (size_t)(reading->in.at - reading->start), what);
}

/* ---- stack and values ------------------------------------------------------------------------ */

static int push(struct reading *reading, uint32_t value)
{
    struct vti_pickle *pickle = reading->pickle;

    if (vti_grow(&pickle->stack, pickle->stack_count, &pickle->stack_room, sizeof *pickle->stack))
        return VTI_E_NOMEM;
    pickle->stack[pickle->stack_count++] = value;
    return 0;
}

static int push_new(struct reading *reading, struct vti_pickle_value value)
{
    struct vti_pickle *pickle = reading->pickle;

    if (vti_grow(&pickle->values, pickle->value_count, &pickle->value_room, sizeof *pickle->values))
        return VTI_E_NOMEM;
    value.first = value.last = NO_ITEM;
    pickle->values[pickle->value_count] = value;
    return push(reading, (uint32_t)pickle->value_count++);
}

static int push_number(struct reading *reading, int64_t number)
{
    return push_new(reading, (struct vti_pickle_value){.type = VTI_PICKLE_INT, .number = number});
}

static int push_empty(struct reading *reading, enum vti_pickle_type type)
{
    return push_new(reading, (struct vti_pickle_value){.type = type});
}

/* How many values lie above the last mark, or on the whole stack. */
static size_t above_mark(const struct vti_pickle *pickle)
{
    return pickle->stack_count - (pickle->mark_count ? pickle->marks[pickle->mark_count - 1] : 0);
}

static int add_item(struct reading *reading, uint32_t owner, uint32_t value)
{
    struct vti_pickle *pickle = reading->pickle;
    struct vti_pickle_value *to = &pickle->values[owner];
    uint32_t at = (uint32_t)pickle->item_count;

    if (vti_grow(&pickle->items, pickle->item_count, &pickle->item_room, sizeof *pickle->items))
        return VTI_E_NOMEM;
    pickle->items[pickle->item_count++] = (struct vti_pickle_item){value, NO_ITEM};
    if (to->last == NO_ITEM)
        to->first = at;
    else
        pickle->items[to->last].next = at;
    to->last = at;
    to->count++;
    return 0;
}

/* The upper `count` values of the stack become items of `owner`, in their order. */
static int move_items(struct reading *reading, uint32_t owner, size_t count)
{
    struct vti_pickle *pickle = reading->pickle;
    size_t from = pickle->stack_count - count;
    int code = 0;

    for (size_t i = from; i < pickle->stack_count && !code; i++)
        code = add_item(reading, owner, pickle->stack[i]);
    pickle->stack_count = from;
    return code;
}

/* ---- numbers and texts ----------------------------------------------------------------------- */

/* Bytes in two's complement, the lowest first. */
static int push_long(struct reading *reading, uint32_t count)
{
    const uint8_t *bytes = vti_reader_bytes(&reading->in, count);
    bool is_negative;
    uint64_t sum;

    if (!bytes)
        return refuse(reading, "cut off in a number");
    is_negative = count && bytes[count - 1] & 0x80;
    sum = is_negative ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i >= 8 && bytes[i] != (is_negative ? 0xff : 0))
            return push_number(reading, is_negative ? INT64_MIN : INT64_MAX);
        if (i < 8)
            sum = (sum & ~(UINT64_C(0xff) << (8 * i))) | (uint64_t)bytes[i] << (8 * i);
    }
    if (count >= 8 && (sum >> 63) != is_negative)
        return push_number(reading, is_negative ? INT64_MIN : INT64_MAX);
    return push_number(reading, (int64_t)sum);
}

/* The one number of a pickle that has its highest byte first. */
static int push_real(struct reading *reading)
{
    uint64_t bits = __builtin_bswap64(vti_reader_u64(&reading->in));
    struct vti_pickle_value value = {.type = VTI_PICKLE_FLOAT};

    memcpy(&value.real, &bits, sizeof value.real);
    return push_new(reading, value);
}

static int push_text(struct reading *reading, uint64_t len)
{
    const uint8_t *data = len > SIZE_MAX / 2 ? NULL : vti_reader_bytes(&reading->in, (size_t)len);
    struct vti_pickle_value value = {.type = VTI_PICKLE_TEXT};

    if (!data)
        return refuse(reading, "cut off in a text");
    value.text.data = (const char *)data;
    value.text.len = (size_t)len;
    return push_new(reading, value);
}

/* The rest of the line. */
static const char *take_line(struct reading *reading, size_t *len)
{
    const uint8_t *from = reading->in.at;
    const uint8_t *end = memchr(from, '\n', vti_reader_left(&reading->in));

    if (!end)
        return NULL;
    *len = (size_t)(end - from);
    reading->in.at = end + 1;
    return (const char *)from;
}

/* ---- what opcodes do ------------------------------------------------------------------------- */

static int push_class(struct reading *reading)
{
    struct vti_pickle_value value = {.type = VTI_PICKLE_CLASS};

    value.text.data = take_line(reading, &value.text.len);
    value.text.name = value.text.data ? take_line(reading, &value.text.name_len) : NULL;
    return value.text.name ? push_new(reading, value) : refuse(reading, "cut off in a name");
}

static int push_stack_class(struct reading *reading)
{
    struct vti_pickle *pickle = reading->pickle;
    struct vti_pickle_value value = {.type = VTI_PICKLE_CLASS};
    const struct vti_pickle_value *module, *name;

    if (above_mark(pickle) < 2)
        return refuse(reading, "a class without a name");
    module = &pickle->values[pickle->stack[pickle->stack_count - 2]];
    name = &pickle->values[pickle->stack[pickle->stack_count - 1]];
    if (module->type != VTI_PICKLE_TEXT || name->type != VTI_PICKLE_TEXT)
        return refuse(reading, "a class without a name");
    value.text.data = module->text.data;
    value.text.len = module->text.len;
    value.text.name = name->text.data;
    value.text.name_len = name->text.len;
    pickle->stack_count -= 2;
    return push_new(reading, value);
}

/* A class and its arguments become an object, a state its second item; the arguments mean nothing. */
static int make_object(struct reading *reading)
{
    struct vti_pickle *pickle = reading->pickle;
    uint32_t class_of;
    int code;

    if (above_mark(pickle) < 2)
        return refuse(reading, "an object without a class");
    class_of = pickle->stack[pickle->stack_count - 2];
    if (pickle->values[class_of].type != VTI_PICKLE_CLASS)
        return refuse(reading, "an object without a class");
    pickle->stack_count -= 2;
    code = push_empty(reading, VTI_PICKLE_OBJECT);
    return code ? code : add_item(reading, pickle->stack[pickle->stack_count - 1], class_of);
}

static int build(struct reading *reading)
{
    struct vti_pickle *pickle = reading->pickle;
    uint32_t object;

    if (above_mark(pickle) < 2)
        return refuse(reading, "a state without an object");
    object = pickle->stack[pickle->stack_count - 2];
    if (pickle->values[object].type != VTI_PICKLE_OBJECT || pickle->values[object].count != 1)
        return refuse(reading, "a state without an object");
    return move_items(reading, object, 1);
}

static int make_tuple(struct reading *reading, size_t count)
{
    struct vti_pickle *pickle = reading->pickle;
    int code;

    if (above_mark(pickle) < count)
        return refuse(reading, "a tuple without its items");
    code = push_empty(reading, VTI_PICKLE_TUPLE);
    if (code)
        return code;
    code = move_items(reading, pickle->stack[--pickle->stack_count], count);
    return code ? code : push(reading, (uint32_t)pickle->value_count - 1);
}

/* What lies above the mark, which goes away; a negative code if there is none. */
static int64_t take_mark(struct reading *reading)
{
    struct vti_pickle *pickle = reading->pickle;
    size_t count = above_mark(pickle);

    if (!pickle->mark_count)
        return refuse(reading, "a mark is missing");
    pickle->mark_count--;
    return (int64_t)count;
}

static int make_marked_tuple(struct reading *reading)
{
    int64_t count = take_mark(reading);

    return count < 0 ? (int)count : make_tuple(reading, (size_t)count);
}

/* The upper `count` values into the list or dictionary below them. */
static int fill(struct reading *reading, enum vti_pickle_type type, int64_t count)
{
    struct vti_pickle *pickle = reading->pickle;
    uint32_t owner;

    if (count < 0)
        return (int)count;
    if (above_mark(pickle) < (size_t)count + 1 || (type == VTI_PICKLE_DICT && count % 2))
        return refuse(reading, "items without a place");
    owner = pickle->stack[pickle->stack_count - (size_t)count - 1];
    if (pickle->values[owner].type != type)
        return refuse(reading, "items without a place");
    return move_items(reading, owner, (size_t)count);
}

static int put_mark(struct reading *reading)
{
    struct vti_pickle *pickle = reading->pickle;

    if (vti_grow(&pickle->marks, pickle->mark_count, &pickle->mark_room, sizeof *pickle->marks))
        return VTI_E_NOMEM;
    pickle->marks[pickle->mark_count++] = (uint32_t)pickle->stack_count;
    return 0;
}

static int remember(struct reading *reading, uint64_t index)
{
    struct vti_pickle *pickle = reading->pickle;

    if (!above_mark(pickle) || index >= reading->size)
        return refuse(reading, "remembers what is not there");
    while (pickle->memo_count <= index) {
        if (vti_grow(&pickle->memo, pickle->memo_count, &pickle->memo_room, sizeof *pickle->memo))
            return VTI_E_NOMEM;
        pickle->memo[pickle->memo_count++] = UINT32_MAX;
    }
    pickle->memo[index] = pickle->stack[pickle->stack_count - 1];
    return 0;
}

static int recall(struct reading *reading, uint64_t index)
{
    const struct vti_pickle *pickle = reading->pickle;

    if (reading->in.failed || index >= pickle->memo_count || pickle->memo[index] == UINT32_MAX)
        return refuse(reading, "refers to what is not there");
    return push(reading, pickle->memo[index]);
}

static int pop(struct reading *reading)
{
    if (!above_mark(reading->pickle))
        return refuse(reading, "nothing to drop");
    reading->pickle->stack_count--;
    return 0;
}

/* ---- opcodes --------------------------------------------------------------------------------- */

static int refuse_opcode(const struct reading *reading, uint8_t opcode)
{
    char what[80];

    if ((opcode && strchr("RioPQ", opcode)) || opcode == 0x92 || (opcode >= 0x82 && opcode <= 0x84))
        snprintf(what, sizeof what, "it wants code to be run (opcode 0x%02x), which never happens",
                 opcode);
    else
        snprintf(what, sizeof what, "opcode 0x%02x, which no line profile has", opcode);
    return refuse(reading, what);
}

static int check_protocol(struct reading *reading)
{
    uint8_t protocol = vti_reader_u8(&reading->in);

    return protocol >= 2 && protocol <= PROTOCOL_MOST ? 0 : refuse(reading, "unknown protocol");
}

static int do_value(struct reading *reading, uint8_t opcode)
{
    switch (opcode) {
    case 'N':
        return push_empty(reading, VTI_PICKLE_NONE);
    case 0x88: /* true */
    case 0x89: /* false */
        return push_number(reading, opcode == 0x88);
    case 'J':
        return push_number(reading, (int32_t)vti_reader_u32(&reading->in));
    case 'K':
        return push_number(reading, vti_reader_u8(&reading->in));
    case 'M':
        return push_number(reading, vti_reader_u16(&reading->in));
    case 0x8a: /* LONG1 */
        return push_long(reading, vti_reader_u8(&reading->in));
    case 0x8b: /* LONG4 */
        return push_long(reading, vti_reader_u32(&reading->in));
    case 'G':
        return push_real(reading);
    case 0x8c: /* SHORT_BINUNICODE */
        return push_text(reading, vti_reader_u8(&reading->in));
    case 'X':
        return push_text(reading, vti_reader_u32(&reading->in));
    case 0x8d: /* BINUNICODE8 */
        return push_text(reading, vti_reader_u64(&reading->in));
    case 'c':
        return push_class(reading);
    case 0x93: /* STACK_GLOBAL */
        return push_stack_class(reading);
    default:
        return refuse_opcode(reading, opcode);
    }
}

static int do_container(struct reading *reading, uint8_t opcode)
{
    switch (opcode) {
    case ')':
        return push_empty(reading, VTI_PICKLE_TUPLE);
    case 't':
        return make_marked_tuple(reading);
    case 0x85: /* TUPLE1 … TUPLE3 */
    case 0x86:
    case 0x87:
        return make_tuple(reading, opcode - 0x84u);
    case ']':
        return push_empty(reading, VTI_PICKLE_LIST);
    case 'a':
        return fill(reading, VTI_PICKLE_LIST, 1);
    case 'e':
        return fill(reading, VTI_PICKLE_LIST, take_mark(reading));
    case '}':
        return push_empty(reading, VTI_PICKLE_DICT);
    case 's':
        return fill(reading, VTI_PICKLE_DICT, 2);
    case 'u':
        return fill(reading, VTI_PICKLE_DICT, take_mark(reading));
    case 0x81: /* NEWOBJ */
        return make_object(reading);
    case 'b':
        return build(reading);
    default:
        return do_value(reading, opcode);
    }
}

static int do_opcode(struct reading *reading, uint8_t opcode)
{
    switch (opcode) {
    case 0x80: /* PROTO */
        return check_protocol(reading);
    case 0x95: /* FRAME: a length for those who read from a pipe */
        vti_reader_u64(&reading->in);
        return 0;
    case '(':
        return put_mark(reading);
    case '0':
        return pop(reading);
    case 'q':
        return remember(reading, vti_reader_u8(&reading->in));
    case 'r':
        return remember(reading, vti_reader_u32(&reading->in));
    case 0x94: /* MEMOIZE */
        return remember(reading, reading->pickle->memo_count);
    case 'h':
        return recall(reading, vti_reader_u8(&reading->in));
    case 'j':
        return recall(reading, vti_reader_u32(&reading->in));
    default:
        return do_container(reading, opcode);
    }
}

int vti_pickle_read(struct vti_pickle *pickle, const char *name, const void *bytes, size_t count,
                    uint32_t *root)
{
    struct reading reading = {.pickle = pickle, .start = bytes, .name = name, .size = count};
    int code = 0;

    memset(pickle, 0, sizeof *pickle);
    if (count > BYTES_MOST)
        return vti_fail(VTI_E_LIMIT, "%s: larger than %u MB", name, BYTES_MOST >> 20);
    vti_reader_init(&reading.in, bytes, count);
    if (!count || ((const uint8_t *)bytes)[0] != 0x80)
        return refuse(&reading, "not how one begins");
    while (!code) {
        uint8_t opcode = vti_reader_u8(&reading.in);

        if (reading.in.failed)
            return refuse(&reading, "cut off");
        if (opcode == '.')
            break;
        code = do_opcode(&reading, opcode);
        if (!code && reading.in.failed)
            code = refuse(&reading, "cut off");
    }
    if (code)
        return code == VTI_E_NOMEM ? vti_fail(code, "out of memory") : code;
    if (!pickle->stack_count)
        return refuse(&reading, "it is empty");
    *root = pickle->stack[pickle->stack_count - 1];
    return 0;
}

void vti_pickle_free(struct vti_pickle *pickle)
{
    free(pickle->values);
    free(pickle->items);
    free(pickle->stack);
    free(pickle->marks);
    free(pickle->memo);
    memset(pickle, 0, sizeof *pickle);
}
