/* ends.h - both ends of Kafka, see kafka.h. */
#ifndef VENTURI_KAFKA_ENDS_H
#define VENTURI_KAFKA_ENDS_H

#include "kafka/kafka.h"

int vti_kafka_open_consumer(struct vt_consumer **consumer, const char *const *topics,
                            const struct vt_setting *settings, int (*fail)(const char *format, ...),
                            char *line);
int vti_kafka_open_producer(struct vt_producer **producer, const char *topic,
                            const struct vt_setting *settings, int (*fail)(const char *format, ...),
                            char *line);

#endif
