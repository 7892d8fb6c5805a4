/* calls_sites.c - which function a site of a recording stands for. */
#include "analyze/calls_sites.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void vti_call_sites_fini(struct vti_call_sites *sites)
{
    vti_ids_fini(&sites->met);
    free(sites->functions);
    memset(sites, 0, sizeof *sites);
}

/* A site that nobody defined has a name too ("site 12"). */
static int64_t make_span(const struct vti_call_sites *sites, uint32_t id)
{
    struct vt_site_info site;
    struct vti_function function;

    vt_recording_site_by_id(sites->recording, id, &site);
    function = (struct vti_function){.name = site.name,
                                     .function = site.function,
                                     .file = site.file,
                                     .language = "span",
                                     .line = site.line};
    return vti_calls_function(sites->calls, &function);
}

static int64_t make_function(const struct vti_call_sites *sites, uint32_t id)
{
    int64_t at = vti_ids_find(&sites->recording->facts.site_ids, id);
    const struct vti_site *site = at < 0 ? NULL : &sites->recording->facts.sites[at];
    struct vti_function function;
    bool is_c;

    if (!site || site->type != VTI_SITE_FUNCTION)
        return sites->takes_spans ? make_span(sites, id) : VTI_E_NOT_FOUND;
    is_c = !strcmp(site->unit, "c"); /* several addresses of one function, not several functions */
    function = (struct vti_function){.name = site->name,
                                     .function = site->function,
                                     .file = site->file,
                                     .language = site->unit,
                                     .line = site->line,
                                     .twin = is_c ? 0 : site->twin};
    return vti_calls_function(sites->calls, &function);
}

int64_t vti_call_sites_find(struct vti_call_sites *sites, uint32_t site)
{
    uint32_t known = sites->met.count;
    int64_t at;

    if (vti_grow(&sites->functions, known, &sites->room, sizeof *sites->functions))
        return VTI_E_NOMEM;
    at = vti_ids_add(&sites->met, site);
    if (at < 0)
        return at;
    if (at == known)
        sites->functions[at] = make_function(sites, site);
    return sites->functions[at];
}
