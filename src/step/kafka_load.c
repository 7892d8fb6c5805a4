/*
 * kafka_load.c - addresses of Kafka, and the library for it, which is loaded when the first of them is opened.
 *
 * kafka://HOST[:PORT][,…]/TOPIC[,…][?NAME=VALUE[&…]]: names and values are librdkafka's, %XX stands for a byte.
 */
#include "base/error.h"
#include "kafka/kafka.h"
#include "step/step.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_MOST 256
#define TOPICS_MOST 64

/* An address taken apart: all texts are in `text`. */
struct address {
    char *text; /* owned */
    char *brokers;
    const char *topics[TOPICS_MOST + 1];
    struct vt_setting settings[SETTINGS_MOST + 2];
};

/* The library is loaded once and for all. NULL: vti_fail(). */
static const struct vti_kafka *load(void)
{
    void *handle = dlopen(VTI_KAFKA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, VTI_KAFKA_ENTRY) : NULL;
    const struct vti_kafka *(*entry)(void) = NULL;
    const struct vti_kafka *table;

    memcpy(&entry, &symbol, sizeof entry);
    table = entry ? entry() : NULL;
    if (table && table->version == VTI_KAFKA_VERSION)
        return table;
    if (handle)
        vti_fail(VTI_E_NOT_FOUND, VTI_KAFKA_LIBRARY " is of another version");
    else
        vti_fail(VTI_E_NOT_FOUND, "Kafka needs %s and librdkafka: %s", VTI_KAFKA_LIBRARY,
                 dlerror());
    return NULL;
}

static int digit(char c)
{
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
                                        : -1;
}

static void decode(char *text)
{
    char *to = text;

    for (; *text; text++, to++) {
        *to = *text;
        if (*text == '%' && digit(text[1]) >= 0 && digit(text[2]) >= 0) {
            *to = (char)(digit(text[1]) * 16 + digit(text[2]));
            text += 2;
        }
    }
    *to = 0;
}

static int split_topics(struct address *address, char *list)
{
    char *kept = NULL;
    size_t count = 0;

    for (char *topic = strtok_r(list, ",", &kept); topic; topic = strtok_r(NULL, ",", &kept)) {
        if (count == TOPICS_MOST)
            return vti_fail(VTI_E_LIMIT, "more than %d topics", TOPICS_MOST);
        decode(topic);
        address->topics[count++] = topic;
    }
    return count ? 0
                 : vti_fail(VTI_E_USAGE, "kafka://%s: no topic, as in kafka://HOST:9092/TOPIC",
                            address->brokers);
}

static int split_settings(struct address *address, char *query, size_t *count)
{
    char *kept = NULL;

    for (char *pair = query ? strtok_r(query, "&", &kept) : NULL; pair;
         pair = strtok_r(NULL, "&", &kept)) {
        char *value = strchr(pair, '=');

        if (!value || value == pair)
            return vti_fail(VTI_E_USAGE, "'%s' is no NAME=VALUE", pair);
        if (*count == SETTINGS_MOST)
            return vti_fail(VTI_E_LIMIT, "more than %d settings", SETTINGS_MOST);
        *value++ = 0;
        decode(pair);
        decode(value);
        address->settings[(*count)++] = (struct vt_setting){pair, value};
    }
    return 0;
}

/* Settings of the caller come last: they decide. */
static int take_apart(struct address *address, const char *rest, const struct vt_setting *settings)
{
    size_t count = 0;
    char *query;
    char *topics;
    int code;

    memset(address, 0, sizeof *address);
    address->text = strdup(rest);
    if (!address->text)
        return vti_fail(VTI_E_NOMEM, "no memory for an address");
    address->brokers = address->text;
    query = strchr(address->text, '?');
    if (query)
        *query++ = 0;
    topics = strchr(address->text, '/');
    if (topics)
        *topics++ = 0;
    if (*address->brokers)
        address->settings[count++] = (struct vt_setting){"bootstrap.servers", address->brokers};
    code = split_topics(address, topics ? topics : address->text + strlen(address->text));
    if (!code)
        code = split_settings(address, query, &count);
    for (; !code && settings && settings->name; settings++) {
        if (count == SETTINGS_MOST)
            code = vti_fail(VTI_E_LIMIT, "more than %d settings", SETTINGS_MOST);
        else
            address->settings[count++] = *settings;
    }
    return code;
}

int vti_step_open_kafka(struct vt_consumer **consumer, const char *rest,
                        const struct vt_setting *settings)
{
    char line[VTI_KAFKA_LINE] = "";
    struct address address;
    int code = take_apart(&address, rest, settings);
    const struct vti_kafka *kafka = code ? NULL : load();

    if (!code && !kafka)
        code = VTI_E_NOT_FOUND;
    if (!code &&
        kafka->open_consumer(consumer, address.topics, address.settings, vt_step_fail, line))
        code = vti_fail(VTI_E_OPEN, "kafka: %s", line);
    free(address.text);
    return code;
}

int vti_step_open_kafka_out(struct vt_producer **producer, const char *rest,
                            const struct vt_setting *settings)
{
    char line[VTI_KAFKA_LINE] = "";
    struct address address;
    int code = take_apart(&address, rest, settings);
    const struct vti_kafka *kafka = code ? NULL : load();

    if (!code && !kafka)
        code = VTI_E_NOT_FOUND;
    if (!code && address.topics[1])
        code = vti_fail(VTI_E_USAGE, "kafka: one topic is produced to, not '%s' and '%s'",
                        address.topics[0], address.topics[1]);
    if (!code &&
        kafka->open_producer(producer, address.topics[0], address.settings, vt_step_fail, line))
        code = vti_fail(VTI_E_OPEN, "kafka: %s", line);
    free(address.text);
    return code;
}
