/* futex.h - waiting for a word to change. Waking is allowed in signal handlers. */
#ifndef VENTURI_GRAPH_FUTEX_H
#define VENTURI_GRAPH_FUTEX_H

#include <stdint.h>

/* Returns when the word is no longer `value`, somebody woke it, a signal came, or after so many milliseconds (-1: any). */
void vti_futex_wait(const uint32_t *word, uint32_t value, int timeout_ms);

/* Wakes so many that wait for it. */
void vti_futex_wake(const uint32_t *word, int count);

/* Changes the word and wakes all that wait for it. */
void vti_futex_tell(uint32_t *word);

#endif
