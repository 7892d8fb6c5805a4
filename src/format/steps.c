/*
 * steps.c - entries of STEPS blocks, as docs/format.md has them.
 *
 * What is read is untrusted: texts are bounded, and no sum of times wraps.
 */
#include "format/steps.h"

#include "base/varint.h"
#include "format/entry.h"

#include <string.h>

/* The first number of an entry says what happened, and which of the others follow. */
enum {
    IS_FAILED = 1 << 0,
    IS_METRICS = 1 << 1,
    IS_CUT = 1 << 2,
    HAS_MESSAGES = 1 << 3, /* else there was one */
    HAS_EXECUTE = 1 << 4,
    HAS_PRE = 1 << 5,
    HAS_POST = 1 << 6,
    HAS_PRODUCE = 1 << 7,
    HAS_LAG = 1 << 8,
    HAS_EXTRA = 1 << 9
};

#define NUMBERS_MOST 13 /* of an entry, its text's lengths among them */
#define SLOPE_MOST 1e9  /* nanoseconds a tick: slower than any clock */

void vti_step_codec_clear(struct vti_step_codec *codec)
{
    vti_buf_clear(&codec->extra);
    codec->ticks = codec->number = 0;
}

void vti_step_codec_fini(struct vti_step_codec *codec)
{
    vti_buf_fini(&codec->extra);
    vti_buf_fini(&codec->body);
    memset(codec, 0, sizeof *codec);
}

/* ---- what a block begins with -------------------------------------------------------------------- */

void vti_steps_head_write(struct vti_buf *out, const struct vti_steps_head *head)
{
    uint64_t slope;

    memcpy(&slope, &head->ns_per_tick, sizeof slope);
    vti_buf_add_u64(out, head->ticks);
    vti_buf_add_u64(out, (uint64_t)head->realtime_ns);
    vti_buf_add_u64(out, slope);
}

bool vti_steps_head_read(struct vti_reader *in, struct vti_steps_head *head)
{
    uint64_t slope;

    head->ticks = vti_reader_u64(in);
    head->realtime_ns = (int64_t)vti_reader_u64(in);
    slope = vti_reader_u64(in);
    memcpy(&head->ns_per_tick, &slope, sizeof slope);
    if (!(head->ns_per_tick > 0 && head->ns_per_tick <= SLOPE_MOST) || head->realtime_ns < 0)
        in->failed = true;
    return !in->failed;
}

