/* keys.h - the secrets of a service, in the order in which they are tried. */
#ifndef VENTURI_NET_KEYS_H
#define VENTURI_NET_KEYS_H

#include <venturi/http.h>

struct vti_key {
    const char *text; /* borrowed from the list */
    size_t len;
};

struct vt_keys {
    size_t count;
    char *list; /* owned */
    struct vti_key keys[];
};

/* Number + 1 of the first key with which the signature fits, 0 if none does. */
uint32_t vti_keys_match(const vt_keys *keys, const char *signature, size_t len, const char *info,
                        size_t info_len);

#endif
