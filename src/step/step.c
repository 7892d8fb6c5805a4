/*
 * step.c - the loop of a step: receive, execute, hand on, commit; and what that took, recorded after each batch.
 *
 * Metrics are put where they cost a few reads of the clock; nothing that becomes of them comes back here.
 */
#include "step/step.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <venturi/step_record.h>

#define WAIT_MS 200       /* how long vt_step_stop() may go unheard where no signal wakes us */
#define FLUSH_MS 60000    /* for what was produced to arrive */
#define BATCH_MOST 100000 /* messages at a time */

/* A message that waits for the end of post_execute: its bytes stand one behind the other in `bytes`. */
struct waiting {
    size_t key_bytes, data_bytes;
    bool has_key;
};

struct vt_step {
    struct vt_step_options options;
    uint32_t number; /* of vt_step_source() */
    bool is_stopped;
    struct vt_message *messages; /* room for a batch; owned */
    struct vti_buf bytes;        /* of what is to be produced */
    struct vti_buf waiting;      /* struct waiting, one for each */
    struct vti_buf extra;        /* metrics of the author's own, as members of an object */
    struct vti_json json;        /* writes those */
    struct vti_buf document;     /* … as a document of their own */
    double tick_ns;
    struct vt_step_counts counts;
};

static int check(const struct vt_step_options *options)
{
    if (!options || options->size < sizeof *options)
        return vti_fail(VTI_E_USAGE, "a step without options, or of another version");
    if (!options->source || !*options->source)
        return vti_fail(VTI_E_USAGE, "a step needs a name");
    if (!options->consumer || !options->consumer->receive || !options->execute)
        return vti_fail(VTI_E_USAGE, "%s: a step needs a consumer and something to execute",
                        options->source);
    if (options->batch > BATCH_MOST)
        return vti_fail(VTI_E_LIMIT, "%s: a batch of more than %d messages", options->source,
                        BATCH_MOST);
    return 0;
}

vt_step *vt_step_new(const struct vt_step_options *options)
{
    vt_step *step;

    if (vti_step_said(check(options)))
        return NULL;
    step = calloc(1, sizeof *step);
    if (!step) {
        vti_step_said(vti_fail(VTI_E_NOMEM, "no memory for a step"));
        return NULL;
    }
    step->options = *options;
    step->options.batch = options->batch ? options->batch : 1;
    step->messages = calloc(step->options.batch, sizeof *step->messages);
    step->options.source = strdup(options->source);
    if (!step->messages || !step->options.source) {
        vti_step_said(
            vti_fail(VTI_E_NOMEM, "no memory for a step of %zu messages", step->options.batch));
        free(step->messages);
        free((char *)step->options.source);
        free(step);
        return NULL;
    }
    step->options.prefix = step->options.survey = NULL; /* copied where the step is registered */
    step->number = vt_step_source(options->source, options->prefix, options->survey);
    step->tick_ns = vt_task_tick_ns();
    return step;
}

void vt_step_free(vt_step *step)
{
    if (!step)
        return;
    vt_producer_close(step->options.producer);
    vt_consumer_close(step->options.consumer);
    vti_buf_fini(&step->document);
    vti_buf_fini(&step->extra);
    vti_buf_fini(&step->waiting);
    vti_buf_fini(&step->bytes);
    free(step->messages);
    free((char *)step->options.source);
    free(step);
}

void vt_step_stop(vt_step *step)
{
    __atomic_store_n(&step->is_stopped, true, __ATOMIC_RELAXED);
}

struct vt_step_counts vt_step_count(const vt_step *step)
{
    return step->counts;
}

/* ---- what goes out -------------------------------------------------------------------------- */

int vt_step_produce_keyed(vt_step *step, const void *key, size_t key_bytes, const void *data,
                          size_t bytes)
{
    struct waiting waiting = {key_bytes, bytes, key != NULL};

    vti_buf_add(&step->bytes, key, key ? key_bytes : 0);
    vti_buf_add(&step->bytes, data, bytes);
    vti_buf_add(&step->waiting, &waiting, sizeof waiting);
    if (step->bytes.failed || step->waiting.failed)
        return vti_step_said(
            vti_fail(VTI_E_NOMEM, "%s: no memory for what is produced", step->options.source));
    return 0;
}

int vt_step_produce(vt_step *step, const void *data, size_t bytes)
{
    return vt_step_produce_keyed(step, NULL, 0, data, bytes);
}

static int produce(vt_step *step)
{
    struct vt_producer *producer = step->options.producer;
    const uint8_t *at = step->bytes.data;

    for (size_t i = 0; i < step->waiting.len / sizeof(struct waiting); i++) {
        struct vt_message message = {0};
        struct waiting waiting;
        int code;

        memcpy(&waiting, step->waiting.data + i * sizeof waiting, sizeof waiting);
        if (waiting.has_key) {
            message.key = at;
            message.key_bytes = waiting.key_bytes;
            at += waiting.key_bytes;
        }
        message.data = at;
        message.bytes = waiting.data_bytes;
        at += waiting.data_bytes;
        code = producer ? producer->send(producer, &message) : 0;
        if (code)
            return code;
        step->counts.produced++;
    }
    return 0;
}

/* ---- what it took --------------------------------------------------------------------------- */

static void name_metric(vt_step *step, const char *name)
{
    if (!step->extra.len) {
        vti_json_init(&step->json, &step->extra);
        vti_json_object(&step->json);
    }
    vti_json_key(&step->json, name);
}

