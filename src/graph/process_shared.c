/*
 * process_shared.c - rings and lanes in the memory that the caller and its workers share. No locks, no memory of its own.
 */
#include "graph/process_shared.h"

void vti_ring_push(struct vti_ring *ring, uint32_t number)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    /* It has room for all slots of its lane, so it cannot be full. */
    ring->numbers[tail % VTI_LANE_SLOTS] = number;
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

uint32_t vti_ring_pull(struct vti_ring *ring)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t number;

    if (head == atomic_load_explicit(&ring->tail, memory_order_acquire))
        return UINT32_MAX;
    number = ring->numbers[head % VTI_LANE_SLOTS];
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return number;
}

int vti_ring_is_empty(const struct vti_ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_relaxed) ==
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

struct vti_lane *vti_shared_lane(struct vti_header *header, uint32_t lane)
{
    size_t first = (sizeof *header + 4095) & ~(size_t)4095;

    return (struct vti_lane *)((uint8_t *)header + first) + lane;
}

void vti_shared_segments(struct vti_header *header, struct vti_segments *segments)
{
    segments->base = (uint8_t *)header;
    segments->owners = (_Atomic uint32_t *)(segments->base + header->owners);
    segments->first = header->first_segment;
    segments->bytes = header->segment_bytes;
    segments->count = header->segment_count;
}
