/* symbols.h - names and lines for the C functions of a recording that is about to be closed. */
#ifndef VENTURI_DRAIN_SYMBOLS_H
#define VENTURI_DRAIN_SYMBOLS_H

#include "drain/recorder.h"

/*
 * Functions known by "module+0xoffset" only are looked up by venturi-symbols, and their sites are written again.
 * Nothing that goes wrong there does harm: what is not found in half a minute stays as it is. Returns how many
 * stay so because there is no venturi-symbols to ask.
 */
uint32_t vti_symbols_name(
    struct vti_recorder *recorder); /* … lines of C aside: a spool's file is closed */
uint32_t vti_symbols_resolve(struct vti_recorder *recorder);

/* Runs venturi-symbols with an argument (or NULL), `questions` on its standard input and `more` (or NULL) as descriptor 3.
 * False if there is none; its answers as far as it came. */
bool vti_symbols_ask(const char *argument, const struct vti_buf *questions,
                     const struct vti_buf *more, struct vti_buf *answers);

#endif
