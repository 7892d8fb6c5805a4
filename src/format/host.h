/* host.h - the HOST entry of the machine that we run on. */
#ifndef VENTURI_FORMAT_HOST_H
#define VENTURI_FORMAT_HOST_H

#include "base/buf.h"

#include <stdint.h>

void vti_host_write_this(struct vti_buf *out, uint32_t host);

#endif
