/* tls_pin.c - the check itself, in place of OpenSSL's for connections that libcurl makes. */
#include "store/tls_pin.h"

#include "base/error.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

struct vti_tls_pin {
    unsigned char digest[32];
    char *host;
    bool has_failed;
};

static X509 *find(const struct vti_tls_pin *pin, STACK_OF(X509) * chain)
{
    for (int i = 0; i < sk_X509_num(chain); i++) {
        unsigned char digest[EVP_MAX_MD_SIZE];
        unsigned len = 0;
        X509 *certificate = sk_X509_value(chain, i);

        if (X509_digest(certificate, EVP_sha256(), digest, &len) && len == sizeof pin->digest &&
            !memcmp(digest, pin->digest, len))
            return certificate;
    }
    return NULL;
}

static void expect_host(X509_STORE_CTX *context, const char *host)
{
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);
    size_t len = strlen(host);
    char bare[256];

    if (len > 2 && len < sizeof bare && host[0] == '[' && host[len - 1] == ']') {
        memcpy(bare, host + 1, len - 2);
        bare[len - 2] = 0;
        X509_VERIFY_PARAM_set1_ip_asc(param, bare);
    } else if (!X509_VERIFY_PARAM_set1_ip_asc(param, host)) {
        X509_VERIFY_PARAM_set1_host(param, host, 0);
    }
}

/* 1: trusted. */
static int verify(X509_STORE_CTX *context, void *arg)
{
    struct vti_tls_pin *pin = arg;
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_untrusted(context);
    X509 *leaf = X509_STORE_CTX_get0_cert(context);
    X509 *found = find(pin, chain);
    STACK_OF(X509) * trusted;
    int is_good;

    pin->has_failed = !found;
    if (!found) {
        X509_STORE_CTX_set_error(context, X509_V_ERR_CERT_UNTRUSTED);
        return 0;
    }
    trusted = sk_X509_new_null();
    if (!trusted || !sk_X509_push(trusted, found)) {
        sk_X509_free(trusted);
        X509_STORE_CTX_set_error(context, X509_V_ERR_OUT_OF_MEM);
        return 0;
    }
    if (X509_cmp(found, leaf))
        expect_host(context, pin->host);
    X509_STORE_CTX_set0_trusted_stack(context, trusted);
    X509_STORE_CTX_set_flags(context, X509_V_FLAG_PARTIAL_CHAIN);
    is_good = X509_verify_cert(context) == 1;
    sk_X509_free(trusted);
    return is_good;
}

static CURLcode hook(CURL *curl, void *context, void *arg)
{
    (void)curl;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, verify, arg);
    return CURLE_OK;
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

int vti_tls_pin_open(struct vti_tls_pin **to, CURL *curl, const char *fingerprint, const char *host)
{
    struct vti_tls_pin *pin = calloc(1, sizeof *pin);

    *to = pin;
    if (!pin || !(pin->host = strdup(host)))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < sizeof pin->digest; i++)
        pin->digest[i] = (unsigned char)(digit(fingerprint[2 * i]) << 4 |
                                         digit(fingerprint[2 * i + 1]));
    if (curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, hook) ||
        curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, pin))
        return vti_fail(VTI_E_USAGE,
                        "this libcurl cannot check fingerprints (it is not built with OpenSSL): "
                        "name a CA file");
    /* Who it is, is asked in verify(); libcurl would ask again. */
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    return 0;
}

void vti_tls_pin_close(struct vti_tls_pin *pin)
{
    if (pin)
        free(pin->host);
    free(pin);
}

bool vti_tls_pin_failed(const struct vti_tls_pin *pin)
{
    return pin->has_failed;
}
