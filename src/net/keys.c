/* keys.c - the secrets of a service. Wiped when they are freed; never in a message. */
#include "net/keys.h"

#include "net/sign.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

static size_t pieces(const char *list)
{
    size_t count = 1;

    for (; *list; list++)
        count += *list == ',';
    return count;
}

vt_keys *vt_keys_new(const char *list)
{
    size_t room = list ? pieces(list) : 0;
    vt_keys *keys = calloc(1, sizeof *keys + room * sizeof keys->keys[0]);
    char *copy = strdup(list ? list : "");
    char *at = copy;
    char first[VTI_SIGNATURE];

    if (!keys || !copy) {
        free(keys);
        free(copy);
        return NULL;
    }
    keys->list = copy;
    for (; room; room--) {
        size_t len = strcspn(at, ",");
        char *next = at + len + 1;

        while (len && isspace((unsigned char)*at)) {
            at++;
            len--;
        }
        while (len && isspace((unsigned char)at[len - 1]))
            len--;
        if (len)
            keys->keys[keys->count++] = (struct vti_key){at, len};
        at = next;
    }
    /* libcrypto's first signature takes 10 ms, all others 2 us: better now than within the first request of a trace. */
    if (keys->count)
        vti_sign(first, keys->keys[0].text, keys->keys[0].len, "", 0);
    return keys;
}

void vt_keys_free(vt_keys *keys)
{
    if (!keys)
        return;
    OPENSSL_cleanse(keys->list, strlen(keys->list));
    free(keys->list);
    free(keys);
}

uint32_t vti_keys_match(const vt_keys *keys, const char *signature, size_t len, const char *info,
                        size_t info_len)
{
    for (size_t i = 0; i < keys->count; i++)
        if (vti_sign_fits(signature, len, keys->keys[i].text, keys->keys[i].len, info, info_len))
            return (uint32_t)i + 1;
    return 0;
}
