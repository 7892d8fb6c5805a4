/*
 * fuzz_fetch.c - libFuzzer target: any bytes as what a store may answer: sums of Elasticsearch, and notifications, one a line, which become a recording
 * and, from that, documents again.
 *
 * Rows must be JSON whatever the answer was; of a recording every document must be JSON, and a reading that goes on in the middle must tell what is left.
 */
#include "import/notifications.h"
#include "store/documents_traces.h"
#include "store/fetch_elasticsearch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct vti_maker vti_maker_traces;

static char output[64];

static void require(int condition)
{
    if (!condition)
        abort();
}

static void clean_up(void)
{
    unlink(output);
}

static void check_object(const char *text, size_t len)
{
    struct vti_json_scan scan = {.at = text, .end = text + len};

    require(vti_json_peek(&scan) == '{');
    vti_json_skip(&scan);
    require(!scan.failed && scan.at == scan.end);
}

static void check_sums(struct vti_bytes answer)
{
    struct vti_buf rows = {0};
    uint32_t count, odd;
    double all;

    require(vti_es_list_rows(&rows, answer, false, &all) == 0);
    check_object((const char *)rows.data, rows.len);
    vti_buf_clear(&rows);
    require(vti_es_rank_rows(&rows, answer, &count, &odd) == 0);
    check_object((const char *)rows.data, rows.len);
    vti_buf_fini(&rows);
}

/* Documents from a place on, a few at a time, until there were enough; moves the place. Returns how many. */
static size_t tell(vt_recording *recording, struct vti_position *from, size_t stop_after)
{
    static const struct vti_maker_options options = {0};
    const struct vti_batch_limits limits = {4, 1u << 20};
    struct vti_batch batch = {0};
    size_t told = 0;
    void *state;
    int got = 1;

    require(vti_maker_traces.open(&state, recording, from, &options) == 0);
    while (got == 1 && told < stop_after) {
        got = vti_maker_traces.next(state, &batch, &limits, true);
        require(got >= 0);
        for (size_t i = 0; i < batch.count; i++)
            check_object(vti_batch_body(&batch, &batch.documents[i]), batch.documents[i].body_len);
        told += batch.count;
        vti_batch_clear(&batch);
        vti_maker_traces.position(state, from);
    }
    vti_maker_traces.close(state);
    vti_batch_fini(&batch);
    return told;
}

static void check_recording(void)
{
    struct vti_position all = {{0}}, half = {{0}};
    vt_recording *recording;
    size_t count, first;

    require(vt_recording_open(&recording, output) == 0);
    count = tell(recording, &all, SIZE_MAX);
    first = tell(recording, &half, count / 2);
    require(first + tell(recording, &half, SIZE_MAX) == count);
    vt_recording_close(recording);
}

/* Whether a recording came of it. */
static bool import_lines(const char *text, size_t size)
{
    static const struct vti_import_input input = {.path = "fuzz"};
    struct vti_import_target target;
    struct vti_notifications all;
    struct vti_writer_stats stats;
    bool is_whole = false;

    require(vti_import_open(&target, output, true, NULL) == 0);
    require(vti_notifications_init(&all, &target) == 0);
    all.keeps_facts = true;
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t len = newline ? (size_t)(newline - text) - at : size - at;
        char *copy = malloc(len + 1); /* so that a look behind its end is seen */

        memcpy(copy, text + at, len);
        require(vti_notifications_text(&all, copy, len) == 0);
        free(copy);
        at += len + 1;
    }
    if (all.list.count && !vti_notifications_write(&all, &input))
        is_whole = vti_import_commit(&target, &stats) == 0;
    else
        vti_import_abandon(&target);
    vti_notifications_fini(&all);
    return is_whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!output[0]) {
        snprintf(output, sizeof output, "/dev/shm/fuzz_fetch.%d.vt", (int)getpid());
        atexit(clean_up);
    }
    check_sums((struct vti_bytes){size ? (const char *)data : "", size});
    if (import_lines((const char *)data, size))
        check_recording();
    return 0;
}
