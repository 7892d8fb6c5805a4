/*
 * secret.h - words of a command line that not everybody may read.
 *
 * /proc/PID/cmdline, which ps shows, is open to all users of a machine; what is read from it is the memory that argv points to. A secret there is
 * copied, and overwritten, as soon as it is met; to a program that is started it goes by a descriptor, never by its command line.
 */
#ifndef VENTURI_BASE_SECRET_H
#define VENTURI_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#define VTI_SECRET_MOST 8192u /* bytes that are handed on */

/* Overwrites all of an argument, in its place. NULL is none. */
void vti_secret_hide(char *argument);

/* Overwrites what a URL has in front of its last '@': user and password, also where the password is not percent-encoded as it should be. The
 * argument may have something in front of the URL: --to=URL. False: there is nothing to hide. */
bool vti_secret_hide_login(char *argument);

/* The same for all arguments. */
void vti_secret_hide_logins(int argc, char **argv);

/* A copy, which the caller frees, of an argument whose login is then hidden; NULL without memory. */
char *vti_secret_take_url(char *argument);

/* A URL for messages: without user, password and what stands behind '?'. */
const char *vti_secret_show_url(char *to, size_t room, const char *url);

/* Makes the text ready for a program that is about to be started: a descriptor that it inherits and whose number is in `word`, which is given to
 * it instead: "fd:5:", and the text with stars for the login. `word` has room for the text and 16 bytes. The descriptor, which the caller closes when the program runs, or a
 * negative code of error.h. */
int vti_secret_send(const char *text, char *word, size_t room);

/* What stands behind such a word, which is read once and its descriptor closed; a copy of the word if it is no such word. The caller frees it.
 * NULL: it cannot be had. */
char *vti_secret_receive(const char *word);

#endif
