/*
 * tasks.c - entries of TASKS and EDGES blocks, as docs/format.md has them.
 *
 * What is read is untrusted: keys are bounded, sums of times do not wrap into nonsense that anything would index by.
 */
#include "format/tasks.h"

#include "base/varint.h"
#include "format/entry.h"
#include "format/facts.h"

#include <string.h>

/* The first number of a task says which of the others follow. */
enum {
    STATE_BITS = 7, /* state, then the action in the same number of bits */
    ACTION_SHIFT = 3,
    CPU_ESTIMATED = 1 << 6,
    HAS_READY = 1 << 7,
    HAS_START = 1 << 8,
    HAS_CPU = 1 << 9,
    HAS_BYTES = 1 << 10,
    HAS_FREED = 1 << 11,
    HAS_RETRIES = 1 << 12,
    HAS_RUN = 1 << 13 /* it is of another run than the one before */
};

#define NUMBERS_MOST 16 /* of a task, its key's lengths among them */

void vti_task_codec_clear(struct vti_task_codec *codec)
{
    for (unsigned i = 0; i < VTI_TASK_KEYS; i++)
        vti_buf_clear(&codec->keys[i]);
    codec->ticks = 0;
    codec->run = codec->number = 0;
}

void vti_task_codec_fini(struct vti_task_codec *codec)
{
    for (unsigned i = 0; i < VTI_TASK_KEYS; i++)
        vti_buf_fini(&codec->keys[i]);
    vti_buf_fini(&codec->body);
    memset(codec, 0, sizeof *codec);
}

/* ---- writing ------------------------------------------------------------------------------------- */

static void put_difference(struct vti_buf *out, uint64_t value, uint64_t before)
{
    vti_buf_add_signed(out, (int64_t)(value - before));
}

/* The same, and varints, into memory that is known to have room: there are many tasks, with ten numbers each. */
static uint8_t *add(uint8_t *to, uint64_t value)
{
    return to + vti_varint_put(to, value);
}

static uint8_t *add_difference(uint8_t *to, uint64_t value, uint64_t before)
{
    return add(to, vti_zigzag((int64_t)(value - before)));
}

static size_t common(const struct vti_buf *before, struct vti_bytes key)
{
    size_t most = before->len < key.len ? before->len : key.len;
    size_t same = 0;

    while (same < most && before->data[same] == (uint8_t)key.data[same])
        same++;
    return same;
}

static uint8_t *add_key(uint8_t *to, struct vti_buf *before, struct vti_bytes key)
{
    size_t same = common(before, key);

    to = add(to, same);
    to = add(to, key.len - same);
    before->len = same;
    vti_buf_add(before, key.data + same, key.len - same);
    if (key.len > same)
        memcpy(to, key.data + same, key.len - same);
    return to + (key.len - same);
}

static uint32_t what_is_known(const struct vti_task_fact *fact, uint32_t run)
{
    uint32_t flags = (fact->state & STATE_BITS) | (fact->action & STATE_BITS) << ACTION_SHIFT;

    flags |= fact->ready ? HAS_READY : 0;
    flags |= fact->start ? HAS_START : 0;
    flags |= fact->freed ? HAS_FREED : 0;
    flags |= fact->retries ? HAS_RETRIES : 0;
    flags |= fact->bytes != VTI_TASK_UNKNOWN ? HAS_BYTES : 0;
    flags |= fact->run != run ? HAS_RUN : 0;
    if (fact->cpu_ns != VTI_TASK_UNKNOWN)
        flags |= HAS_CPU | (fact->cpu_is_estimated ? CPU_ESTIMATED : 0);
    return flags;
}

