/* settings.c - settings of librdkafka, and the table that libventuri-step asks for (kafka.h). */
#include "kafka/settings.h"

#include "kafka/ends.h"

#include <stdlib.h>
#include <string.h>

#define WAIT "venturi.wait.ms"

int vti_kafka_wait(const struct vt_setting *settings, int otherwise)
{
    for (; settings && settings->name; settings++)
        if (!strcmp(settings->name, WAIT)) {
            long ms = strtol(settings->value, NULL, 10);

            otherwise = ms < 0 ? 0 : ms > otherwise ? otherwise : (int)ms;
        }
    return otherwise;
}

static int set_all(rd_kafka_conf_t *conf, const struct vt_setting *settings, char *line)
{
    for (; settings && settings->name; settings++)
        if (strcmp(settings->name, WAIT) != 0 &&
            rd_kafka_conf_set(conf, settings->name, settings->value, line, VTI_KAFKA_LINE) !=
                RD_KAFKA_CONF_OK)
            return -1;
    return 0;
}

/* What librdkafka would write to stderr is a failure's line, or nobody's business. */
static void keep_quiet(const rd_kafka_t *kafka, int level, const char *fac, const char *text)
{
    (void)kafka, (void)level, (void)fac, (void)text;
}

rd_kafka_conf_t *vti_kafka_conf(const struct vt_setting *ours, const struct vt_setting *settings,
                                char *line)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set_log_cb(conf, keep_quiet);
    if (set_all(conf, ours, line) || set_all(conf, settings, line)) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    return conf;
}

__attribute__((visibility("default"))) const struct vti_kafka *vti_kafka_entry(void)
{
    static const struct vti_kafka table = {
        VTI_KAFKA_VERSION,
        vti_kafka_open_consumer,
        vti_kafka_open_producer,
    };

    return &table;
}
