/*
 * store.h - something that keeps documents: Elasticsearch, Redis, an OTLP receiver, Kafka, a file.
 *
 * A store is one file and one line in stores.def. It sends what it is given and says for each document what became of it;
 * when to send again, where to go on after a crash and what to do with the dead is ship's (ship.h). Nothing here runs in a
 * measured program. A store never prints, and never puts a credential into a message: vti_store_settings.shown is the URL for
 * messages.
 */
#ifndef VENTURI_STORE_STORE_H
#define VENTURI_STORE_STORE_H

#include "base/buf.h"
#include "store/documents.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where it is and how to get in; texts may be NULL. Filled by vti_settings_parse(): URL, then environment, then a file. */
struct vti_store_settings {
    char *scheme;  /* "elasticsearch", in lower case */
    char *host;    /* "" for file:// */
    char *path;    /* with its first slash, percent signs as given; "" none */
    char *query;   /* after '?', without it */
    char *shown;   /* for messages: scheme://host:port/path */
    unsigned port; /* 0: the store's own */
    char *user, *password, *api_key, *token;
    char *ca_file, *cert_file, *key_file;
    char *
        fingerprint; /* SHA-256 of a certificate in the server's chain, 64 hex digits in lower case */
    bool is_tls;     /* https, rediss, otlps …, "+https" or "+tls" after the scheme */
    bool is_insecure; /* any certificate will do */
    bool has_gzip;
    long timeout_ms;          /* of one request; 0: the store's own */
    bool (*is_stopped)(void); /* NULL: never; asked while a request runs, which ends if so */
};

/* What one call of send() came to besides the fates of the documents. */
enum vti_outcome {
    VTI_OUTCOME_OK,   /* the store answered; those still waiting are to be sent again */
    VTI_OUTCOME_AWAY, /* no connection, no answer, or "later" for all: the same again, later */
    VTI_OUTCOME_HELD, /* it does not let us in, or is not what we think: somebody must do something first */
};

struct vti_answer {
    enum vti_outcome outcome;
    long wait_ms;          /* what the store asked for (Retry-After); 0: nothing */
    bool may_have_arrived; /* no answer came: some of it may be there */
    char why[400];         /* one line for people, without credentials; "" if all is well */
    uint64_t bytes;        /* sent, headers left out */
    uint64_t requests;
    uint64_t repeated; /* documents that were there already */
};

/* Requests of --setup, and their answers; `out` gets text for people. */
struct vti_setup {
    bool is_dry_run;    /* say what would be sent, send nothing */
    const char *prefix; /* of indices: pattern PREFIX-* */
    unsigned keep_days; /* life cycle; 0: for ever */
    unsigned shards, replicas;
    const char
        *dialect; /* --dry-run without a server: "elasticsearch" or "opensearch"; NULL: ask it */
    struct vti_buf *out;
};

struct vti_store; /* each store has its own */

struct vti_store_type {
    const char *name;
    const char *schemes;            /* with blanks between them */
    const char *about;              /* for --help: "Elasticsearch 7 to 9, OpenSearch" */
    uint32_t kinds;                 /* of documents that it can keep */
    struct vti_batch_limits limits; /* 0: ship's own, 2,000 documents or 4 MB */

    /* Connects, or only gets ready to: a store that is away is no failure here, wrong settings are (VTI_E_USAGE). The settings live
     * longer than the store. */
    int (*open)(struct vti_store **store, const struct vti_store_settings *settings);

    /* Sends the documents that wait, and says what became of each: vti_batch_done(), _dead(), _later(). 0, or a negative code for
     * what is neither the store's nor the network's fault (no memory, our disk is full): ship ends with its message. */
    int (*send)(struct vti_store *store, struct vti_batch *batch, struct vti_answer *answer);

    /* Makes templates and the like; NULL: nothing to set up. */
    int (*setup)(struct vti_store *store, const struct vti_setup *setup);
    void (*close)(struct vti_store *store);
};

/* All of them, as stores.def has them; NULL after the last. */
const struct vti_store_type *vti_store_at(size_t at);
const struct vti_store_type *vti_store_for(const char *scheme); /* NULL: none */

/* ---- settings.c ------------------------------------------------------------------------------ */

/* Takes a URL apart: scheme://[user[:password]@]host[:port][/path][?query]. Credentials in it are percent-decoded, and taken
 * out of everything that is shown. 0 or VTI_E_USAGE with a message that holds no credential. */
int vti_settings_parse(struct vti_store_settings *settings, const char *url);

/* What the URL does not say: from VENTURI_STORE_USER, _PASSWORD, _API_KEY, _TOKEN, _CA, _CERT, _KEY, _FINGERPRINT, _TIMEOUT … */
int vti_settings_environment(struct vti_store_settings *settings);

/* … or from a file of lines `name = value`: user, password, api_key, token, ca, cert, key, fingerprint. It must not be
 * readable by others. NULL: the one that VENTURI_STORE_CREDENTIALS names, if any. */
int vti_settings_file(struct vti_store_settings *settings, const char *path);

/* A value of the query, "a=1&b=2", percent-decoded: owned by the caller; NULL if it is not there. */
char *vti_settings_query(const struct vti_store_settings *settings, const char *name);

/* Whether the host is this machine: localhost, 127.0.0.0/8, ::1. */
bool vti_settings_is_loopback(const struct vti_store_settings *settings);

/* Wipes and frees. */
void vti_settings_fini(struct vti_store_settings *settings);

#endif
