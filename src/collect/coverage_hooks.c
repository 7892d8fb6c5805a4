/*
 * coverage_hooks.c - linked into each module that `venturi cc -l` makes: what gcc and clang call where they
 * count lines, in place of libgcov and of clang's profile library.
 *
 * Nothing is ever written to a file here: the counters are shared with the drainer as soon as the module is loaded.
 */
#include "collect/coverage.h"

#define OWN __attribute__((visibility("hidden"), used))

typedef void (*plain_function)(void);

/* From counters.ld: where the linker has put the counters of all objects. */
extern char vt_counters_start[] __attribute__((visibility("hidden")));
extern char vt_counters_end[] __attribute__((visibility("hidden")));

static char module; /* its address stands for this module */

/* The compilers' own objects come before (they have the priorities that are kept for them), those of the user after. */
__attribute__((constructor(102))) static void open_module(void)
{
    vt_coverage_open(&module, vt_counters_start, vt_counters_end);
}

__attribute__((destructor(102))) static void close_module(void)
{
    vt_coverage_close(&module);
}

/* ---- gcc ---------------------------------------------------------------------------------------- */

OWN void __gcov_init(const void *description);
OWN void __gcov_exit(void);
OWN void __gcov_merge_add(void *counters, unsigned count);

void __gcov_init(const void *description)
{
    vt_coverage_add_gcc(&module, description);
}

void __gcov_exit(void)
{
}

void __gcov_merge_add(void *counters, unsigned count)
{
    (void)counters;
    (void)count;
}

/* ---- clang -------------------------------------------------------------------------------------- */

OWN void llvm_gcov_init(plain_function writeout, plain_function reset);
OWN void llvm_gcda_start_file(const char *path, uint32_t version, uint32_t stamp);
OWN void llvm_gcda_emit_function(uint32_t ident, uint32_t checksum, uint32_t arcs_checksum);
OWN void llvm_gcda_emit_arcs(uint32_t count, const uint64_t *counters);
OWN void llvm_gcda_summary_info(void);
OWN void llvm_gcda_end_file(void);
OWN void llvm_writeout_files(void);
OWN void llvm_reset_counters(void);

void llvm_gcov_init(plain_function writeout, plain_function reset)
{
    (void)reset;
    vt_coverage_add_clang(&module, writeout);
}

void llvm_gcda_start_file(const char *path, uint32_t version, uint32_t stamp)
{
    vt_coverage_file(path, version, stamp);
}

void llvm_gcda_emit_function(uint32_t ident, uint32_t checksum, uint32_t arcs_checksum)
{
    (void)checksum;
    vt_coverage_function(ident, arcs_checksum);
}

void llvm_gcda_emit_arcs(uint32_t count, const uint64_t *counters)
{
    vt_coverage_counters(count, counters);
}

void llvm_gcda_summary_info(void)
{
}

void llvm_gcda_end_file(void)
{
}

void llvm_writeout_files(void)
{
}

void llvm_reset_counters(void)
{
}

/* ---- both --------------------------------------------------------------------------------------- */

OWN void __gcov_dump(void);
OWN void __gcov_reset(void);

void __gcov_dump(void)
{
}

void __gcov_reset(void)
{
}

/* What they call instead of these functions of libc, to write their files first. Some take any number of arguments: each of
 * ours is a jump. */
#ifdef __x86_64__
#define GOES_TO(name) "jmp " #name "@PLT"
#else
#define GOES_TO(name) "b " #name
#endif
#define INSTEAD(name)                                                                              \
    __asm__(".text\n"                                                                              \
            ".globl __gcov_" #name "\n"                                                            \
            ".hidden __gcov_" #name "\n"                                                           \
            ".type __gcov_" #name ", %function\n"                                                  \
            "__gcov_" #name ":\n" GOES_TO(name) "\n")

INSTEAD(fork);
INSTEAD(execl);
INSTEAD(execle);
INSTEAD(execlp);
INSTEAD(execv);
INSTEAD(execve);
INSTEAD(execvp);
