/* number.h - numbers of files; and for people, three digits: "812 ns", "1.23 ms", "2948 s"; "3.14 MB"; "1.20 M"; two of shares: "2.6 %". */
#ifndef VENTURI_BASE_NUMBER_H
#define VENTURI_BASE_NUMBER_H

#include <stdint.h>

/* As strtod(), but with a point whatever the locale says: we are guests in programs that have set one. */
double vti_number_read(const char *text, char **end);

/* All return `to`. */
#define VTI_NUMBER_BYTES 32
char *vti_text_duration(char to[VTI_NUMBER_BYTES], double ns);
char *vti_text_bytes(char to[VTI_NUMBER_BYTES], uint64_t bytes);
char *vti_text_count(char to[VTI_NUMBER_BYTES], uint64_t count);
char *vti_text_share(char to[VTI_NUMBER_BYTES], double share); /* 1: "100 %" */

#endif
