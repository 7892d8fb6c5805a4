/* texts.h - texts that are kept once and known by a number from then on: keys of tasks, and names. */
#ifndef VENTURI_GRAPH_TEXTS_H
#define VENTURI_GRAPH_TEXTS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_NO_TEXT UINT32_MAX

/* A zeroed struct is a valid empty one. 8 bytes for each text beside its own, 4 to 8 for finding it. */
struct vti_texts {
    char *pool; /* owned: all texts, each with its end */
    size_t pool_bytes, pool_room;
    uint32_t *hashes; /* of each text */
    uint64_t *places; /* of each text in the pool */
    uint32_t count, room;
    uint32_t *slots; /* number + 1 of a text, 0: free */
    uint32_t slot_count;
};

void vti_texts_fini(struct vti_texts *texts);

/* Its number, new or not; VTI_NO_TEXT: no memory. */
uint32_t vti_texts_add(struct vti_texts *texts, const char *text);

/* VTI_NO_TEXT: it is not there. */
uint32_t vti_texts_find(const struct vti_texts *texts, const char *text);

/* Until the next text is added. */
const char *vti_texts_get(const struct vti_texts *texts, uint32_t number);

/* One line that somebody is to read: control characters become blanks. malloc; NULL: no memory. */
char *vti_text_line(const char *format, va_list list) __attribute__((format(printf, 1, 0)));

#endif