static void write_task(struct vti_buf *out, struct vti_task_codec *codec,
                       const struct vti_task_fact *fact)
{
    struct vti_buf *before = &codec->keys[fact->site % VTI_TASK_KEYS];
    uint32_t flags = what_is_known(fact, codec->run);
    uint64_t end = fact->end > fact->start ? fact->end : fact->start;
    struct vti_bytes key = {
        fact->key.data, fact->key.len < VTI_TASK_KEY_BYTES ? fact->key.len : VTI_TASK_KEY_BYTES};
    uint8_t *to = vti_buf_reserve(out, NUMBERS_MOST * VTI_VARINT_MAX + key.len);

    if (!to)
        return;
    to = add(to, flags);
    if (flags & HAS_RUN)
        to = add(to, fact->run);
    to = add_difference(to, fact->number, codec->number);
    to = add(to, fact->site);
    to = add(to, fact->worker_plus_one);
    if (flags & HAS_RETRIES)
        to = add(to, fact->retries);
    if (flags & HAS_START) {
        to = add_difference(to, fact->start, codec->ticks);
        to = add(to, end - fact->start);
        codec->ticks = end;
    }
    if (flags & HAS_READY)
        to = add_difference(to, flags & HAS_START ? fact->start : codec->ticks, fact->ready);
    if (flags & HAS_FREED)
        to = add_difference(to, fact->freed, codec->ticks);
    if (flags & HAS_CPU)
        to = add(to, fact->cpu_ns);
    if (flags & HAS_BYTES)
        to = add(to, fact->bytes);
    to = add_key(to, before, key);
    out->failed |= before->failed;
    out->len = (size_t)(to - out->data);
    codec->run = fact->run;
    codec->number = fact->number;
}

static void write_run(struct vti_buf *out, struct vti_task_codec *codec,
                      const struct vti_task_fact *fact)
{
    vti_buf_add_varint(out, fact->run);
    put_difference(out, fact->ticks, codec->ticks);
    codec->ticks = fact->ticks;
    if (fact->type == VTI_TASK_RUN) {
        vti_buf_add_varint(out, fact->parent);
        vti_buf_add_varint(out, fact->planned);
        vti_buf_add_varint(out, fact->workers);
    } else {
        vti_buf_add_varint(out, fact->lost);
    }
    vti_bytes_put(out, fact->text);
}

static void write_worker(struct vti_buf *out, const struct vti_task_fact *fact)
{
    vti_buf_add_varint(out, fact->run);
    vti_buf_add_varint(out, fact->number);
    vti_buf_add_varint(out, fact->pid);
    vti_buf_add_varint(out, fact->tid);
    vti_bytes_put(out, fact->text);
}

void vti_task_write(struct vti_buf *out, struct vti_task_codec *codec,
                    const struct vti_task_fact *fact)
{
    struct vti_buf *body = &codec->body;

    vti_buf_clear(body);
    if (fact->type == VTI_TASK_TASK)
        write_task(body, codec, fact);
    else if (fact->type == VTI_TASK_WORKER)
        write_worker(body, fact);
    else
        write_run(body, codec, fact);
    vti_entry_write(out, fact->type, body);
}

