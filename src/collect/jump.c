/*
 * jump.c - longjmp, in front of libc's: the functions that it leaves end there, and not when the next one is entered.
 *
 * How far it leads stands in the buffer that setjmp filled: the stack pointer, which glibc hides with a secret word.
 * That word is found by asking setjmp about a stack pointer that is known. What cannot be found out so (another libc, another machine)
 * is left to the hooks, which see later that functions have been left.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <venturi/hook.h>

#define PLAIN __attribute__((no_instrument_function))
#define ALONE __attribute__((no_instrument_function, noinline))

#if defined __x86_64__
#define STACK_WORD 6
#define READ_STACK(to) __asm__ volatile("mov %%rsp, %0" : "=r"(to))
#elif defined __aarch64__
#define STACK_WORD 13
#define READ_STACK(to) __asm__ volatile("mov %0, sp" : "=r"(to))
#else
#define STACK_WORD 0
#define READ_STACK(to) ((to) = 0)
#endif

typedef void (*jump_function)(struct __jmp_buf_tag *buffer, int value) __attribute__((noreturn));

static bool has_secret;
static uintptr_t secret;

PLAIN static uintptr_t uncover(const struct __jmp_buf_tag *buffer)
{
    uintptr_t word;

    memcpy(&word, (const char *)buffer + STACK_WORD * sizeof word, sizeof word);
#ifdef __x86_64__
    word = word >> 17 | word << 47;
#endif
    return word;
}

/* What hides a stack pointer that is some bytes lower than it would be. */
ALONE static uintptr_t find_secret(size_t bytes)
{
    char room[bytes];
    jmp_buf buffer;
    uintptr_t stack;

    __asm__ volatile("" : : "r"(room)); /* it has to be there */
    memset(buffer, 0, sizeof buffer);
    if (_setjmp(buffer))
        return 0;
    READ_STACK(stack);
    return uncover(buffer) ^ stack;
}

/* A function that the one which called setjmp has called has its frame at that stack pointer or below. */
PLAIN static void leave(const struct __jmp_buf_tag *buffer)
{
    if (has_secret)
        vt_call_jump((uncover(buffer) ^ secret) + 1);
}

PLAIN static jump_function find(const char *name)
{
    return (jump_function)(uintptr_t)dlsym(RTLD_NEXT, name);
}

#define JUMP(name)                                                                                 \
    static jump_function next_##name;                                                              \
                                                                                                   \
    PLAIN VT_API void name(struct __jmp_buf_tag buffer[1], int value) __attribute__((noreturn));   \
    PLAIN VT_API void name(struct __jmp_buf_tag buffer[1], int value)                              \
    {                                                                                              \
        if (!next_##name) /* before constructors */                                                \
            next_##name = find(#name);                                                             \
        leave(buffer);                                                                             \
        next_##name(buffer, value);                                                                \
    }

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

/* All that is needed later, maybe in a signal handler. It is a secret only if it is the same everywhere. */
__attribute__((constructor)) PLAIN static void learn(void)
{
    next_longjmp = find("longjmp");
    next__longjmp = find("_longjmp");
    next_siglongjmp = find("siglongjmp");
    next___longjmp_chk = find("__longjmp_chk");
    secret = find_secret(16);
    has_secret = STACK_WORD && secret == find_secret(128) && secret == find_secret(1024);
}
