/* symbols.h - names and lines for the C functions of a recording that is about to be closed. */
#ifndef VENTURI_DRAIN_SYMBOLS_H
#define VENTURI_DRAIN_SYMBOLS_H

#include "drain/recorder.h"

/*
 * Functions known by "module+0xoffset" only are looked up by venturi-symbols, and their sites are written again.
 * Nothing that goes wrong there does harm: what is not found in half a minute stays as it is.
 */
void vti_symbols_resolve(struct vti_recorder *recorder);

#endif
