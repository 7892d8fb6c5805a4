/* terminal.h - the terminal is as it was before, whatever ends us; and what wants to end us. */
#ifndef VENTURI_TOP_TERMINAL_H
#define VENTURI_TOP_TERMINAL_H

#include <stdbool.h>

/* Before the screen is begun: notes the terminal's modes. From now on SIGINT, SIGTERM, SIGHUP, SIGPIPE and SIGQUIT only set what vti_terminal_is_ending() tells. */
void vti_terminal_catch(void);

/* Keeps what is needed to restore the terminal even in a crash; after the screen has been begun. */
void vti_terminal_keep(void);

/* The screen has been left the orderly way. */
void vti_terminal_left(void);

bool vti_terminal_is_ending(void);

/* Ends by the signal that wanted it, if there was one and it is not what ends a watch by habit (SIGINT). */
void vti_terminal_pass_on(void);

#endif
