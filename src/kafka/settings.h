/* settings.h - settings of librdkafka. */
#ifndef VENTURI_KAFKA_SETTINGS_H
#define VENTURI_KAFKA_SETTINGS_H

#include "kafka/kafka.h"

#include <librdkafka/rdkafka.h>

/* All of a list, with those of `ours` before, so that the list decides. NULL: `line` says why. */
rd_kafka_conf_t *vti_kafka_conf(const struct vt_setting *ours, const struct vt_setting *settings,
                                char *line);

/* "venturi.wait.ms", which is ours: how long a producer waits for room in its queue; no longer than otherwise. */
int vti_kafka_wait(const struct vt_setting *settings, int otherwise);

#endif
