/*
 * mock_kafka.c - librdkafka's own mock of a cluster, for tests: prints its addresses, and lives until standard input is closed.
 *
 *     mock_kafka BROKERS PARTITIONS TOPIC…
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void keep_quiet(const rd_kafka_t *kafka, int level, const char *fac, const char *text)
{
    (void)kafka, (void)level, (void)fac, (void)text;
}

int main(int argc, char **argv)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_mock_cluster_t *cluster;
    rd_kafka_t *kafka;
    char line[512];
    char end;

    if (argc < 3)
        return 2;
    rd_kafka_conf_set_log_cb(conf, keep_quiet);
    kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, line, sizeof line);
    cluster = kafka ? rd_kafka_mock_cluster_new(kafka, (int)strtol(argv[1], NULL, 10)) : NULL;
    if (!cluster)
        return 1;
    for (int i = 3; i < argc; i++)
        if (rd_kafka_mock_topic_create(cluster, argv[i], (int)strtol(argv[2], NULL, 10), 1))
            return 1;
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    while (read(STDIN_FILENO, &end, 1) > 0)
        ;
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(kafka);
    return 0;
}
