/* import.c - finds out what a file is and has it imported. */
#include "import/import.h"

#include "base/error.h"
#include "base/file.h"
#include "import/target.h"

#include <string.h>
#include <sys/stat.h>

#define VTI_IMPORTER(name) extern const struct vti_importer vti_import_##name;
#include "import/importers.def"
#undef VTI_IMPORTER

const struct vti_importer *const vti_importers[] = {
#define VTI_IMPORTER(name) &vti_import_##name,
#include "import/importers.def"
#undef VTI_IMPORTER
    NULL,
};

static const struct vti_importer *find(const struct vti_import *import,
                                       const struct vti_mapping *map)
{
    for (int i = 0; vti_importers[i]; i++) {
        bool fits = import->format ? !strcmp(vti_importers[i]->name, import->format)
                                   : vti_importers[i]->fits(map->data, map->size);

        if (fits)
            return vti_importers[i];
    }
    return NULL;
}

bool vti_import_is_direct(const char *path)
{
    const struct vti_importer *importer;
    struct vti_file_header header;
    struct vti_mapping map;
    bool is_direct;

    if (vti_mapping_open(&map, path))
        return false;
    is_direct = map.size &&
                vti_file_header_parse(map.data, map.size, &header) == VTI_E_NOT_RECORDING &&
                (importer = find(&(struct vti_import){0}, &map)) && importer->is_direct;
    vti_mapping_close(&map);
    return is_direct;
}

bool vti_import_looks_like(const char *path, const char *format)
{
    const struct vti_importer *importer = find(&(struct vti_import){.format = format}, NULL);
    struct vti_mapping map;
    struct stat status;
    bool is_it;

    if (!importer || stat(path, &status) || !S_ISREG(status.st_mode) ||
        vti_mapping_open(&map, path))
        return false;
    is_it = map.size && importer->fits(map.data, map.size);
    vti_mapping_close(&map);
    return is_it;
}

/* When the file was written: all that is known of when it happened. */
static uint64_t written_ns(const char *path)
{
    struct stat status;

    if (stat(path, &status) || status.st_mtim.tv_sec < 0)
        return 0;
    return (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
}

static int import_into(const struct vti_importer *importer, const struct vti_import *import,
                       const struct vti_import_input *input, struct vti_import_result *result)
{
    struct vti_import_target target;
    int code = vti_import_open(&target, import->output, import->force, import->is_stopped);

    if (code)
        return code;
    if (!importer->is_direct)
        code = vti_import_start(&target, import->path, written_ns(import->path));
    if (!code)
        code = importer->run(input, &target);
    memcpy(result->note, target.note, sizeof result->note);
    if (!code)
        return vti_import_commit(&target, &result->file);
    vti_import_abandon(&target);
    return code;
}

int vti_import(const struct vti_import *import, struct vti_import_result *result)
{
    const struct vti_importer *importer;
    struct vti_file_header header;
    struct vti_mapping map;
    int code = vti_mapping_open(&map, import->path);

    if (code)
        return code;
    importer = map.size ? find(import, &map) : NULL;
    if (!map.size)
        code = vti_fail(VTI_E_EMPTY, "%s: is empty", import->path);
    else if (vti_file_header_parse(map.data, map.size, &header) != VTI_E_NOT_RECORDING)
        code = vti_fail(VTI_E_USAGE, "%s: is a recording already", import->path);
    else if (!importer && map.size > 2 && map.data[0] == 0x1f && map.data[1] == 0x8b)
        code = vti_fail(VTI_E_DAMAGED, "%s: compressed with gzip: gunzip it first", import->path);
    else if (!importer)
        code = vti_fail(
            VTI_E_DAMAGED,
            "%s: neither a profile of Python, nor a Chrome trace, nor a log or report of "
            "osprofiler, nor samples of perf, nor collapsed stacks",
            import->path);
    else
        code = import_into(
            importer, import,
            &(struct vti_import_input){import->path, map.data, map.size, import->is_stopped},
            result);
    vti_mapping_close(&map);
    return code;
}
