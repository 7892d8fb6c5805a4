/*
 * scribble.c [writes [seed]] - a program that wants to harm its drainer: while two threads record, another one
 * writes random values over the memory that they share with it, most of them where the drainer looks.
 * Ends with code 5 whatever becomes of it.
 */
#include "program.h"

#include "share/arena.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <venturi/span.h>

#define END_CODE 5
#define PLACES 64 /* slots and blocks that are scribbled on; more are not in use */

static struct vti_arena_control *arena;
static uint64_t noise;

static void end_now(int number_of_signal)
{
    (void)number_of_signal;
    _exit(END_CODE);
}

static uint64_t random_number(void)
{
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    return noise;
}

static void record_once(long i)
{
    VT_SPAN("scribbled");
    VT_ATTR("i", i);
    VT_COUNTER("level", "items", i);
}

static void *record(void *arg)
{
    for (long i = 0;; i++)
        record_once(i);
    return arg;
}

static void find_arena(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[512];

    while (file && !arena && fgets(line, sizeof line, file))
        if (strstr(line, "memfd:venturi"))
            arena = (struct vti_arena_control *)(uintptr_t)strtoull(line, NULL, 16);
    if (file)
        fclose(file);
    if (!arena || mprotect(arena, VTI_PAGE, PROT_READ | PROT_WRITE))
        exit(3);
}

/* Small numbers are the likelier ones to be believed. */
static uint32_t random_value(void)
{
    uint32_t value = (uint32_t)random_number();

    switch (random_number() % 4) {
    case 0:
        return value % 8;
    case 1:
        return value % (2 * VTI_BLOCK_RECORDS);
    case 2:
        return VTI_TAG(value % VTI_RECORD_KINDS, value >> 8, value >> 16, value >> 24);
    default:
        return value;
    }
}

static void scribble(void *from, size_t bytes)
{
    volatile uint32_t *words = from;

    words[random_number() % (bytes / sizeof *words)] = random_value();
}

static void scribble_once(uint32_t blocks)
{
    struct vti_slot *slot = vti_arena_slot(arena, (uint32_t)random_number() % PLACES);
    struct vti_arena_producer *producer = vti_arena_producer(arena);

    switch (random_number() % 8) {
    case 0:
        scribble(producer, sizeof *producer);
        break;
    case 1:
        scribble(vti_arena_sites(arena), 1024);
        break;
    case 2:
        scribble(slot, 128);
        break;
    case 3:
        scribble(slot, sizeof *slot);
        break;
    case 4:
        scribble(slot->tallies, sizeof slot->tallies);
        break;
    case 5:
        scribble(&arena->clock, sizeof *arena - offsetof(struct vti_arena_control, clock));
        break;
    case 6: /* fewer only: with more the program itself would look beyond the end */
        arena->block_count = (uint32_t)random_number() % (blocks + 1);
        break;
    default:
        arena->block_count = blocks;
        scribble(vti_arena_block(arena, (uint32_t)random_number() % blocks), 4096);
        break;
    }
}

int main(int argc, char **argv)
{
    long writes = number(argc, argv, 1, 1000000);
    uint32_t blocks;
    uint32_t word;
    pthread_t threads[2];

    noise = (uint64_t)number(argc, argv, 2, 1) * 0x9e3779b97f4a7c15u;
    signal(SIGSEGV, end_now);
    signal(SIGBUS, end_now);
    record_once(0); /* attaches, and describes its sites while they can be described */
    find_arena();
    blocks = arena->block_count;
    word = arena->word;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, record, NULL))
            exit(3);
    for (long i = 0; i < writes; i++) {
        scribble_once(blocks);
        arena->word = word;
        if (i % 1000 == 999)
            usleep(1000); /* the drainer is to see it all */
    }
    _exit(END_CODE);
}
