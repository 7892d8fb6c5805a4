/* registry.c - the stores and the makers of documents that there are: stores.def, makers.def. */
#include "store/store.h"

#include <string.h>
#include <strings.h>

#define VTI_STORE(name) extern const struct vti_store_type vti_store_##name;
#include "store/stores.def"
#undef VTI_STORE
#define VTI_MAKER(name) extern const struct vti_maker vti_maker_##name;
#include "store/makers.def"
#undef VTI_MAKER

static const struct vti_store_type *const stores[] = {
#define VTI_STORE(name) &vti_store_##name,
#include "store/stores.def"
#undef VTI_STORE
    NULL};

static const struct vti_maker *const makers[] = {
#define VTI_MAKER(name) &vti_maker_##name,
#include "store/makers.def"
#undef VTI_MAKER
    NULL};

const struct vti_store_type *vti_store_at(size_t at)
{
    return at < sizeof stores / sizeof *stores ? stores[at] : NULL;
}

const struct vti_maker *vti_maker_at(size_t at)
{
    return at < sizeof makers / sizeof *makers ? makers[at] : NULL;
}

static bool names(const char *schemes, const char *scheme)
{
    size_t len = strlen(scheme);

    while (*schemes) {
        size_t word = strcspn(schemes, " ");

        if (word == len && !strncmp(schemes, scheme, len))
            return true;
        schemes += word;
        schemes += strspn(schemes, " ");
    }
    return false;
}

const struct vti_store_type *vti_store_for(const char *scheme)
{
    for (size_t i = 0; stores[i]; i++)
        if (names(stores[i]->schemes, scheme))
            return stores[i];
    return NULL;
}
