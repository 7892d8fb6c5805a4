/*
 * repair.h - random bytes never have the right checksums: puts in order what says that they are a recording, so that what lies
 * behind is reached.
 */
#ifndef VENTURI_FUZZ_REPAIR_H
#define VENTURI_FUZZ_REPAIR_H

#include <stddef.h>
#include <stdint.h>

/* The header, that of each block, the trailer. Payloads stay as they are. */
void vti_fuzz_repair(uint8_t *bytes, size_t size);

#endif
