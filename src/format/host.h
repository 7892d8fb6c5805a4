/* host.h - the HOST entry of the machine that we run on. */
#ifndef VENTURI_FORMAT_HOST_H
#define VENTURI_FORMAT_HOST_H

#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>

/* "AMD EPYC 7702", as the kernel calls it, or the codes that it gives ("0x41 0xd0c"); "" if it says nothing. */
#define VTI_CPU_MODEL_BYTES 256
void vti_host_cpu_model(char to[VTI_CPU_MODEL_BYTES]);
void vti_host_cpu_model_read(char to[VTI_CPU_MODEL_BYTES], FILE *file); /* of a /proc/cpuinfo */

void vti_host_write_this(struct vti_buf *out, uint32_t host);

#endif
