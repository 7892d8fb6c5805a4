/* peer_lttng_tp.h - two trace points for LTTng-UST, each with one 32-bit field. Read several times by
 * LTTng's own headers, which is why its guard looks as it does. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER venturi_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peer_lttng_tp.h"

#if !defined(VENTURI_BENCH_PEER_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define VENTURI_BENCH_PEER_LTTNG_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(venturi_bench, begin, LTTNG_UST_TP_ARGS(uint32_t, site),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, site, site)))

LTTNG_UST_TRACEPOINT_EVENT(venturi_bench, end, LTTNG_UST_TP_ARGS(uint32_t, site),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, site, site)))

#endif

#include <lttng/tracepoint-event.h>
