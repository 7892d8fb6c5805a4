/*
 * process_memory.c - makes the memory that workers share, and keeps count of the values in it. A block is given back to the worker whose
 * segment it is in; the segments of a dead worker are given up one by one when their last value is gone.
 */
#include "graph/process_memory.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEFAULT_BYTES ((size_t)256 << 20)
#define LEAST_SEGMENT ((uint32_t)16 << 10)
#define MOST_SEGMENT ((uint32_t)1 << 20)
#define ORPHAN UINT32_MAX /* the mark of a segment whose worker is dead */

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* Where everything is; segments are small enough that each worker can have some of each class. */
static void lay_out(struct vti_header *header, unsigned lanes, uint64_t bytes)
{
    uint64_t lanes_at = (uint64_t)((uint8_t *)vti_shared_lane(header, 0) - (uint8_t *)header);
    uint32_t segment = LEAST_SEGMENT;

    while (segment < MOST_SEGMENT && bytes / segment > 2048)
        segment *= 2;
    header->magic = VTI_SHARED_MAGIC;
    header->lane_count = lanes;
    header->segment_bytes = segment;
    header->segment_count = (uint32_t)(round_up(bytes, segment) / segment);
    header->owners = lanes_at + (uint64_t)lanes * sizeof(struct vti_lane);
    header->first_segment = round_up(
        header->owners + (uint64_t)header->segment_count * sizeof(uint32_t), 4096);
    header->bytes = header->first_segment + (uint64_t)header->segment_count * segment;
}

static int map(struct vti_memory *memory, unsigned lanes, size_t bytes)
{
    struct vti_header plan = {0};

    if (bytes > (uint64_t)MOST_SEGMENT << 30)
        return vti_fail(VTI_E_LIMIT, "shared_bytes of %zu are more than can be had", bytes);
    lay_out(&plan, lanes, bytes);
    memory->fd = memfd_create("venturi-graph", MFD_CLOEXEC);
    if (memory->fd < 0)
        return vti_fail_errno(VTI_E_SYSTEM, "shared memory");
    if (ftruncate(memory->fd, (off_t)plan.bytes) != 0)
        return vti_fail_errno(VTI_E_SYSTEM, "shared memory of %llu bytes",
                              (unsigned long long)plan.bytes);
    memory->header = mmap(NULL, plan.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                          memory->fd, 0);
    if (memory->header == MAP_FAILED) {
        memory->header = NULL;
        return vti_fail_errno(VTI_E_SYSTEM, "shared memory of %llu bytes",
                              (unsigned long long)plan.bytes);
    }
    memory->bytes = plan.bytes;
    *memory->header = plan;
    return 0;
}

static void unmap(struct vti_memory *memory)
{
    if (memory->header != NULL)
        munmap(memory->header, memory->bytes);
    if (memory->fd >= 0)
        close(memory->fd);
    vti_space_fini(&memory->space);
    pthread_mutex_destroy(&memory->lock);
    free(memory->live);
    free(memory->span);
    free(memory);
}

struct vti_memory *vti_memory_open(unsigned lanes, size_t bytes)
{
    struct vti_memory *memory = calloc(1, sizeof *memory);
    int result;

    if (memory == NULL) {
        vti_fail(VTI_E_NOMEM, "no memory for workers");
        return NULL;
    }
    memory->fd = -1;
    pthread_mutex_init(&memory->lock, NULL);
    result = map(memory, lanes, bytes ? bytes : DEFAULT_BYTES);
    if (result == 0) {
        vti_shared_segments(memory->header, &memory->segments);
        memory->live = calloc(memory->segments.count, sizeof *memory->live);
        memory->span = calloc(memory->segments.count, sizeof *memory->span);
        if (memory->live == NULL || memory->span == NULL)
            result = vti_fail(VTI_E_NOMEM, "no memory for %u segments", memory->segments.count);
    }
    if (result == 0)
        result = vti_space_init(&memory->space, &memory->segments, lanes + 1);
    if (result != 0) {
        unmap(memory);
        return NULL;
    }
    return memory;
}

void vti_memory_close(struct vti_memory *memory)
{
    bool is_last;

    pthread_mutex_lock(&memory->lock);
    memory->is_closed = true;
    close(memory->fd);
    memory->fd = -1;
    is_last = !memory->values;
    pthread_mutex_unlock(&memory->lock);
    if (is_last)
        unmap(memory);
}

static void release(struct vti_memory *memory, uint32_t segment)
{
    for (uint32_t i = 0; i < memory->span[segment]; i++)
        atomic_store(&memory->segments.owners[segment + i], VTI_SPACE_FREE);
}

