/*
 * same_site.c - sites that several processes or files defined for one place in the source.
 *
 * They keep their ids, because events carry them, but count as one: the same type, name, file and
 * line. The names of functions do not matter: templates and inlined code have many at one line. Functions of
 * Python stay apart even so: lambdas on one line, and code made at run time, are twins.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

static void write_key(struct vti_buf *key, const struct vti_site *site)
{
    vti_buf_clear(key);
    vti_buf_add(key, &site->type, sizeof site->type);
    vti_buf_add(key, &site->line, sizeof site->line);
    vti_buf_add(key, site->name, strlen(site->name) + 1);
    vti_buf_add(key, site->file, strlen(site->file));
}

struct place {
    uint32_t first; /* id */
    uint32_t sites;
};

int vti_sites_resolve(struct vti_facts *facts)
{
    uint32_t count = facts->site_ids.count;
    struct place *known = calloc((size_t)count + 1, sizeof *known); /* by index in the map */
    struct vti_map *places = NULL;
    struct vti_buf key = {0};
    int code = known ? vti_map_create(&places) : VTI_E_NOMEM;

    for (uint32_t i = 0; i < count && !code; i++) {
        struct vti_site *site = &facts->sites[i];
        int is_new = 0;
        int64_t at;

        write_key(&key, site);
        at = key.failed ? VTI_E_NOMEM : vti_map_add(places, key.data, key.len, &is_new);
        if (at < 0) {
            code = VTI_E_NOMEM;
            break;
        }
        if (is_new)
            known[at] = (struct place){.first = site->id};
        site->twin = known[at].sites++;
        if (site->type != VTI_SITE_FUNCTION || strcmp(site->unit, "python"))
            site->twin = 0;
        site->same = site->twin ? site->id : known[at].first;
    }
    vti_buf_fini(&key);
    vti_map_free(places);
    free(known);
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

uint32_t vti_site_same(const struct vt_recording *recording, uint32_t id)
{
    int64_t at = vti_ids_find(&recording->facts.site_ids, id);

    return at < 0 ? id : recording->facts.sites[at].same;
}
