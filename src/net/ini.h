/*
 * ini.h - ini files as oslo.config and Python's configparser read them: sections, `key = value` or `key: value`, comments with
 * # and ;, and values that go on in indented lines. Nothing is interpolated: a % stands for itself.
 */
#ifndef VENTURI_NET_INI_H
#define VENTURI_NET_INI_H

#include <stdbool.h>
#include <stddef.h>

#define VTI_INI_BYTES_MOST (1u << 20) /* of a file */

struct vti_ini_entry {
    const char *section; /* as written; case does not matter */
    const char *key;
    const char *value; /* lines joined by newlines, blanks around it left out */
};

struct vti_ini {
    struct vti_ini_entry *entries;
    size_t count;
    size_t capacity;
    char *text; /* owned: where the entries point to */
    size_t size;
};

/* 0, or a negative code and a message that names the file and the line. `name` is for messages. Close it in either case. */
int vti_ini_read(struct vti_ini *ini, const char *path);
int vti_ini_parse(struct vti_ini *ini, const char *name, const void *bytes, size_t count);
void vti_ini_close(struct vti_ini *ini);

/* The last value of that key, or NULL. */
const char *vti_ini_get(const struct vti_ini *ini, const char *section, const char *key);

#endif