void vt_step_metric_text(vt_step *step, const char *name, const char *text)
{
    name_metric(step, name);
    vti_json_string(&step->json, text);
}

void vt_step_metric_integer(vt_step *step, const char *name, int64_t value)
{
    name_metric(step, name);
    vti_json_int(&step->json, value);
}

void vt_step_metric_number(vt_step *step, const char *name, double value)
{
    name_metric(step, name);
    vti_json_double(&step->json, value);
}

int vt_step_send_metrics(vt_step *step, const char *json)
{
    struct vt_step_done done = {.step = step->number, .flags = VT_STEP_METRICS};
    int code = vti_step_said(vti_step_members(&step->document, step->options.source, json));

    if (code)
        return code;
    done.extra = (const char *)step->document.data;
    done.extra_bytes = step->document.len;
    done.pre_ns = done.post_ns = done.produce_ns = VT_UNKNOWN;
    done.lag_ns = VT_LAG_UNKNOWN;
    vt_step_put(&done);
    return 0;
}

/* When it was received, and when each phase was over, well or not; 0: it did not come to that. */
struct times {
    uint64_t received, prepared, executed, sent, produced;
    uint64_t over;
};

static uint64_t between(const vt_step *step, uint64_t from, uint64_t to)
{
    if (!from || !to)
        return VT_UNKNOWN;
    return to > from ? (uint64_t)((double)(to - from) * step->tick_ns) : 0;
}

static void record(vt_step *step, size_t count, const struct times *times, bool is_failed)
{
    const struct vt_step_options *options = &step->options;
    uint64_t last = times->sent ? times->sent : times->over;
    struct vt_step_done done = {
        .step = step->number,
        .flags = is_failed ? VT_STEP_FAILED : 0,
        .messages = (uint32_t)count,
        .received = times->received,
        .sent = last,
        .execute_ns = between(step, times->received, last),
        .pre_ns = options->pre_execute ? between(step, times->received, times->prepared)
                                       : VT_UNKNOWN,
        .post_ns = options->post_execute ? between(step, times->executed, times->sent) : VT_UNKNOWN,
        .produce_ns = options->producer ? between(step, times->sent, times->produced) : VT_UNKNOWN,
        .lag_ns = VT_LAG_UNKNOWN,
    };

    if (step->messages[0].sent_ns &&
        __builtin_sub_overflow(vt_task_realtime(times->received), step->messages[0].sent_ns,
                               &done.lag_ns))
        done.lag_ns = VT_LAG_UNKNOWN;
    if (step->extra.len > 1 && !step->extra.failed) {
        done.extra = (const char *)step->extra.data + 1;
        done.extra_bytes = step->extra.len - 1;
    }
    vt_step_put(&done);
    vti_buf_clear(&step->extra);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static int execute(vt_step *step, size_t count, struct times *times)
{
    const struct vt_step_options *options = &step->options;
    int code = 0;

    if (options->pre_execute)
        code = options->pre_execute(step, step->messages, count, options->user);
    times->prepared = options->pre_execute ? vt_task_clock() : times->received;
    if (code)
        return code;
    code = options->execute(step, step->messages, count, options->user);
    times->executed = vt_task_clock();
    if (!code && options->post_execute) {
        code = options->post_execute(step, step->messages, count, options->user);
        times->sent = vt_task_clock();
    } else if (!code) {
        times->sent = times->executed;
    }
    return code;
}

/* What failed produces nothing. */
static int deal_with(vt_step *step, size_t count)
{
    struct times times = {.received = vt_task_clock()};
    bool is_executed, is_failed;
    int code;

    vti_step_forget();
    vti_buf_clear(&step->bytes);
    vti_buf_clear(&step->waiting);
    code = execute(step, count, &times);
    is_failed = code != 0;
    is_executed = !is_failed;
    if (!code && step->waiting.len) {
        code = vti_step_said(produce(step));
        is_failed = code != 0;
    }
    times.over = step->options.producer || is_failed ? vt_task_clock() : times.sent;
    times.produced = is_executed ? times.over : 0;
    step->counts.messages += count;
    step->counts.batches++;
    step->counts.failed += is_failed;
    if (!(step->counts.batches & (step->counts.batches - 1)))
        step->tick_ns = vt_task_tick_ns(); /* which is known the better the longer one waits */
    record(step, count, &times, is_failed);
    if (code && !vti_step_is_said())
        vt_step_fail("%s: message %llu failed: %d", step->options.source,
                     (unsigned long long)(step->counts.messages - count + 1), code);
    return code;
}

/* What was produced arrives first: a step that dies in between does its last batch again, and loses nothing. */
static int commit(vt_step *step)
{
    int code = vt_producer_flush(step->options.producer, FLUSH_MS);

    return code || step->options.no_commit ? code : vt_consumer_commit(step->options.consumer);
}

int vt_step_run(vt_step *step)
{
    struct vt_consumer *consumer = step->options.consumer;
    int code = 0;

    while (!code && !__atomic_load_n(&step->is_stopped, __ATOMIC_RELAXED)) {
        int got = consumer->receive(consumer, step->messages, step->options.batch, WAIT_MS);

        if (got == VT_CONSUMER_END)
            break;
        if (got < 0)
            return vti_step_said(got);
        if (!got)
            continue;
        code = deal_with(step, (size_t)got);
        if (code && step->options.skip_failed)
            code = 0;
        if (!code)
            code = commit(step);
    }
    return code < 0 ? code : code ? -1 : 0;
}
