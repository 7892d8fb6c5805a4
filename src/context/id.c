/*
 * id.c - ids of traces and spans.
 *
 * A thread counts, and what it counts is mixed with random bits of its own: as good as random for telling things apart, no secret, and no
 * system call for each. The seed belongs to one process: a forked child finds another epoch, and takes a new one.
 */
#include "base/uuid.h"
#include "context/state.h"
#include "core/clock.h"
#include "core/runtime.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define GOLDEN 0x9e3779b97f4a7c15u

struct seed {
    uint64_t epoch;
    uint64_t key[2];
    uint64_t count;
};

static __thread struct seed seed __attribute__((tls_model("initial-exec")));

/* The finaliser of MurmurHash3: no two words become the same one. */
static inline uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 33) * 0xff51afd7ed558ccdu;
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53u;
    return word ^ word >> 33;
}

/* Where there is no source of random bits (an old kernel, a filter of system calls): what differs between threads, processes and times. */
static void fill_random(uint64_t *words, size_t count)
{
    size_t bytes = count * sizeof *words;

    if (getrandom(words, bytes, GRND_NONBLOCK) == (ssize_t)bytes)
        return;
    for (size_t i = 0; i < count; i++)
        words[i] = mix(vti_clock_quick() ^ mix((uintptr_t)&seed + vti_clock_monotonic()) ^
                       (uint64_t)getpid() << 32) +
                   i * GOLDEN;
}

uint64_t vti_epoch(void)
{
    struct vti_runtime *runtime = vti_runtime();
    uint64_t epoch = 0;
    uint64_t fresh;

    if (vti_unlikely(!runtime))
        return 0;
    epoch = __atomic_load_n(&runtime->epoch, __ATOMIC_RELAXED);
    if (vti_likely(epoch))
        return epoch;
    fill_random(&fresh, 1);
    fresh |= 1;
    return __atomic_compare_exchange_n(&runtime->epoch, &epoch, fresh, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
               ? fresh
               : epoch;
}

static void put_word(uint8_t *to, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(to, &word, sizeof word);
}

void vt_id_new(struct vt_id *id)
{
    uint64_t epoch = vti_epoch();
    uint64_t upper;
    uint64_t lower;

    /* Without an epoch a fork would go unnoticed: a new seed each time. */
    if (vti_unlikely(seed.epoch != epoch || !epoch)) {
        fill_random(seed.key, 2);
        seed.epoch = epoch;
    }
    upper = mix(seed.key[0] + ++seed.count * GOLDEN);
    lower = mix(seed.key[1] ^ (upper << 32 | upper >> 32));
    put_word(id->bytes, (upper & ~(uint64_t)0xf000) | 0x4000);
    put_word(id->bytes + 8, (lower & ~((uint64_t)3 << 62)) | (uint64_t)2 << 62);
}

void vt_id_text(const struct vt_id *id, char text[VT_ID_TEXT])
{
    vti_uuid_text(id->bytes, text);
}

void vt_id_hex(const struct vt_id *id, char text[VT_ID_HEX])
{
    vti_uuid_hex(id->bytes, text);
}

void vt_id_short_hex(const struct vt_id *id, char text[VT_ID_SHORT])
{
    char hex[VT_ID_HEX];

    vti_uuid_hex(id->bytes, hex);
    memcpy(text, hex + 16, VT_ID_SHORT);
}

uint64_t vt_id_short(const struct vt_id *id)
{
    return vti_uuid_short(id->bytes);
}

void vt_id_from_short(struct vt_id *id, uint64_t value)
{
    put_word(id->bytes, 0);
    put_word(id->bytes + 8, value);
}

int vt_id_parse(struct vt_id *id, const char *text, size_t len)
{
    return vti_uuid_parse(id->bytes, text, len);
}

int vt_id_equal(const struct vt_id *a, const struct vt_id *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

int vt_id_is_zero(const struct vt_id *id)
{
    static const struct vt_id zero;

    return vt_id_equal(id, &zero);
}
