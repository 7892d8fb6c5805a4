/* keys.h - what keys do. */
#ifndef VENTURI_TOP_KEYS_H
#define VENTURI_TOP_KEYS_H

#include "top/top.h"

struct vti_top_keys {
    size_t chosen, first, page; /* row under the cursor, first one on the screen, rows that fit */
    bool is_typing;             /* the filter */
    bool is_help;
    bool is_done;
    bool is_changed;                   /* what is shown has to be made anew */
    const struct vti_top_view *before; /* the view that t goes back to */
    const char *message;
};

/* One key, as ncurses numbers them. */
void vti_top_key(struct vti_top *top, struct vti_top_keys *keys, int key);

#endif
