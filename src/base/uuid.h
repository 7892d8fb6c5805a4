/* uuid.h - 128-bit ids and their text. No allocation, libc only: also for the measured process. */
#ifndef VENTURI_BASE_UUID_H
#define VENTURI_BASE_UUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_UUID 16
#define VTI_UUID_TEXT 37 /* room for "f12e75d5-5d59-4cbc-b74d-357f19290dd7" */
#define VTI_UUID_HEX 33  /* room for the same without dashes */

/*
 * Any text becomes an id. A UUID is itself (true), with or without dashes, braces, "urn:uuid:", in either case; so are 16 hex digits, which are
 * the lower half. Anything else (false) becomes an id that is made from its bytes, the same on every machine, so that links hold.
 */
bool vti_uuid_parse(uint8_t id[VTI_UUID], const char *text, size_t len);

void vti_uuid_text(const uint8_t id[VTI_UUID], char text[VTI_UUID_TEXT]);
void vti_uuid_hex(const uint8_t id[VTI_UUID], char text[VTI_UUID_HEX]);

/* That of no trace, and of no parent. */
bool vti_uuid_is_zero(const uint8_t id[VTI_UUID]);

/* The lower half as a number: what W3C and OTLP have for a span. */
uint64_t vti_uuid_short(const uint8_t id[VTI_UUID]);

#endif
