/* ship.h - what shippers that follow a spool say of themselves: their status files. */
#ifndef VENTURI_LIVE_SHIP_H
#define VENTURI_LIVE_SHIP_H

struct vti_live;

/* Reads the status files of the folder, at most once a second; several shippers are added up. */
void vti_live_read_ship(struct vti_live *live);

#endif
