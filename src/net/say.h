/* say.h - words for standard streams from within somebody's service: nothing waits, and no byte steers a terminal. */
#ifndef VENTURI_NET_SAY_H
#define VENTURI_NET_SAY_H

#include <stdbool.h>
#include <stddef.h>

/* Writes all of it to a descriptor of the program, whose flags stay as they are. False, with errno, if it did not get there: EAGAIN if
 * whoever reads it does not keep up. A reader that is gone sends no signal. */
bool vti_say_bytes(int fd, const char *bytes, size_t count);

/* One write(2) of all of it; it waits if the descriptor does. */
bool vti_say_once(int fd, const char *bytes, size_t count);

/* One line on standard error, "venturi: …"; what does not get there is lost. */
void vti_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Bytes that a terminal obeys become question marks: control characters, those of Unicode too. */
void vti_say_harmless(char *text, size_t len);

#endif
