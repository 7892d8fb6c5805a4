/* venturi/venturi.h - everything that libventuri offers to a program. */
#ifndef VENTURI_VENTURI_H
#define VENTURI_VENTURI_H

#include <venturi/context.h>
#include <venturi/session.h>
#include <venturi/span.h>

#endif
