/*
 * fetch.h - traces come back from the stores that they were shipped to: the inside of venturi-fetch.
 *
 * What is fetched becomes a recording that the tool opens like any other, or, where the store sums up by itself, rows of JSON. Everything that a
 * store holds is hostile: bounded in number and bytes, and what is no notification is counted and left out.
 */
#ifndef VENTURI_STORE_FETCH_H
#define VENTURI_STORE_FETCH_H

#include "import/notifications.h"
#include "store/store.h"

#define VTI_FETCH_EVENTS 4000000u           /* notifications at most: two million spans */
#define VTI_FETCH_BYTES (UINT64_C(2) << 30) /* of them as text */
#define VTI_FETCH_EVENT_MOST (4u << 20)     /* bytes of one */
#define VTI_FETCH_CANDIDATES 20u /* traces that are read where an id is not given whole */

enum vti_fetch_what { VTI_FETCH_LIST, VTI_FETCH_SHOW, VTI_FETCH_RANK };

struct vti_fetch {
    enum vti_fetch_what what;
    struct vti_store_settings settings;
    const char *word;  /* show: an id, the beginning of one, last, slowest */
    const char *to;    /* the file that is written */
    const char *sort;  /* list: begin, time, spans, errors */
    const char *index; /* Elasticsearch: where to look */
    uint32_t limit;    /* list and rank: so many rows; UINT32_MAX: as many as the store gives */
    bool has_errors_only, is_wide;

    /* The recording under way. */
    struct vti_import_target target;
    struct vti_notifications all;
    bool is_open;
    uint64_t events, bytes, too_long;
    char note[VTI_IMPORT_NOTE + 200]; /* one line for the user, "": none */
};

/* One way of reading; schemes with blanks between them. */
struct vti_fetcher {
    const char *schemes;
    int (*run)(struct vti_fetch *fetch); /* 0 or a negative code */
};
extern const struct vti_fetcher vti_fetch_redis, vti_fetch_elasticsearch;

/* A recording begins, is given notifications, is written. 0 or a negative code. _add: 1 if the limit is reached. */
int vti_fetch_begin(struct vti_fetch *fetch);
int vti_fetch_add(struct vti_fetch *fetch, const char *text, size_t len);
int vti_fetch_write(struct vti_fetch *fetch);
void vti_fetch_fini(struct vti_fetch *fetch);

/* Whether the word is a whole id; its digits with dashes, as osprofiler writes them. */
bool vti_fetch_is_id(const char *word, char text[VTI_UUID_TEXT]);

/* Whether it can be the beginning of one: hex digits and dashes; `prefix` has them in lower case, with dashes where an id has them. */
bool vti_fetch_is_prefix(const char *word, char prefix[VTI_UUID_TEXT]);

#endif