int64_t vti_steps_realtime(const struct vti_steps_head *head, uint64_t ticks)
{
    double since = ticks >= head->ticks ? (double)(ticks - head->ticks)
                                        : -(double)(head->ticks - ticks);
    double ns = since * head->ns_per_tick;

    if (ns >= (double)(INT64_MAX - head->realtime_ns))
        return INT64_MAX;
    if (ns <= -(double)head->realtime_ns)
        return 0;
    return head->realtime_ns + (int64_t)ns;
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Into memory that is known to have room. */
static uint8_t *add(uint8_t *to, uint64_t value)
{
    return to + vti_varint_put(to, value);
}

static uint8_t *add_signed(uint8_t *to, uint64_t value)
{
    return add(to, vti_zigzag((int64_t)value));
}

static size_t common(const struct vti_buf *before, struct vti_bytes text)
{
    size_t most = before->len < text.len ? before->len : text.len;
    size_t same = 0;

    while (same < most && before->data[same] == (uint8_t)text.data[same])
        same++;
    return same;
}

static uint8_t *add_extra(uint8_t *to, struct vti_buf *before, struct vti_bytes extra)
{
    size_t same = common(before, extra);

    to = add(to, same);
    to = add(to, extra.len - same);
    if (extra.len > same)
        memcpy(to, extra.data + same, extra.len - same);
    before->len = same;
    vti_buf_add(before, extra.data + same, extra.len - same);
    return to + (extra.len - same);
}

static uint32_t what_is_known(const struct vti_step_fact *fact, bool is_cut)
{
    uint32_t flags = 0;

    flags |= fact->is_failed ? IS_FAILED : 0;
    flags |= fact->is_metrics ? IS_METRICS : 0;
    flags |= is_cut ? IS_CUT : 0;
    flags |= fact->messages != 1 ? HAS_MESSAGES : 0;
    flags |= fact->execute_ns != VTI_STEP_UNKNOWN ? HAS_EXECUTE : 0;
    flags |= fact->pre_ns != VTI_STEP_UNKNOWN ? HAS_PRE : 0;
    flags |= fact->post_ns != VTI_STEP_UNKNOWN ? HAS_POST : 0;
    flags |= fact->produce_ns != VTI_STEP_UNKNOWN ? HAS_PRODUCE : 0;
    flags |= fact->lag_ns != VTI_STEP_LAG_UNKNOWN ? HAS_LAG : 0;
    flags |= fact->extra.len && !is_cut ? HAS_EXTRA : 0;
    return flags;
}

void vti_step_write(struct vti_buf *out, struct vti_step_codec *codec,
                    const struct vti_step_fact *fact)
{
    bool is_cut = fact->is_cut || fact->extra.len > VTI_STEP_EXTRA_MAX;
    uint32_t flags = what_is_known(fact, is_cut);
    struct vti_buf *body = &codec->body;
    size_t extra = flags & HAS_EXTRA ? fact->extra.len : 0;
    uint8_t *to;

    vti_buf_clear(body);
    to = vti_buf_reserve(body, NUMBERS_MOST * VTI_VARINT_MAX + extra);
    if (!to) {
        out->failed = true;
        return;
    }
    to = add(to, flags);
    to = add(to, fact->site);
    to = add_signed(to, fact->number - codec->number);
    to = add_signed(to, fact->sent - codec->ticks);
    to = add(to, fact->sent > fact->received ? fact->sent - fact->received : 0);
    if (flags & HAS_MESSAGES)
        to = add(to, fact->messages);
    if (flags & HAS_EXECUTE)
        to = add(to, fact->execute_ns);
    if (flags & HAS_PRE)
        to = add(to, fact->pre_ns);
    if (flags & HAS_POST)
        to = add(to, fact->post_ns);
    if (flags & HAS_PRODUCE)
        to = add(to, fact->produce_ns);
    if (flags & HAS_LAG)
        to = add_signed(to, (uint64_t)fact->lag_ns);
    if (flags & HAS_EXTRA)
        to = add_extra(to, &codec->extra, fact->extra);
    body->len = (size_t)(to - body->data);
    out->failed |= codec->extra.failed;
    codec->number = fact->number;
    codec->ticks = fact->sent;
    vti_entry_write(out, VTI_STEP_DONE, body);
}

/* ---- reading ------------------------------------------------------------------------------------- */

static void take_extra(struct vti_reader *in, struct vti_step_codec *codec,
                       struct vti_step_fact *fact)
{
    struct vti_buf *text = &codec->extra;
    size_t same = (size_t)vti_reader_count(in, text->len);
    size_t len;
    const char *rest = vti_reader_string(in, &len);

    if (in->failed || len > VTI_STEP_EXTRA_MAX - same) {
        in->failed = true;
        return;
    }
    text->len = same;
    vti_buf_add(text, rest, len);
    in->failed |= text->failed;
    fact->extra = (struct vti_bytes){text->len ? (const char *)text->data : "", text->len};
}

static uint64_t take_known(struct vti_reader *in, bool is_there)
{
    return is_there ? vti_reader_varint(in) : VTI_STEP_UNKNOWN;
}

static void read_done(struct vti_reader *in, struct vti_step_codec *codec,
                      struct vti_step_fact *fact)
{
    uint64_t flags = vti_reader_varint(in);
    uint64_t age;

    fact->is_failed = flags & IS_FAILED;
    fact->is_metrics = flags & IS_METRICS;
    fact->is_cut = flags & IS_CUT;
    fact->site = vti_entry_id(in);
    fact->number = codec->number + (uint64_t)vti_reader_signed(in);
    fact->sent = codec->ticks + (uint64_t)vti_reader_signed(in);
    age = vti_reader_varint(in);
    fact->received = fact->sent > age ? fact->sent - age : 0;
    fact->messages = flags & HAS_MESSAGES ? vti_reader_varint(in) : 1;
    fact->execute_ns = take_known(in, flags & HAS_EXECUTE);
    fact->pre_ns = take_known(in, flags & HAS_PRE);
    fact->post_ns = take_known(in, flags & HAS_POST);
    fact->produce_ns = take_known(in, flags & HAS_PRODUCE);
    fact->lag_ns = flags & HAS_LAG ? vti_reader_signed(in) : VTI_STEP_LAG_UNKNOWN;
    if (flags & HAS_EXTRA)
        take_extra(in, codec, fact);
    codec->number = fact->number;
    codec->ticks = fact->sent;
}

bool vti_step_read(struct vti_reader *in, struct vti_step_codec *codec, struct vti_step_fact *fact)
{
    struct vti_reader body;

    memset(fact, 0, sizeof *fact);
    fact->extra.data = "";
    if (!vti_entry_read(in, &fact->type, &body))
        return false;
    if (fact->type == VTI_STEP_DONE)
        read_done(&body, codec, fact);
    return !body.failed;
}
