/* host.h - the HOST entry of the machine that we run on. */
#ifndef VENTURI_FORMAT_HOST_H
#define VENTURI_FORMAT_HOST_H

#include "base/buf.h"

#include <stdint.h>

/* "AMD EPYC 7702", as the kernel calls it; "" if it does not say. */
#define VTI_CPU_MODEL_BYTES 256
void vti_host_cpu_model(char to[VTI_CPU_MODEL_BYTES]);

void vti_host_write_this(struct vti_buf *out, uint32_t host);

#endif
