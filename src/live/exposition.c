/*
 * exposition.c - the two text formats of Prometheus.
 *
 * Where they differ: OpenMetrics names a family of counters without "_total", has units, infos, exemplars and when a counter began, and says where it ends.
 * Bounds of buckets are written alike ("1.0", as OpenMetrics wants it), so that a series is the same one in both.
 */
#include "live/exposition.h"

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const type_names[] = {"counter", "gauge", "histogram", "summary", "info"};

const char *vti_exposition_type(enum vti_exposition format)
{
    return format == VTI_EXPOSITION_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

void vti_exposition_begin(struct vti_metrics_out *metrics, enum vti_exposition format,
                          struct vti_buf *out)
{
    *metrics = (struct vti_metrics_out){.out = out, .format = format, .name = ""};
}

int vti_exposition_end(struct vti_metrics_out *metrics)
{
    if (metrics->format == VTI_EXPOSITION_OPENMETRICS)
        vti_buf_add_text(metrics->out, "# EOF\n");
    return metrics->out->failed ? vti_fail(VTI_E_NOMEM, "metrics: out of memory") : 0;
}

void vti_label_text(char to[VTI_LABEL_MOST + 1], const char *text)
{
    static const uint8_t unknown[] = {0xef, 0xbf, 0xbd};
    const uint8_t *at = (const uint8_t *)(text ? text : "");
    size_t left = strlen((const char *)at), len = 0;

    while (left) {
        uint32_t character;
        size_t taken = vti_utf8_get(at, left, &character);
        bool is_good = taken && (character == '\n' || (character >= 0x20 && character != 0x7f));
        size_t bytes = is_good ? taken : sizeof unknown;

        if (len + bytes > VTI_LABEL_MOST)
            break;
        memcpy(to + len, is_good ? at : unknown, bytes);
        len += bytes;
        taken = taken ? taken : 1;
        at += taken;
        left -= taken;
    }
    to[len] = '\0';
}

static void add_quoted(struct vti_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            vti_buf_add_text(out, "\\n");
            continue;
        }
        if (*text == '\\' || *text == '"')
            vti_buf_add_u8(out, '\\');
        vti_buf_add_u8(out, (uint8_t)*text);
    }
}

