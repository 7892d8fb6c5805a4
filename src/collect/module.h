/* module.h - which module (program or shared library) an address belongs to. */
#ifndef VENTURI_COLLECT_MODULE_H
#define VENTURI_COLLECT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#define VTI_MODULE_PATH 1024
#define VTI_BUILD_ID_BYTES 32

struct vti_module {
    uintptr_t base;             /* address minus offset */
    uint64_t identity;          /* the same for the same file only, wherever it is loaded */
    bool is_program;            /* not a shared library */
    char path[VTI_MODULE_PATH]; /* absolute where that can be known */
    char build_id[2 * VTI_BUILD_ID_BYTES + 1]; /* in hex; "": it has none */
};

/* False if the address is in no module (code made at run time). No malloc; takes the loader's lock. */
bool vti_module_find(struct vti_module *module, uintptr_t address);

/* The same from what _dl_find_object() said: takes no lock, for signal handlers. */
struct dl_find_object;
bool vti_module_of(struct vti_module *module, const struct dl_find_object *found,
                   uintptr_t address);

/* How many modules were ever unloaded. */
unsigned long long vti_modules_unloaded(void);

#endif
