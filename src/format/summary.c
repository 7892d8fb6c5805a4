/* summary.c - what an EVENTS block says about itself, so that a reader need not decode it. */
#include "base/error.h"
#include "base/varint.h"
#include "format/decode.h"
#include "format/encode.h"

size_t vti_summary_put(uint8_t *to, const struct vti_summary *summary, uint64_t last)
{
    uint8_t *at = to;

    at += vti_varint_put(at, summary->busy);
    at += vti_varint_put(at, summary->begins);
    at += vti_varint_put(at, summary->ends);
    at += vti_varint_put(at, summary->errors);
    at += vti_varint_put(at, summary->deepest);
    at += vti_varint_put(at, summary->lane_count);
    for (uint32_t i = 0; i < summary->lane_count; i++) {
        const struct vti_lane *lane = &summary->lanes[i];

        if (lane->site == 0) {
            *at++ = 0;
            continue;
        }
        at += vti_varint_put(at, (uint64_t)lane->site + 1);
        at += vti_varint_put(at, last - lane->end);
        at += vti_varint_put(at, lane->end - lane->begin);
    }
    return (size_t)(at - to);
}

static void parse_lane(struct vti_reader *in, const struct vti_block_header *header,
                       struct vti_lane *lane)
{
    uint64_t site_plus_one = vti_reader_count(in, (uint64_t)UINT32_MAX + 1);

    lane->site = 0;
    lane->begin = 0;
    lane->end = 0;
    if (site_plus_one == 0)
        return;
    lane->site = (uint32_t)(site_plus_one - 1);
    lane->end = header->last - vti_reader_count(in, header->last - header->first);
    lane->begin = lane->end - vti_reader_count(in, lane->end);
}

int vti_summary_parse(const struct vti_block_header *header, const uint8_t *payload,
                      struct vti_summary *summary)
{
    struct vti_reader in;

    if (header->kind != VTI_EVENTS || header->last < header->first ||
        header->summary_bytes > header->payload_bytes)
        return vti_fail(VTI_E_DAMAGED, "block header does not fit an event block");
    vti_reader_init(&in, payload, header->summary_bytes);
    summary->busy = vti_reader_count(&in, header->last - header->first);
    summary->begins = vti_reader_count(&in, header->count);
    summary->ends = vti_reader_count(&in, header->count);
    summary->errors = vti_reader_count(&in, header->count);
    summary->deepest = (uint32_t)vti_reader_count(&in, UINT32_MAX);
    summary->lane_count = (uint32_t)vti_reader_count(&in, VTI_LANES_MAX);
    for (uint32_t i = 0; i < summary->lane_count && !in.failed; i++)
        parse_lane(&in, header, &summary->lanes[i]);
    if (in.failed)
        return vti_fail(VTI_E_DAMAGED, "summary does not parse at payload byte %zu",
                        (size_t)(in.at - payload));
    vti_reader_init(&in, payload + header->summary_bytes,
                    header->payload_bytes - header->summary_bytes);
    summary->open = (uint32_t)vti_reader_count(&in, VTI_STACK_MAX);
    return 0;
}
