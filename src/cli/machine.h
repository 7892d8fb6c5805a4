/* machine.h - what this machine allows, as far as recording needs it. */
#ifndef VENTURI_CLI_MACHINE_H
#define VENTURI_CLI_MACHINE_H

#include <stddef.h>

enum vti_check_state {
    VTI_CHECK_OK,
    VTI_CHECK_NOTE, /* works, with less */
    VTI_CHECK_BAD   /* nothing can be recorded */
};

struct vti_check {
    const char *name;
    enum vti_check_state state;
    char text[1024];   /* what was found */
    const char *hint;  /* what to do about it, or NULL */
    char advice[1024]; /* room for one that is made up */
};

struct vti_setting {
    const char *name;    /* of the environment variable */
    const char *value;   /* what counts */
    const char *from;    /* "environment", "default" */
    const char *trouble; /* why what the environment says does not count, or NULL */
    const char *meaning;
};

#define VTI_CHECK_COUNT 10
#define VTI_SETTING_COUNT 10

/* Makes all checks; takes a few milliseconds. */
void vti_machine_check(struct vti_check checks[VTI_CHECK_COUNT]);

/* One of them: sources of energy, and the command that gives better ones. */
void vti_machine_check_energy(struct vti_check *check);

/* Reads all settings; the texts belong to the environment or live for ever. */
void vti_machine_settings(struct vti_setting settings[VTI_SETTING_COUNT]);

#endif
