/* endpoint.c - consumers and producers by their addresses, and the functions behind their structs. */
#include "base/error.h"
#include "step/step.h"

#include <string.h>

enum kind { LINES, CSV, KAFKA };

static bool begins(const char *text, const char *with, const char **rest)
{
    size_t len = strlen(with);

    if (strncmp(text, with, len) != 0)
        return false;
    *rest = text + len;
    return true;
}

static bool ends(const char *text, const char *with)
{
    size_t len = strlen(text);

    return len >= strlen(with) && !strcmp(text + len - strlen(with), with);
}

/* What an address means; *rest is what stands behind its scheme. Negative: vti_fail(). */
static int kind_of(const char *address, const char **rest)
{
    *rest = address;
    if (!address || !*address)
        return vti_fail(VTI_E_USAGE, "an empty address");
    if (begins(address, "kafka://", rest))
        return KAFKA;
    if (begins(address, "jsonl:", rest) || !strcmp(address, "-"))
        return LINES;
    if (begins(address, "csv:", rest) || ends(address, ".csv"))
        return CSV;
    if (ends(address, ".jsonl") || ends(address, ".ndjson") || ends(address, ".json"))
        return LINES;
    return vti_fail(VTI_E_USAGE,
                    "%s: neither .jsonl nor .csv, nor kafka://…; write jsonl:%s or csv:%s", address,
                    address, address);
}

const char *vti_step_setting(const struct vt_setting *settings, const char *name)
{
    for (; settings && settings->name; settings++)
        if (!strcmp(settings->name, name))
            return settings->value;
    return NULL;
}

int vt_consumer_open(struct vt_consumer **consumer, const char *from,
                     const struct vt_setting *settings)
{
    const char *rest;
    int kind = kind_of(from, &rest);
    int code;

    *consumer = NULL;
    if (kind < 0)
        code = kind;
    else if (kind == KAFKA)
        code = vti_step_open_kafka(consumer, rest, settings);
    else
        code = vti_step_open_lines(consumer, rest, kind == CSV, settings);
    return vti_step_said(code);
}

int vt_producer_open(struct vt_producer **producer, const char *to,
                     const struct vt_setting *settings)
{
    const char *rest;
    int kind = kind_of(to, &rest);
    int code;

    *producer = NULL;
    if (kind < 0)
        code = kind;
    else if (kind == KAFKA)
        code = vti_step_open_kafka_out(producer, rest, settings);
    else
        code = vti_step_open_lines_out(producer, rest, kind == CSV, settings);
    return vti_step_said(code);
}

int vt_consumer_receive(struct vt_consumer *consumer, struct vt_message *messages, size_t most,
                        int timeout_ms)
{
    return vti_step_said(consumer->receive(consumer, messages, most, timeout_ms));
}

int vt_consumer_commit(struct vt_consumer *consumer)
{
    return consumer && consumer->commit ? vti_step_said(consumer->commit(consumer)) : 0;
}

void vt_consumer_close(struct vt_consumer *consumer)
{
    if (consumer && consumer->close)
        consumer->close(consumer);
}

int vt_producer_send(struct vt_producer *producer, const struct vt_message *message)
{
    return vti_step_said(producer->send(producer, message));
}

int vt_producer_flush(struct vt_producer *producer, int timeout_ms)
{
    return producer && producer->flush ? vti_step_said(producer->flush(producer, timeout_ms)) : 0;
}

void vt_producer_close(struct vt_producer *producer)
{
    if (producer && producer->close)
        producer->close(producer);
}
