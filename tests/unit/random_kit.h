/* random_kit.h - numbers that are the same in every run. */
#ifndef VENTURI_TESTS_RANDOM_KIT_H
#define VENTURI_TESTS_RANDOM_KIT_H

#include <stdint.h>

void random_seed(uint64_t seed); /* not 0 */
uint64_t random_u64(void);
uint32_t below(uint32_t limit); /* from 0 to before the limit */

#endif
