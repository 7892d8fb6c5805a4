/*
 * tls_pin.h - a server is trusted because a certificate in its chain has the fingerprint that the user was told, as
 * Elasticsearch prints it when it starts for the first time.
 */
#ifndef VENTURI_STORE_TLS_PIN_H
#define VENTURI_STORE_TLS_PIN_H

#include <curl/curl.h>
#include <stdbool.h>

struct vti_tls_pin;

/* From now on the handle's connections are checked so. Signatures, dates and uses are checked as always, from that certificate down; the
 * host's name too, unless it is the server's own certificate that was named. VTI_E_USAGE if this libcurl cannot. */
int vti_tls_pin_open(struct vti_tls_pin **pin, CURL *curl, const char *fingerprint,
                     const char *host);
void vti_tls_pin_close(struct vti_tls_pin *pin);

/* Whether the last connection failed because no certificate had it. */
bool vti_tls_pin_failed(const struct vti_tls_pin *pin);

#endif
