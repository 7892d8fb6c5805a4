/* flight.c - blocks that wait, oldest first. What gives way is counted in one loss. */
#include "drain/flight.h"

#include "drain/clock.h"

#include <stdlib.h>
#include <string.h>

#define BYTES (256u << 20)

struct vti_flight_block {
    struct vti_flight_block *next;
    struct vti_block_header header;
    uint64_t taken_ns;
    size_t bytes;
    uint8_t data[];
};

void vti_flight_init(struct vti_flight *flight, uint64_t ns, uint64_t bytes)
{
    *flight = (struct vti_flight){.ns = ns, .most_bytes = bytes ? bytes : BYTES};
    flight->overwritten.reason = VTI_LOSS_OVERWRITTEN;
    flight->end = &flight->first;
}

static struct vti_flight_block *pop(struct vti_flight *flight)
{
    struct vti_flight_block *block = flight->first;

    flight->first = block->next;
    if (!flight->first)
        flight->end = &flight->first;
    flight->bytes -= block->bytes;
    return block;
}

void vti_flight_fini(struct vti_flight *flight)
{
    while (flight->first)
        free(pop(flight));
}

/* Dependencies take the block of their tasks along: these would seem to have had none. Readings are no events. */
static void forget_oldest(struct vti_flight *flight)
{
    struct vti_loss_fact *loss = &flight->overwritten;
    bool wants_tasks = false;

    do {
        struct vti_flight_block *block = pop(flight);
        unsigned kind = block->header.kind;

        wants_tasks = kind == VTI_EDGES || (wants_tasks && kind != VTI_TASKS);
        if (kind != VTI_EDGES && kind != VTI_ENERGY && kind != VTI_THREAD_CPU) {
            if (!loss->events || block->header.first < loss->first)
                loss->first = block->header.first;
            if (block->header.last > loss->last)
                loss->last = block->header.last;
            loss->events += block->header.count;
        }
        free(block);
    } while (wants_tasks && flight->first);
}

bool vti_flight_keep(struct vti_flight *flight, const struct vti_block_header *header,
                     const struct vti_buf *bytes)
{
    struct vti_flight_block *block = bytes->failed ? NULL : malloc(sizeof *block + bytes->len);

    if (!block)
        return false;
    block->next = NULL;
    block->header = *header;
    block->taken_ns = vti_clock_now_ns();
    block->bytes = bytes->len;
    memcpy(block->data, bytes->data, block->bytes);
    *flight->end = block;
    flight->end = &block->next;
    flight->bytes += block->bytes;
    while (flight->bytes > flight->most_bytes)
        forget_oldest(flight);
    return true;
}

void vti_flight_age(struct vti_flight *flight, uint64_t now_ns)
{
    while (flight->first && now_ns > flight->first->taken_ns + flight->ns)
        forget_oldest(flight);
}

int vti_flight_write(struct vti_flight *flight, struct vti_writer *writer)
{
    int code = 0;

    while (flight->first) {
        struct vti_flight_block *block = pop(flight);
        int now = vti_writer_block(writer, &block->header, block->data);

        code = code ? code : now;
        free(block);
    }
    if (flight->overwritten.events) {
        int now = vti_writer_loss(writer, &flight->overwritten);

        code = code ? code : now;
    }
    return code;
}
