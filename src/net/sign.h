/* sign.h - HMAC-SHA1 as `X-Trace-HMAC` has it, and both headers of a pair of ids. */
#ifndef VENTURI_NET_SIGN_H
#define VENTURI_NET_SIGN_H

#include "net/trace_info.h"

#include <venturi/context.h>

#define VTI_SIGNATURE 41       /* room for 40 hex digits */
#define VTI_TRACE_INFO_IDS 141 /* room for two UUIDs, packed */

/* Of the text of `X-Trace-Info`. False if libcrypto cannot. */
bool vti_sign(char signature[VTI_SIGNATURE], const char *key, size_t key_len, const char *info,
              size_t info_len);

/* Whether this is the signature; takes as long wherever they differ. Lower case only, as osprofiler. */
bool vti_sign_fits(const char *signature, size_t len, const char *key, size_t key_len,
                   const char *info, size_t info_len);

/* Both headers for a receiver that shall be the child of `parent`; that of a new trace is its base. False as vti_sign(). */
bool vti_sign_ids(char info[VTI_TRACE_INFO_IDS], char signature[VTI_SIGNATURE], const char *key,
                  size_t key_len, const struct vt_id *base, const struct vt_id *parent);

#endif
