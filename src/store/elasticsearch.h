/* elasticsearch.h - between the files of the store for Elasticsearch and OpenSearch: bulk requests, and setting it up. */
#ifndef VENTURI_STORE_ELASTICSEARCH_H
#define VENTURI_STORE_ELASTICSEARCH_H

#include "store/http.h"

#define VTI_ES_PORT 9200

struct vti_es {
    const struct vti_store_settings *settings; /* borrowed */
    struct vti_http *http;
    struct vti_http_answer answer;
    struct vti_buf body;      /* of a request */
    struct vti_buf action;    /* the line of an index, up to the id */
    const char *action_index; /* whose it is */
    size_t *sent;             /* owned: which documents a request holds */
    size_t sent_count, sent_room;
    size_t most_bytes;              /* of a request, as far as we were told by 413 */
    struct vti_buf key, text, kind; /* scratch */
};

/* "type: reason" of an answer that is an error, as one line in store->text, ""  if it says nothing; whether it is one of
 * Elasticsearch's. */
bool vti_es_error(struct vti_es *store, const struct vti_http_answer *answer);

int vti_es_setup(struct vti_es *store, const struct vti_setup *setup);

#endif
