/* elf.h - what `run` wants to know about a program before it starts it. */
#ifndef VENTURI_CLI_ELF_H
#define VENTURI_CLI_ELF_H

#include <stdbool.h>

#define VTI_LOADER_BYTES 256

struct vti_elf_facts {
    bool is_elf;
    bool is_static;                /* there is no loader that could preload anything */
    bool has_hooks;                /* it was compiled with -finstrument-functions */
    bool brings_collector;         /* it is linked with libventuri-functions.so */
    bool has_lines;                /* it was made by `venturi cc -l` */
    bool brings_sampler;           /* it is linked with libventuri-sample.so */
    char loader[VTI_LOADER_BYTES]; /* its path; "": none, or one that is too long */
    bool needs_to_be_first; /* it has a sanitizer, which wants nothing to be loaded before it */
};

/* All false for what is no 64-bit ELF file of this machine's byte order, or is damaged. */
void vti_elf_look(struct vti_elf_facts *facts, const char *path);

#endif
