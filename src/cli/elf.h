/* elf.h - what `run` wants to know about a program before it starts it. */
#ifndef VENTURI_CLI_ELF_H
#define VENTURI_CLI_ELF_H

#include <stdbool.h>

struct vti_elf_facts {
    bool is_elf;
    bool is_static;        /* there is no loader that could preload anything */
    bool has_hooks;        /* it was compiled with -finstrument-functions */
    bool brings_collector; /* it is linked with libventuri-functions.so */
};

/* All false for what is no 64-bit ELF file of this machine's byte order, or is damaged. */
void vti_elf_look(struct vti_elf_facts *facts, const char *path);

#endif