/* With the lock. */
static void give_back(struct vti_memory *memory, uint64_t offset)
{
    uint32_t segment = vti_segments_of(&memory->segments, offset);
    uint32_t owner = atomic_load(&memory->segments.owners[segment]);

    if (owner == ORPHAN) {
        if (!memory->live[segment])
            release(memory, segment);
    } else if (owner - 1 < memory->header->lane_count) {
        vti_given_push(&vti_shared_lane(memory->header, owner - 1)->given,
                       (uint8_t *)memory->header, offset);
    }
}

static void destroy(void *data, void *with)
{
    struct vti_memory *memory = with;
    uint64_t offset = (uint64_t)((uint8_t *)data - (uint8_t *)memory->header);
    bool is_last;

    pthread_mutex_lock(&memory->lock);
    memory->live[vti_segments_of(&memory->segments, offset)]--;
    if (!memory->is_closed)
        give_back(memory, offset);
    is_last = --memory->values == 0 && memory->is_closed;
    pthread_mutex_unlock(&memory->lock);
    if (is_last)
        unmap(memory);
}

static bool is_inside(const struct vti_memory *memory, uint64_t offset, uint64_t size)
{
    return offset >= memory->segments.first && offset < memory->bytes &&
           size <= memory->bytes - offset;
}

int vti_memory_value(struct vti_memory *memory, const struct vti_flat *flat, struct vt_datum *value)
{
    uint64_t size = flat->size, bits = flat->bits;
    uint32_t segment, span;

    memset(value, 0, sizeof *value);
    value->type = flat->type;
    value->size = size;
    if (flat->type == VT_DATUM_NONE || flat->type == VT_DATUM_INT ||
        flat->type == VT_DATUM_DOUBLE) {
        memcpy(&value->as, &bits, sizeof value->as);
        return 0;
    }
    if (flat->type != VT_DATUM_BYTES || (flat->place == VTI_FLAT_HERE && size) ||
        (flat->place != VTI_FLAT_HERE && !is_inside(memory, bits, size))) {
        value->type = VT_DATUM_NONE;
        return -1;
    }
    if (flat->place == VTI_FLAT_HERE)
        return 0;
    *value = vt_datum_bytes((uint8_t *)memory->header + bits, size, destroy, memory);
    segment = vti_segments_of(&memory->segments, bits);
    span = size ? (uint32_t)((size - 1) / memory->segments.bytes) + 1 : 1;
    pthread_mutex_lock(&memory->lock);
    memory->live[segment]++;
    memory->span[segment] = span;
    memory->values++;
    pthread_mutex_unlock(&memory->lock);
    return 0;
}

char *vti_memory_text(struct vti_memory *memory, const struct vti_flat *flat)
{
    uint64_t offset = flat->bits, size = flat->size;
    char *text;

    if (flat->type != VT_DATUM_BYTES || offset >= memory->bytes || size >= memory->bytes - offset)
        return NULL;
    text = strndup((const char *)memory->header + offset, size);
    pthread_mutex_lock(&memory->lock);
    if (is_inside(memory, offset, size))
        give_back(memory, offset);
    pthread_mutex_unlock(&memory->lock);
    return text;
}

bool vti_memory_has(const struct vti_memory *memory, const void *data, size_t size,
                    uint64_t *offset)
{
    uint64_t from = (uint64_t)((uintptr_t)data - (uintptr_t)memory->header);

    *offset = from;
    return (uintptr_t)data >= (uintptr_t)memory->header && is_inside(memory, from, size);
}

bool vti_memory_is_tight(const struct vti_memory *memory)
{
    const struct vti_segments *segments = &memory->segments;

    return vti_segments_left(segments) < (uint64_t)segments->count * segments->bytes / 2;
}

void vti_memory_bury(struct vti_memory *memory, uint32_t lane)
{
    uint32_t held = 0; /* segments from here on belong to a value */

    pthread_mutex_lock(&memory->lock);
    for (uint32_t i = 0; i < memory->segments.count; i++) {
        if (atomic_load(&memory->segments.owners[i]) != lane + 1)
            continue;
        if (memory->live[i] && i + memory->span[i] > held)
            held = i + memory->span[i];
        atomic_store(&memory->segments.owners[i], i < held ? ORPHAN : VTI_SPACE_FREE);
    }
    atomic_store(&vti_shared_lane(memory->header, lane)->given, 0);
    pthread_mutex_unlock(&memory->lock);
}
