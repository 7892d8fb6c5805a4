/* study_spans.c - which row of the tree of spans a site is. Async spans overlap: they are in no tree, and have no row. */
#include "analyze/study.h"

#include "base/error.h"

#include <stdlib.h>

/* Rows by name, file and line. */
struct places {
    struct vti_map *map;
    uint32_t *rows; /* by index of the map */
    struct vti_buf key;
};

static bool make_key(struct places *places, const char *name, const char *file, uint32_t line)
{
    vti_buf_clear(&places->key);
    vti_buf_add_string(&places->key, name);
    vti_buf_add_string(&places->key, file);
    vti_buf_add_u32(&places->key, line);
    return !places->key.failed;
}

static int make_places(struct places *places, const struct vti_profile *profile)
{
    int code = vti_map_create(&places->map);

    places->rows = calloc(profile->row_count + 1, sizeof *places->rows);
    if (!code && !places->rows)
        code = VTI_E_NOMEM;
    for (uint32_t i = 0; i < profile->row_count && !code; i++) {
        const struct vti_function *function = &profile->calls->functions[profile->rows[i].function];
        int is_new;
        int64_t at = -1;

        if (make_key(places, function->name, function->file, function->line))
            at = vti_map_add(places->map, places->key.data, places->key.len, &is_new);
        if (at < 0)
            code = VTI_E_NOMEM;
        else
            places->rows[at] = i;
    }
    return code;
}

static int add_site(struct vti_study *study, struct places *places, uint32_t id)
{
    struct vt_site_info site;
    int64_t place;
    int64_t at;

    vt_recording_site_by_id(study->recording, id, &site);
    if (!make_key(places, site.name, site.file, site.line))
        return VTI_E_NOMEM;
    place = vti_map_find(places->map, places->key.data, places->key.len);
    if (place < 0)
        return 0;
    at = vti_ids_add(&study->span_sites, id);
    if (at < 0)
        return VTI_E_NOMEM;
    study->span_rows[at] = places->rows[place];
    return 0;
}

int vti_study_place_spans(struct vti_study *study)
{
    struct places places = {0};
    int code = make_places(&places, &study->spans);

    study->span_rows = calloc(study->stats.site_count + 1, sizeof *study->span_rows);
    if (!code && !study->span_rows)
        code = VTI_E_NOMEM;
    for (size_t i = 0; i < study->stats.site_count && !code; i++)
        code = add_site(study, &places, study->stats.sites[i].site);
    vti_map_free(places.map);
    free(places.rows);
    vti_buf_fini(&places.key);
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

uint32_t vti_study_span_row(const struct vti_study *study, uint32_t site)
{
    int64_t at = vti_ids_find(&study->span_sites, site);

    return at < 0 ? VT_NONE : study->span_rows[at];
}