/* A program may have set a locale with a comma for a point. */
static size_t number_text(char to[32], double value)
{
    size_t len;

    if (isfinite(value))
        len = (size_t)vti_double_text(to, value);
    else
        len = (size_t)snprintf(to, 32, "%s", isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
    for (size_t i = 0; i < len; i++) {
        if (to[i] == ',')
            to[i] = '.';
    }
    return len;
}

static void add_number(struct vti_buf *out, double value)
{
    char text[32];

    vti_buf_add(out, text, number_text(text, value));
}

static const char *suffix_of(const struct vti_metrics_out *metrics)
{
    switch (metrics->type) {
    case VTI_METRIC_COUNTER:
        return "_total";
    case VTI_METRIC_INFO:
        return "_info";
    default:
        return "";
    }
}

void vti_exposition_family(struct vti_metrics_out *metrics, enum vti_metric_type type,
                           const char *name, const char *unit, const char *help)
{
    bool is_open = metrics->format == VTI_EXPOSITION_OPENMETRICS;
    struct vti_buf *out = metrics->out;

    metrics->name = name;
    metrics->type = type;
    vti_buf_printf(out, "# HELP %s%s ", name, is_open ? "" : suffix_of(metrics));
    vti_buf_add_text(out, help);
    vti_buf_printf(out, "\n# TYPE %s%s %s\n", name, is_open ? "" : suffix_of(metrics),
                   !is_open && type == VTI_METRIC_INFO ? "gauge" : type_names[type]);
    if (is_open && unit)
        vti_buf_printf(out, "# UNIT %s %s\n", name, unit);
}

static void add_label(struct vti_buf *out, const char *name, const char *value, bool *has_label)
{
    vti_buf_add_u8(out, *has_label ? ',' : '{');
    *has_label = true;
    vti_buf_add_text(out, name);
    vti_buf_add_text(out, "=\"");
    add_quoted(out, value);
    vti_buf_add_u8(out, '"');
}

/* Everything of a line before its value; `le` is the bound of a bucket, or NULL. */
static void add_series(struct vti_metrics_out *metrics, const char *suffix,
                       const struct vti_label *labels, size_t label_count, const char *le)
{
    struct vti_buf *out = metrics->out;
    bool has_label = false;

    vti_buf_add_text(out, metrics->name);
    vti_buf_add_text(out, suffix);
    for (size_t i = 0; i < label_count; i++) {
        char value[VTI_LABEL_MOST + 1];

        vti_label_text(value, labels[i].value);
        if (*value)
            add_label(out, labels[i].name, value, &has_label);
    }
    if (le)
        add_label(out, "le", le, &has_label);
    vti_buf_add_text(out, has_label ? "} " : " ");
}

/* Whoever reads it knows then that a counter which is lower than it was has begun anew. */
static void add_created(struct vti_metrics_out *metrics, const struct vti_label *labels,
                        size_t label_count)
{
    if (metrics->format != VTI_EXPOSITION_OPENMETRICS || metrics->created_s <= 0 ||
        metrics->type == VTI_METRIC_GAUGE || metrics->type == VTI_METRIC_INFO)
        return;
    add_series(metrics, "_created", labels, label_count, NULL);
    add_number(metrics->out, metrics->created_s);
    vti_buf_add_u8(metrics->out, '\n');
}

void vti_exposition_sample(struct vti_metrics_out *metrics, const struct vti_label *labels,
                           size_t label_count, double value)
{
    add_series(metrics, suffix_of(metrics), labels, label_count, NULL);
    add_number(metrics->out, value);
    vti_buf_add_u8(metrics->out, '\n');
    add_created(metrics, labels, label_count);
}

void vti_exposition_count(struct vti_metrics_out *metrics, const struct vti_label *labels,
                          size_t label_count, uint64_t value)
{
    add_series(metrics, suffix_of(metrics), labels, label_count, NULL);
    vti_buf_add_decimal_u(metrics->out, value);
    vti_buf_add_u8(metrics->out, '\n');
    add_created(metrics, labels, label_count);
}

void vti_exposition_summary(struct vti_metrics_out *metrics, const struct vti_label *labels,
                            size_t label_count, double sum, uint64_t count)
{
    add_series(metrics, "_sum", labels, label_count, NULL);
    add_number(metrics->out, sum);
    vti_buf_add_u8(metrics->out, '\n');
    add_series(metrics, "_count", labels, label_count, NULL);
    vti_buf_add_decimal_u(metrics->out, count);
    vti_buf_add_u8(metrics->out, '\n');
    add_created(metrics, labels, label_count);
}

static void bound_text(char to[32], int64_t bound_ns)
{
    size_t len = number_text(to, (double)bound_ns / 1e9);

    to[len] = '\0';
    if (!strpbrk(to, ".e"))
        memcpy(to + len, ".0", 3);
}

/* The bucket that counted it must be one that can hold it, or readers refuse the whole answer. */
static void add_exemplar(struct vti_metrics_out *metrics, const struct vti_distribution *times,
                         size_t at)
{
    const struct vti_exemplar *exemplar = times->exemplars ? &times->exemplars[at] : NULL;
    bool has_bound = at + 1 < times->bucket_count;

    if (metrics->format != VTI_EXPOSITION_OPENMETRICS || !exemplar || !exemplar->trace_id ||
        strlen(exemplar->trace_id) > 64 || !isfinite(exemplar->value) ||
        (has_bound && exemplar->value > (double)times->bounds_ns[at] / 1e9))
        return;
    vti_buf_add_text(metrics->out, " # {trace_id=\"");
    add_quoted(metrics->out, exemplar->trace_id);
    vti_buf_add_text(metrics->out, "\"} ");
    add_number(metrics->out, exemplar->value);
    if (exemplar->unix_s > 0) {
        vti_buf_add_u8(metrics->out, ' ');
        add_number(metrics->out, exemplar->unix_s);
    }
}

void vti_exposition_histogram(struct vti_metrics_out *metrics, const struct vti_label *labels,
                              size_t label_count, const struct vti_distribution *times)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < times->bucket_count; i++) {
        char le[32] = "+Inf";

        if (i + 1 < times->bucket_count)
            bound_text(le, times->bounds_ns[i]);
        sum += times->buckets[i];
        add_series(metrics, "_bucket", labels, label_count, le);
        vti_buf_add_decimal_u(metrics->out, sum);
        add_exemplar(metrics, times, i);
        vti_buf_add_u8(metrics->out, '\n');
    }
    vti_exposition_summary(metrics, labels, label_count, times->sum, sum);
}
