/* site.h - sites get their ids, and names made at run time get sites. */
#ifndef VENTURI_CORE_SITE_H
#define VENTURI_CORE_SITE_H

#include "share/arena.h"

#include <venturi/span.h>

/* The site's id, registering it (and copying its texts) on first use. Slow path only. */
uint32_t vti_site_id(struct vti_arena_control *arena, struct vt_site *site);

/* A new id for a site that nobody else has. Slow path only. */
uint32_t vti_site_new(struct vti_arena_control *arena, const struct vt_site *site);

/* The entry of an id and, behind it, its texts; NULL if there is none. */
const struct vti_site_entry *vti_site_find(const struct vti_arena_control *arena, uint32_t id);

/* Begins the site log of a new arena: copies that of an earlier one, so that ids stay valid. */
void vti_sites_carry_over(struct vti_arena_control *to, const struct vti_arena_control *from);

#endif
