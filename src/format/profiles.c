/* profiles.c - entries of PROFILE blocks, as docs/format.md has them. */
#include "format/profiles.h"

#include <string.h>

static void add_double(struct vti_buf *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    vti_buf_add_u64(out, bits);
}

static double take_double(struct vti_reader *in)
{
    uint64_t bits = vti_reader_u64(in);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

void vti_profile_write(struct vti_buf *out, const struct vti_profile_fact *fact)
{
    vti_buf_add_varint(out, fact->site);
    vti_buf_add_varint(out, fact->flags);
    vti_buf_add_varint(out, fact->calls);
    vti_buf_add_varint(out, fact->primitive);
    add_double(out, fact->self_s);
    add_double(out, fact->total_s);
}

bool vti_profile_read(struct vti_reader *in, struct vti_profile_fact *fact)
{
    fact->site = (uint32_t)vti_reader_count(in, UINT32_MAX - 1);
    fact->flags = (uint32_t)vti_reader_count(in, UINT32_MAX);
    fact->calls = vti_reader_varint(in);
    fact->primitive = vti_reader_varint(in);
    fact->self_s = take_double(in);
    fact->total_s = take_double(in);
    return !in->failed;
}
