/* deep.c - a recursion as deep as asked for, on a stack that is large enough; and one that is left by a jump. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static jmp_buf back;
static int depth;

__attribute__((noinline)) static int down(int left)
{
    return left > 0 ? down(left - 1) + 1 : 0;
}

__attribute__((noinline)) static int down_and_away(int left)
{
    if (left > 0)
        return down_and_away(left - 1) + 1;
    longjmp(back, 1);
}

__attribute__((noinline)) static void known(void)
{
    __asm__ volatile("" : : : "memory");
}

static void *work(void *unused)
{
    known();
    down(depth);
    if (!setjmp(back))
        down_and_away(depth);
    known();
    return unused;
}

int main(int argc, char **argv)
{
    size_t room = (size_t)2 << 30;
    pthread_attr_t attributes;
    pthread_t thread;

    depth = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes,
                          mmap(NULL, room, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                          room);
    pthread_create(&thread, &attributes, work, NULL);
    pthread_join(thread, NULL);
    puts("{}");
    return 0;
}
