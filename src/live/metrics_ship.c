/*
 * metrics_ship.c - the spool and the shippers that follow it.
 *
 * How large a spool may be is what its drainer wrote into each file; how large it is, its folder tells.
 */
#include "live/metrics_impl.h"

#include "base/bytes.h"
#include "live/state.h"
#include "model/fact_blocks.h"

#include <stdlib.h>
#include <string.h>

static uint64_t limit_of(const struct vti_source *source)
{
    struct vti_bytes value;
    char text[24] = "";

    if (!source->recording || !vti_recording_meta(source->recording, "spool.limit", &value) ||
        value.len >= sizeof text)
        return 0;
    memcpy(text, value.data, value.len);
    return strtoull(text, NULL, 10);
}

static void write_spool(struct vti_metrics_out *metrics, const struct vti_live *live,
                        const struct vti_live_ship *ship)
{
    struct vti_live_summary summary;
    uint64_t limit = 0;

    vti_live_summary(live, &summary);
    for (size_t i = live->source_count; i-- > 0 && !limit;) /* the newest is the last */
        limit = limit_of(live->sources[i]);
    if (!limit)
        return;
    vti_metrics_gauge_u(metrics, "venturi_spool_size_bytes", "bytes", "Size of the spool.",
                        ship->spool_bytes != VTI_LIVE_UNKNOWN ? ship->spool_bytes
                                                              : summary.file_bytes);
    vti_metrics_gauge_u(metrics, "venturi_spool_limit_bytes", "bytes",
                        "Size that the spool may have.", limit);
}

void vti_metrics_ship(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_live_ship ship;

    vti_live_ship(live, &ship);
    write_spool(metrics, live, &ship);
    if (!ship.is_known)
        return;
    vti_exposition_family(metrics, VTI_METRIC_INFO, "venturi_ship", NULL,
                          "Where the shipper sends to.");
    vti_exposition_count(metrics, &(struct vti_label){"store", ship.store}, 1, 1);
    vti_metrics_gauge_u(metrics, "venturi_ship_running", NULL, "Whether the shipper runs.",
                        ship.is_running);
    vti_metrics_gauge_u(metrics, "venturi_ship_failing", NULL,
                        "Whether the shipper's last word was an error.", ship.error && *ship.error);
    vti_metrics_gauge_u(metrics, "venturi_ship_waiting_documents", NULL,
                        "Documents that wait in the spool.", ship.waiting);
    vti_metrics_counter_u(metrics, "venturi_ship_shipped_documents", NULL,
                          "Documents that the store has.", ship.shipped);
    vti_metrics_counter_u(metrics, "venturi_ship_retried_documents", NULL,
                          "Documents that were sent again.", ship.retried);
    vti_metrics_counter_u(metrics, "venturi_ship_dead_documents", NULL,
                          "Documents that the store refused for good: they are in a file.",
                          ship.dead);
    vti_metrics_counter_u(metrics, "venturi_ship_lost_documents", NULL,
                          "Documents that gave way to the limit of the spool.", ship.lost);
}
