/* crc32c.h - the Castagnoli checksum that guards every block of a recording. */
#ifndef VENTURI_BASE_CRC32C_H
#define VENTURI_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Checksum of `count` bytes. "123456789" gives 0xE3069283. Uses the CPU's instruction where there is one. */
uint32_t vti_crc32c(const void *bytes, size_t count);

/* The same continued over several pieces: pass 0 first, then the previous result. */
uint32_t vti_crc32c_more(uint32_t crc, const void *bytes, size_t count);

#endif
