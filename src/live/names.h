/* names.h - texts that stay where they are as long as the state lives: equal ones are one. */
#ifndef VENTURI_LIVE_NAMES_H
#define VENTURI_LIVE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct vti_map;

/* Zeroed: empty. */
struct vti_names {
    struct vti_map *map; /* owned: from a text to its place … */
    char **texts;        /* … here; each owned */
    size_t count, room;
    size_t bytes;
};

/* The copy that stays; "" without memory, or beyond 64 MiB of texts: they come from programs. */
const char *vti_names_add(struct vti_names *names, const char *text, size_t len);
const char *vti_names_text(struct vti_names *names, const char *text); /* NULL: "" */
void vti_names_fini(struct vti_names *names);

#endif
