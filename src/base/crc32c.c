/*
 * crc32c.c - CRC-32C by the CPU's own instruction (SSE4.2, ARMv8 CRC), by table elsewhere.
 *
 * The choice is made at run time: a package is built for the oldest CPU of its architecture.
 */
#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif

#define POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t table[8][256];
static uint32_t (*update)(uint32_t crc, const uint8_t *at, size_t count);
static pthread_once_t chosen = PTHREAD_ONCE_INIT;

static uint32_t update_by_table(uint32_t crc, const uint8_t *at, size_t count)
{
    while (count >= 8) {
        uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                              (uint32_t)at[3] << 24);

        crc = table[7][low & 0xff] ^ table[6][(low >> 8) & 0xff] ^ table[5][(low >> 16) & 0xff] ^
              table[4][low >> 24] ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^
              table[0][at[7]];
        at += 8;
        count -= 8;
    }
    while (count--)
        crc = table[0][(crc ^ *at++) & 0xff] ^ (crc >> 8);
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t update_by_cpu(uint32_t crc, const uint8_t *at,
                                                                size_t count)
{
    uint64_t wide = crc;

    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    while (count--)
        crc = __builtin_ia32_crc32qi(crc, *at++);
    return crc;
}

static int cpu_can(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
static uint32_t update_by_cpu(uint32_t crc, const uint8_t *at, size_t count)
{
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(word));
    }
    while (count--)
        __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)*at++));
    return crc;
}

static int cpu_can(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
#else
#define update_by_cpu update_by_table
static int cpu_can(void)
{
    return 0;
}
#endif

static void choose(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) ? POLYNOMIAL : 0);
        table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            table[k][i] = table[0][table[k - 1][i] & 0xff] ^ (table[k - 1][i] >> 8);
    update = cpu_can() ? update_by_cpu : update_by_table;
}

uint32_t vti_crc32c_more(uint32_t crc, const void *bytes, size_t count)
{
    pthread_once(&chosen, choose);
    return ~update(~crc, bytes, count);
}

uint32_t vti_crc32c(const void *bytes, size_t count)
{
    return vti_crc32c_more(0, bytes, count);
}
