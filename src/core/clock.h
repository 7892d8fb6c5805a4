/*
 * clock.h - reading the clock, and the two other things that depend on the CPU.
 *
 * The only file of the runtime that knows the CPU. It has code in it, unlike other headers, because
 * all of it belongs into the hot path: two clock reads are 22.2 of the 22.3 ns that a span costs.
 */
#ifndef VENTURI_CORE_CLOCK_H
#define VENTURI_CORE_CLOCK_H

#include "share/record.h"
#include "share/ticks.h"

#include <stdint.h>
#include <venturi/span.h>

#define vti_likely(x) __builtin_expect(!!(x), 1)
#define vti_unlikely(x) __builtin_expect(!!(x), 0)

__attribute__((cold)) uint64_t vti_clock_monotonic(void); /* CLOCK_MONOTONIC in nanoseconds */

/* The clock that is one instruction, where there is one. No fence: an ordered read costs twice as much, and
 * a span is not misplaced by more than its own cost without one. */
#if defined(__x86_64__)
#define VTI_TICKS_QUICK VTI_TICKS_TSC
#elif defined(__aarch64__)
#define VTI_TICKS_QUICK VTI_TICKS_ARM
#else
#define VTI_TICKS_QUICK VTI_TICKS_MONOTONIC
#endif

static inline uint64_t vti_clock_quick(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return vti_clock_monotonic();
#endif
}

static inline uint64_t vti_clock_read(uint32_t clock)
{
    return vti_likely(clock == VTI_TICKS_QUICK) ? vti_clock_quick() : vti_clock_monotonic();
}

/*
 * Moves a pointer by so many bytes and returns where it was: one step that a signal handler on the same
 * thread cannot split. No other thread uses it, so on x86 the bus need not be locked (0.3 ns instead of 4).
 */
static inline uintptr_t vti_step(void *pointer, uintptr_t bytes)
{
    uintptr_t *address = pointer;

#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(bytes), "+m"(*address) : : "memory", "cc");
#else
    bytes = __atomic_fetch_add(address, bytes, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
    return bytes;
}

/* Takes `count` records at the cursor. */
static inline struct vti_record *vti_cursor_take(struct vti_record **cursor, unsigned count)
{
    return (struct vti_record *)vti_step(cursor, count * sizeof(struct vti_record));
}

/* What is recorded now. Acquire: the page it lies in was mapped by whichever thread attached. */
static inline uint32_t vti_control_word(void)
{
    return __atomic_load_n(__atomic_load_n(&vt_control_word, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
}

/* Makes a filled record visible; pairs with the drainer's acquire load of `ticks`. */
static inline void vti_record_publish(struct vti_record *record, uint64_t ticks)
{
    __atomic_store_n(&record->ticks, ticks, __ATOMIC_RELEASE);
}

#endif