void vti_edges_write(struct vti_buf *out, struct vti_task_codec *codec,
                     const struct vti_edges_fact *fact)
{
    uint32_t before = fact->number;
    uint8_t *to = vti_buf_reserve(out, (4 + (size_t)fact->count) * VTI_VARINT_MAX);

    if (!to)
        return;
    to = add_difference(to, fact->run, codec->run);
    to = add_difference(to, fact->number, codec->number);
    to = add(to, (uint64_t)fact->count << 1 | (fact->before != 0));
    if (fact->before)
        to = add(to, fact->before);
    for (uint32_t i = 0; i < fact->count; i++) {
        to = add_difference(to, fact->dependencies[i], before);
        before = fact->dependencies[i];
    }
    out->len = (size_t)(to - out->data);
    codec->run = fact->run;
    codec->number = fact->number;
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* A number of 32 bits that is told as a difference. */
static uint32_t take_near(struct vti_reader *in, uint32_t before)
{
    uint64_t value = before + (uint64_t)vti_reader_signed(in);

    if (value >= UINT32_MAX)
        in->failed = true;
    return in->failed ? 0 : (uint32_t)value;
}

static void take_key(struct vti_reader *in, struct vti_task_codec *codec,
                     struct vti_task_fact *fact)
{
    struct vti_buf *key = &codec->keys[fact->site % VTI_TASK_KEYS];
    size_t same = (size_t)vti_reader_count(in, key->len);
    struct vti_bytes rest = vti_bytes_get(in);

    if (in->failed || rest.len > VTI_TASK_KEY_BYTES - same) {
        in->failed = true;
        return;
    }
    key->len = same;
    vti_buf_add(key, rest.data, rest.len);
    in->failed |= key->failed;
    fact->key = (struct vti_bytes){key->len ? (const char *)key->data : "", key->len};
}

static void read_task(struct vti_reader *in, struct vti_task_codec *codec,
                      struct vti_task_fact *fact)
{
    uint64_t flags = vti_reader_varint(in);

    fact->state = flags & STATE_BITS;
    fact->action = flags >> ACTION_SHIFT & STATE_BITS;
    fact->cpu_is_estimated = (flags & CPU_ESTIMATED) != 0;
    fact->run = flags & HAS_RUN ? vti_entry_id(in) : codec->run;
    fact->number = take_near(in, codec->number);
    fact->site = vti_entry_id(in);
    fact->worker_plus_one = (uint32_t)vti_reader_count(in, UINT32_MAX);
    fact->retries = flags & HAS_RETRIES ? (uint32_t)vti_reader_count(in, UINT32_MAX) : 0;
    if (flags & HAS_START) {
        fact->start = codec->ticks + (uint64_t)vti_reader_signed(in);
        fact->end = vti_add_capped(fact->start, vti_reader_varint(in));
        fact->end = fact->start ? fact->end : 0;
        codec->ticks = fact->end;
    }
    if (flags & HAS_READY)
        fact->ready = (flags & HAS_START ? fact->start : codec->ticks) -
                      (uint64_t)vti_reader_signed(in);
    if (flags & HAS_FREED)
        fact->freed = codec->ticks + (uint64_t)vti_reader_signed(in);
    fact->cpu_ns = flags & HAS_CPU ? vti_reader_varint(in) : VTI_TASK_UNKNOWN;
    fact->bytes = flags & HAS_BYTES ? vti_reader_varint(in) : VTI_TASK_UNKNOWN;
    take_key(in, codec, fact);
    codec->run = fact->run;
    codec->number = fact->number;
}

static void read_run(struct vti_reader *in, struct vti_task_codec *codec,
                     struct vti_task_fact *fact)
{
    fact->run = vti_entry_id(in);
    fact->ticks = codec->ticks + (uint64_t)vti_reader_signed(in);
    codec->ticks = fact->ticks;
    if (fact->type == VTI_TASK_RUN) {
        fact->parent = vti_entry_id(in);
        fact->planned = vti_reader_varint(in);
        fact->workers = vti_reader_varint(in);
    } else {
        fact->lost = vti_reader_varint(in);
    }
    fact->text = vti_bytes_get(in);
}

static void read_worker(struct vti_reader *in, struct vti_task_fact *fact)
{
    fact->run = vti_entry_id(in);
    fact->number = vti_entry_id(in);
    fact->pid = vti_reader_varint(in);
    fact->tid = vti_reader_varint(in);
    fact->text = vti_bytes_get(in);
}

bool vti_task_read(struct vti_reader *in, struct vti_task_codec *codec, struct vti_task_fact *fact)
{
    struct vti_reader body;

    memset(fact, 0, sizeof *fact);
    if (!vti_entry_read(in, &fact->type, &body))
        return false;
    if (fact->type == VTI_TASK_TASK)
        read_task(&body, codec, fact);
    else if (fact->type == VTI_TASK_WORKER)
        read_worker(&body, fact);
    else if (fact->type == VTI_TASK_RUN || fact->type == VTI_TASK_RUN_END)
        read_run(&body, codec, fact);
    return !body.failed;
}

bool vti_edges_read(struct vti_reader *in, struct vti_task_codec *codec,
                    struct vti_edges_fact *fact)
{
    uint64_t count;
    uint32_t before;

    fact->run = take_near(in, codec->run);
    fact->number = before = take_near(in, codec->number);
    count = vti_reader_count(in, (uint64_t)vti_reader_left(in) << 1 | 1);
    fact->before = count & 1 ? vti_reader_varint(in) : 0;
    fact->count = (uint32_t)(count >> 1);
    vti_buf_clear(&codec->body);
    for (uint32_t i = 0; i < fact->count && !in->failed; i++) {
        before = take_near(in, before);
        vti_buf_add(&codec->body, &before, sizeof before);
    }
    fact->dependencies = (const void *)codec->body.data;
    codec->run = fact->run;
    codec->number = fact->number;
    return !in->failed && !codec->body.failed;
}
