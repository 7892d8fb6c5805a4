/* trace_info.h - the value of `X-Trace-Info`: ids as JSON as base64, the bytes that osprofiler makes of them. */
#ifndef VENTURI_NET_TRACE_INFO_H
#define VENTURI_NET_TRACE_INFO_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define VTI_TRACE_INFO_MOST 8192   /* a longer one is refused; two UUIDs take 140 */
#define VTI_TRACE_INFO_ID_MOST 256 /* characters of an id */

/* Ids are any UTF-8. `parent` NULL: there is none. Returns the length of the text, which a zero ends; 0 if there is no room. */
size_t vti_trace_info_pack(char *to, size_t room, const char *base, size_t base_len,
                           const char *parent, size_t parent_len);

/* What was in it, UTF-8 without a zero at the end. A zeroed one is ready. */
struct vti_trace_info {
    struct vti_buf base;
    struct vti_buf parent;
    bool has_parent;
};

/* False if it is anything but an object with a text `base_id`, and perhaps a text `parent_id`, and nothing else. A parent that is
 * null or empty is none, as for osprofiler. Texts are too long for ids with more than VTI_TRACE_INFO_ID_MOST characters, and are none
 * with control characters or half a pair of surrogates. */
bool vti_trace_info_unpack(struct vti_trace_info *info, const char *text, size_t len);
void vti_trace_info_fini(struct vti_trace_info *info);

#endif
