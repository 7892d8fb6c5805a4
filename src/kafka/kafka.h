/*
 * kafka.h - what libventuri-kafka offers to libventuri-step, which loads it when an address of Kafka is opened: programs without
 * Kafka need no librdkafka.
 */
#ifndef VENTURI_KAFKA_KAFKA_H
#define VENTURI_KAFKA_KAFKA_H

#include <stddef.h>
#include <venturi/step.h>

#define VTI_KAFKA_LIBRARY "libventuri-kafka.so.1"
#define VTI_KAFKA_ENTRY "vti_kafka_entry"
#define VTI_KAFKA_VERSION 1
#define VTI_KAFKA_LINE 512

/* `topics` is a list that ends with NULL. 0, or -1 with one line in `line`, which has room for VTI_KAFKA_LINE bytes. The consumer and
 * the producer report with `fail`, which is vt_step_fail(). */
struct vti_kafka {
    unsigned version;
    int (*open_consumer)(struct vt_consumer **consumer, const char *const *topics,
                         const struct vt_setting *settings, int (*fail)(const char *format, ...),
                         char *line);
    int (*open_producer)(struct vt_producer **producer, const char *topic,
                         const struct vt_setting *settings, int (*fail)(const char *format, ...),
                         char *line);
};

const struct vti_kafka *vti_kafka_entry(void);

#endif
