/*
 * make_recording.c - writes a small recording with a bit of everything, always the same bytes.
 *
 *     make_recording [options] OUT.vt
 *       --host NAME       name of the host (alpha)
 *       --pid N           pid of the first process (4711)
 *       --start SECONDS   start after 2027-01-15 08:00:00 UTC (0)
 *       --boot SECONDS    how long before that the host was started (5)
 *       --monotonic       nanosecond clock instead of a time stamp counter of 2.5 GHz
 *       --link NS         a second clock domain, linked to the first with this offset
 *       --spans N         N short spans on the main thread besides (0)
 *       --plain           without hostile names
 *       --no-process      events before their process and thread are described, and those never
 *       --crash           as a writer leaves it that was killed: no index, no end
 *       --cut BYTES       --crash, and the last bytes are gone
 *       --damage          one byte of the second event block of the main thread is wrong
 *       --calls           trees of calls on two threads
 *       --lines           lines of a function on two threads, and its source
 *       --tasks           runs of task graphs in two processes, with all that can be said of a task
 *       --steps           messages of steps of two processes, with all that can be said of one
 *       --energy          readings of a meter, and CPU time of two threads
 *       --traces          spans of two traces on two threads
 *       --unknown         a block of a kind that nobody knows
 *       --empty           no process, no events
 *
 * Times are chosen so that microseconds come out whole.
 */
#include "make_recording.h"
#include "base/error.h"
#include "format/calls.h"
#include "format/energy.h"
#include "format/lines.h"
#include "format/tasks.h"
#include "format/write.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EPOCH_NS 1800000000000000000u
#define BLOCK 16 /* events a block: small, so that there are many */

struct settings {
    const char *host;
    uint32_t pid;
    uint64_t start_ns;
    uint64_t boot_ns;
    int is_monotonic, is_plain, has_no_process, is_crashed, is_damaged, is_unknown, is_empty;
    int has_calls, has_lines, has_tasks, has_steps, has_traces, has_energy;
    int has_link;
    int64_t link_ns;
    long cut;
    unsigned long spans;
};

static struct settings settings = {.host = "alpha", .pid = 4711, .boot_ns = 5000000000u};
struct vti_writer *writer;
static struct vti_encoder *encoders[3];
struct vti_buf payload;
static uint64_t now_us[3]; /* of each track, since the start */

void check(int code)
{
    if (code < 0) {
        fprintf(stderr, "make_recording: %s\n", vti_error_message(code));
        exit(1);
    }
}

struct vti_bytes text(const char *string)
{
    return vti_bytes_of(string);
}

uint64_t ticks_at(uint64_t us)
{
    uint64_t ns = us * 1000;

    return settings.is_monotonic ? settings.boot_ns + settings.start_ns + ns
                                 : 1000000000u + ns / 2 * 5;
}

static uint64_t now(unsigned track)
{
    return ticks_at(now_us[track]);
}

static void fact(enum vti_kind kind)
{
    check(vti_writer_facts(writer, kind, &payload, 1, 0, 0));
    vti_buf_clear(&payload);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void meta(const char *key, const char *value, size_t len)
{
    vti_meta_write(&payload, &(struct vti_meta_fact){text(key), {value, len}});
    fact(VTI_META);
}

static void clock_domain(uint32_t domain, uint64_t shift_ns)
{
    struct vti_anchor anchors[3];

    for (unsigned i = 0; i < 3; i++)
        anchors[i] = (struct vti_anchor){
            ticks_at(i * 1000000u), settings.boot_ns + settings.start_ns + i * 1000000000u,
            EPOCH_NS + settings.start_ns + i * 1000000000u + shift_ns, 40};
    vti_clock_write(&payload, &(struct vti_clock_fact){
                                  domain, domain,
                                  settings.is_monotonic ? VTI_CLOCK_MONOTONIC_NS : VTI_CLOCK_TSC, 3,
                                  anchors});
    fact(VTI_CLOCK);
}

static void opening(void)
{
    static const char command[] = "./pipeline\0--input\0alerts \xe2\x80\x9c"
                                  "1\xe2\x80\x9d.avro";

    meta("venturi", "0.1.0", 5);
    meta("command", command, sizeof command - 1);
    meta("directory", "/data/run", 9);
    meta("policy", "drop", 4);
    vti_host_write(&payload,
                   &(struct vti_host_fact){0, text(settings.host), text("Linux 6.1.0 x86_64"),
                                           text("Test CPU @ 2.50GHz"), 8});
    fact(VTI_HOST);
    clock_domain(0, 0);
    if (settings.has_link) {
        vti_host_write(&payload,
                       &(struct vti_host_fact){1, text("linked"), text("Linux 6.1.0 aarch64"),
                                               text("Other CPU"), 4});
        fact(VTI_HOST);
        clock_domain(1, (uint64_t)-settings.link_ns);
        vti_clock_link_write(&payload, &(struct vti_clock_link_fact){0, 1, settings.link_ns, 250});
        fact(VTI_CLOCK_LINK);
    }
}

static void process(uint32_t id, const char *name, struct vti_bytes command, uint64_t end_us,
                    unsigned how, unsigned status)
{
    struct vti_process_fact process = {.process = id,
                                       .host = settings.has_link && id,
                                       .domain = settings.has_link && id,
                                       .pid = settings.pid + id,
                                       .parent_pid = id ? settings.pid : 1,
                                       .parent_plus_one = id,
                                       .start = ticks_at(id * 1000),
                                       .end = end_us ? ticks_at(end_us) : 0,
                                       .how = how,
                                       .status = status,
                                       .name = text(name),
                                       .command = command,
                                       .pair_millis = settings.is_monotonic ? 20000 : 50000,
                                       .inner_millis = settings.is_monotonic ? 8000 : 20000};

    if (settings.has_no_process)
        return;
    vti_process_write(&payload, &process);
    fact(VTI_PROCESS);
}

static void first_process(uint64_t end_us)
{
    static const char command[] = "./pipeline\0--input\0alerts.avro";

    process(0, "pipeline", (struct vti_bytes){command, sizeof command - 1}, end_us,
            end_us ? VTI_ENDED_EXIT : VTI_ENDED_UNKNOWN, 0);
}

static void second_process(uint64_t end_us)
{
    process(1, "worker", text("./pipeline"), end_us, end_us ? VTI_ENDED_SIGNAL : VTI_ENDED_UNKNOWN,
            end_us ? 11 : 0);
}

static void track(uint32_t id, uint32_t process, uint32_t tid, const char *name, uint64_t end_us)
{
    if (settings.has_no_process)
        return;
    vti_track_write(&payload, &(struct vti_track_fact){id, process, 0, tid, ticks_at(id * 500),
                                                       end_us ? ticks_at(end_us) : 0, text(name)});
    fact(VTI_TRACK);
}

static uint32_t site_with(enum vti_site_type type, struct vti_bytes name, const char *function,
                          uint32_t line, const char *unit)
{
    static uint32_t count;
    struct vti_site_fact site = {.site = ++count,
                                 .type = type,
                                 .name = name,
                                 .function = text(function),
                                 .file = text(*function ? "src/pipeline.c" : ""),
                                 .line = line,
                                 .unit = text(unit)};

    vti_site_write(&payload, &site);
    fact(VTI_SITES);
    return count;
}

static uint32_t span_site(const char *name, const char *function, uint32_t line)
{
    return site_with(VTI_SITE_SPAN, text(name), function, line, "");
}

static uint32_t key_site(const char *name)
{
    return site_with(VTI_SITE_KEY, text(name), "", 0, "");
}

/* ---- events ---------------------------------------------------------------------------------- */

static void pace(unsigned track)
{
    if (vti_encoder_pending(encoders[track]) >= BLOCK)
        check(vti_writer_events(writer, encoders[track]));
    if (vti_writer_buffered(writer) > (1u << 20))
        check(vti_writer_flush(writer));
}

static void begin(unsigned track, uint32_t site)
{
    vti_encoder_begin(encoders[track], now(track), site);
    pace(track);
}

static void end(unsigned track, uint64_t after_us)
{
    now_us[track] += after_us;
    vti_encoder_end(encoders[track], now(track));
    pace(track);
}

static void add(unsigned track, struct vti_event event)
{
    event.ticks = now(track);
    vti_encoder_add(encoders[track], &event);
    pace(track);
}

static void mark(unsigned track, uint32_t site)
{
    add(track, (struct vti_event){.kind = VTI_EVENT_MARK, .site = site});
}

static void value(unsigned track, unsigned kind, uint32_t site, struct vti_value value)
{
    add(track, (struct vti_event){.kind = (uint8_t)kind, .site = site, .value = value});
}

static void error(unsigned track, const char *type, const char *message)
{
    add(track, (struct vti_event){.kind = VTI_EVENT_ERROR,
                                  .error_type = text(type),
                                  .error_message = text(message)});
}

static struct vti_value of_int(int64_t number)
{
    return (struct vti_value){.type = VTI_VALUE_INT, .i = number};
}

static struct vti_value of_uint(uint64_t number)
{
    return (struct vti_value){.type = VTI_VALUE_UINT, .u = number};
}

static struct vti_value of_double(double number)
{
    return (struct vti_value){.type = VTI_VALUE_DOUBLE, .d = number};
}

static struct vti_value of_text(const char *string)
{
    return (struct vti_value){.type = VTI_VALUE_TEXT, .text = text(string)};
}

/* Two tracks at once: what begins on one ends on the other. */
static void async_begin(unsigned track, uint32_t site, uint64_t id)
{
    add(track, (struct vti_event){.kind = VTI_EVENT_ASYNC_BEGIN, .site = site, .async_id = id});
}

static void async_end(unsigned track, uint64_t id, unsigned flags)
{
    add(track,
        (struct vti_event){.kind = VTI_EVENT_ASYNC_END, .async_id = id, .flags = (uint8_t)flags});
}

static void async_attr(unsigned track, uint64_t id, uint32_t key, struct vti_value value)
{
    add(track, (struct vti_event){
                   .kind = VTI_EVENT_ASYNC_ATTR, .async_id = id, .site = key, .value = value});
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* An id of which one digit is told; short: its first half is not known. */
static void make_id(uint8_t id[16], unsigned digit, bool is_short)
{
    for (unsigned i = 0; i < 16; i++)
        id[i] = is_short && i < 8 ? 0 : (uint8_t)(digit * 16 + i);
}

static void trace_begin(unsigned track, const char *name, uint64_t number, unsigned base,
                        unsigned span, unsigned parent)
{
    struct vti_event event = {.kind = VTI_EVENT_ASYNC_BEGIN,
                              .site = span_site(name, "traced", 300 + span),
                              .async_id = number,
                              .has_trace = true};

    make_id(event.trace.base, base, false);
    make_id(event.trace.span, span, false);
    make_id(event.trace.parent, parent, parent == 15);
    add(track, event);
}

/* Each way in which ids are left out: a root, its child, a sibling of that, the same parent in another block, another trace, a
 * parent of which only the short id came. */
static void traces(void)
{
    uint32_t service = key_site("service");
    uint32_t etype = key_site("etype");

    trace_begin(0, "request", 501, 1, 2, 1);
    async_attr(0, 501, service, of_text("api"));
    now_us[0] += 10;
    trace_begin(0, "check", 502, 1, 3, 2);
    now_us[0] += 10;
    async_end(0, 502, 0);
    trace_begin(0, "charge", 503, 1, 4, 2);
    now_us[0] += 10;
    async_attr(0, 503, etype, of_text("ValueError"));
    async_end(0, 503, VTI_FLAG_FAILED);
    for (unsigned i = 0; i < 6; i++) {
        trace_begin(0, "write", 510 + i, 1, 5 + i, 4);
        now_us[0] += 5;
        async_end(0, 510 + i, 0);
    }
    trace_begin(1, "of another", 520, 12, 13, 15);
    trace_begin(1, "in it", 521, 12, 14, 13);
    now_us[1] += 3;
    async_end(1, 521, 0);
    async_end(1, 520, 0);
    async_end(0, 501, 0);
    trace_begin(0, "never ends", 530, 1, 11, 2);
}

static void hostile_spans(void)
{
    static const char control[] = "bell\a \x1b[31mred\x1b[0m\r\n\ttab";
    static const char bad_utf8[] = "bad \xff\xfe\xc0\x80 utf8 \xed\xa0\x80";
    char longest[10001];

    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    for (unsigned i = 0; i < 7; i++) {
        const char *const names[] = {control,
                                     "\"quotes\", 'and', \\back\\",
                                     "</script><b>bold",
                                     bad_utf8,
                                     longest,
                                     "",
                                     "\xe2\x80\xaertl \xe6\x97\xa5\xe6\x9c\xac"};

        begin(0, span_site(names[i], i == 0 ? control : "hostile", 200 + i));
        end(0, 10);
    }
}

static void attributes(void)
{
    static const struct {
        const char *key;
        int which;
    } keys[] = {{"ndet", 0},   {"size", 1}, {"score", 2},
                {"object", 3}, {"nan", 4},  {"key \"\x01", 5}};

    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct vti_value values[] = {of_int(-7),
                                           of_uint(UINT64_MAX),
                                           of_double(0.1),
                                           of_text("ZTF18abc \"x\" \xff"),
                                           of_double(__builtin_nan("")),
                                           of_text("")};

        value(0, VTI_EVENT_ATTR, key_site(keys[i].key), values[keys[i].which]);
    }
}

static void main_thread(void)
{
    uint32_t main_site = span_site("main", "main", 120);
    uint32_t load = span_site("load alerts", "load_alerts", 40);
    uint32_t classify = span_site("classify", "classify", 75);
    uint32_t features = span_site("features", "compute_features", 60);
    uint32_t queue = site_with(VTI_SITE_COUNTER, text("queue"), "main", 130, "items");
    uint32_t memory = site_with(VTI_SITE_COUNTER, text("memory"), "main", 131, "bytes");
    uint32_t loaded = site_with(VTI_SITE_MARK, text("loaded"), "main", 125, "");

    begin(0, main_site);
    begin(0, load); /* at the same time as main */
    attributes();
    end(0, 300);
    mark(0, loaded);
    for (unsigned i = 0; i < 10; i++) {
        begin(0, classify);
        now_us[0] += 5;
        begin(0, features);
        end(0, 20 + i);
        if (i == 3)
            error(0, "ValueError", "no detections in \"ZTF\"\n");
        value(0, VTI_EVENT_COUNTER, queue, of_int(10 - (int)i));
        value(0, VTI_EVENT_COUNTER, memory, i % 2 ? of_uint(1u << (10 + i)) : of_double(1e6 * i));
        end(0, 50 + 10 * i);
        now_us[0] += 5;
    }
    for (unsigned long i = 0; i < settings.spans; i++) {
        begin(0, i % 3 ? classify : features);
        end(0, i % 7 == 0);
    }
    if (!settings.is_plain)
        hostile_spans();
    end(0, 100);
}

static void io_thread(void)
{
    uint32_t read = span_site("read", "read_file", 10);
    uint32_t request = span_site("request", "send_request", 22);
    uint32_t url = key_site("url");

    now_us[1] = 500;
    for (unsigned i = 0; i < 5; i++) {
        begin(1, read);
        async_begin(1, request, 100 + i);
        async_attr(1, 100 + i, url, of_text("https://broker.example/alerts?page=1"));
        end(1, 30);
        now_us[1] += 20;
    }
    begin(1, read);
    now_us[1] += 40;
    add(1, (struct vti_event){.kind = VTI_EVENT_LOSS,
                              .loss_reason = VTI_LOSS_BUFFERS,
                              .loss_events = 12,
                              .loss_ticks = ticks_at(30) - ticks_at(0)});
    add(1, (struct vti_event){.kind = VTI_EVENT_END, .flags = VTI_FLAG_IN_GAP});
    /* 100 and 101 end here, 102 fails, 103 ends in another thread, 104 never ends. */
    for (unsigned i = 0; i < 3; i++) {
        now_us[1] += 10;
        async_end(1, 100 + i, i == 2 ? VTI_FLAG_FAILED : 0);
    }
    begin(1, read);
    now_us[1] += 5;
    add(1, (struct vti_event){.kind = VTI_EVENT_END, .flags = VTI_FLAG_ABANDONED});
}

/* Killed in the middle. */
static void worker_thread(void)
{
    uint32_t work = span_site("work", "worker_main", 301);
    uint32_t step = span_site("step", "worker_step", 320);

    now_us[2] = 1200;
    begin(2, work);
    for (unsigned i = 0; i < 20; i++) {
        now_us[2] += 3;
        begin(2, step);
        end(2, 7);
    }
    begin(2, step);
    now_us[2] += 2;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void function(uint32_t id, const char *name, const char *plain, uint32_t line,
                     const char *language)
{
    const char *file = strcmp(language, "builtin") ? "step.py" : "~";

    vti_site_write(&payload, &(struct vti_site_fact){.site = id,
                                                     .type = VTI_SITE_FUNCTION,
                                                     .name = vti_bytes_of(name),
                                                     .function = vti_bytes_of(plain),
                                                     .file = vti_bytes_of(file),
                                                     .line = line,
                                                     .unit = vti_bytes_of(language)});
}

static void tree(uint32_t track, const struct vti_call_fact *calls, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        vti_call_write(&payload, &calls[i]);
    check(vti_writer_owned(writer, VTI_CALL_TREE, track, &payload, count, ticks_at(900)));
    vti_buf_clear(&payload);
}

/* Two lambdas on one line are twins; the second snapshot replaces what it names. */
static void calls(void)
{
    const struct vti_call_fact first[] = {{1, 0, 901, 1, 0, 0, 0, 0, 0, 1 + 750000},
                                          {2, 1, 902, 10, 0, 50000, 0, 2501, 12500, 0}};
    const struct vti_call_fact second[] = {{2, 1, 902, 40, 0, 200000, 0, 2501, 25000, 0},
                                           {3, 2, 903, 80, 0, 40000, 0, 251, 750, 0},
                                           {4, 1, 904, 1, 99, 75000, 1250000, 501, 2500, 0},
                                           {5, 1, 905, 7, 0, 3500, 0, 501, 500, 0},
                                           {6, 1, 906, 3, 0, 1500, 0, 501, 500, 0}};
    struct vti_durations_fact durations = {.site = 902};

    function(901, "main", "main", 40, "python");
    function(902, "Step.execute", "execute", 12, "python");
    function(903, "<method 'append' of 'list' objects>", "append", 0, "builtin");
    function(904, "messages", "messages", 25, "python");
    function(905, "<lambda>", "<lambda>", 50, "python");
    function(906, "<lambda>", "<lambda>", 50, "python");
    check(vti_writer_facts(writer, VTI_SITES, &payload, 6, 0, 0));
    vti_buf_clear(&payload);
    vti_cost_write(&payload, &(struct vti_cost_fact){0, 1, 100000, 40000});
    vti_cost_write(&payload, &(struct vti_cost_fact){0, 2, 50000, 20000});
    check(vti_writer_facts(writer, VTI_COSTS, &payload, 2, 0, 0));
    vti_buf_clear(&payload);
    tree(0, first, 2);
    tree(0, second, 5);
    tree(1, second, 2);
    durations.counts[25] = 30;
    durations.counts[38] = 10;
    vti_durations_write(&payload, &durations);
    check(vti_writer_owned(writer, VTI_DURATIONS, 0, &payload, 1, ticks_at(900)));
    vti_buf_clear(&payload);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void task_block(uint32_t process, const struct vti_task_fact *facts, uint32_t count)
{
    struct vti_task_codec codec = {0};

    for (uint32_t i = 0; i < count; i++)
        vti_task_write(&payload, &codec, &facts[i]);
    check(vti_writer_owned(writer, VTI_TASKS, process, &payload, count, ticks_at(900)));
    vti_buf_clear(&payload);
    vti_task_codec_fini(&codec);
}

static void edge_block(uint32_t process, const struct vti_edges_fact *facts, uint32_t count)
{
    struct vti_task_codec codec = {0};

    for (uint32_t i = 0; i < count; i++)
        vti_edges_write(&payload, &codec, &facts[i]);
    check(vti_writer_owned(writer, VTI_EDGES, process, &payload, count, 0));
    vti_buf_clear(&payload);
    vti_task_codec_fini(&codec);
}

static struct vti_task_fact task(uint32_t number, uint32_t site, uint8_t state, uint64_t start_us,
                                 const char *key)
{
    return (struct vti_task_fact){.type = VTI_TASK_TASK,
                                  .run = 1,
                                  .number = number,
                                  .site = site,
                                  .worker_plus_one = start_us ? 1 + number % 2 : 0,
                                  .state = state,
                                  .start = start_us ? ticks_at(start_us) : 0,
                                  .end = start_us ? ticks_at(start_us + 40) : 0,
                                  .cpu_ns = VTI_TASK_UNKNOWN,
                                  .bytes = VTI_TASK_UNKNOWN,
                                  .key = vti_bytes_of(key)};
}

static void add_task_sites(void)
{
    vti_site_write(&payload, &(struct vti_site_fact){.site = 921, .name = vti_bytes_of("add")});
    vti_site_write(&payload, &(struct vti_site_fact){.site = 985, .name = vti_bytes_of("mul")});
    check(vti_writer_facts(writer, VTI_SITES, &payload, 2, 0, 0));
    vti_buf_clear(&payload);
}

/* The two sites share a slot of keys. Run 2 of the second process was not seen to begin; task 3 is told twice. */
static void tasks(void)
{
    static const uint32_t numbers[] = {0, 1, 9, 2};
    struct vti_task_fact all[] = {
        {.type = VTI_TASK_RUN,
         .run = 1,
         .ticks = ticks_at(100),
         .planned = 7,
         .workers = 2,
         .text = text("threads")},
        {.type = VTI_TASK_WORKER,
         .run = 1,
         .number = 1,
         .pid = 4711,
         .tid = 4713,
         .text = text("second")},
        task(0, 921, 1, 110, "('add-1f', 0)"),
        task(1, 985, 1, 120, "('mul-2e', 0)"),
        task(2, 921, 2, 160, "('add-1f', 1)"),
        task(3, 921, 1, 170, ""),
        task(4, 985, 3, 0, "('mul-2e', 1)"),
        task(0, 921, 1, 210, "('add-1f', 0)"),
        {.type = VTI_TASK_RUN_END,
         .run = 1,
         .ticks = ticks_at(400),
         .lost = 2,
         .text = text("ValueError: no")},
        {.type = VTI_TASK_RUN,
         .run = 2,
         .ticks = ticks_at(130),
         .parent = 1,
         .planned = 1,
         .text = text("sync")},
    };
    const struct vti_task_fact again = task(3, 985, 5, 300, "later");
    const struct vti_edges_fact edges[] = {{1, 1, 0, numbers, 1},
                                           {1, 3, 0, numbers, 4},
                                           {1, 4, 2, numbers + 3, 1},
                                           {1, 4, 0, numbers, 2},
                                           {1, 3, 0, numbers, 3}};

    add_task_sites();
    all[2].cpu_ns = 39000;
    all[2].cpu_is_estimated = true;
    all[2].bytes = 800;
    all[2].ready = ticks_at(105);
    all[2].freed = ticks_at(390);
    all[4].retries = 3;
    all[4].cpu_ns = 1000;
    all[7].action = 1;
    task_block(0, all, sizeof all / sizeof *all);
    task_block(0, &again, 1);
    all[3].run = 2;
    task_block(1, &all[3], 1);
    edge_block(0, edges, 5);
}

static void line_block(uint32_t track, const struct vti_line_fact *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        vti_line_write(&payload, &lines[i]);
    check(vti_writer_owned(writer, VTI_LINES, track, &payload, count, ticks_at(900)));
    vti_buf_clear(&payload);
}

static void source(uint32_t process_plus_one, const char *text)
{
    vti_source_write(&payload,
                     &(struct vti_source_fact){process_plus_one, "step.py", 7, text, strlen(text)});
    check(vti_writer_facts(writer, VTI_SOURCES, &payload, 1, 0, 0));
    vti_buf_clear(&payload);
}

/* A function with a statement over two lines, of which the second snapshot replaces what it names; a sampled one. */
static void lines(void)
{
    const struct vti_line_fact first[] = {{1, 907, 0, 63, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1 + 500000},
                                          {2, 907, 61, 61, 1, 5, 5, 25000, 9, 0, 0, 2501, 7500, 0}};
    const struct vti_line_fact second[] = {
        {2, 907, 61, 61, 1, 50, 50, 250000, 90, 0, 0, 2501, 7500, 0},
        {3, 907, 62, 0, 1, 0, 20, 750000, 80, 1250000, 4, 12501, 62500, 1 + 2500},
        {4, 907, 62, 62, 1, 40, 20, 500000, 50, 1250000, 4, 0, 0, 0},
        {5, 907, 63, 62, 1, 20, 0, 250000, 30, 0, 0, 0, 0, 1 + 2500},
        {6, 908, 71, 71, 2, 1000, 1000, 123456789, 30, 0, 0, 0, 0, 0},
        {7, 908, 72, 72, 0, 1000, 1000, 0, 0, 0, 0, 0, 0, 0},
        {8, 907, 64, 64, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    struct vti_line_durations_fact durations = {.node = 3};

    function(907, "Step.check", "check", 60, "python");
    function(908, "convolve", "convolve", 70, "c");
    check(vti_writer_facts(writer, VTI_SITES, &payload, 2, 0, 0));
    vti_buf_clear(&payload);
    vti_cost_write(&payload, &(struct vti_cost_fact){0, 4, 60000, 0});
    check(vti_writer_facts(writer, VTI_COSTS, &payload, 1, 0, 0));
    vti_buf_clear(&payload);
    source(0, "# a step\n");
    source(2, "# a step of another day\n");
    line_block(0, first, 2);
    line_block(0, second, 7);
    line_block(1, first + 1, 1);
    durations.durations.counts[34] = 15;
    durations.durations.counts[43] = 5;
    vti_line_durations_write(&payload, &durations);
    check(vti_writer_owned(writer, VTI_LINE_DURATIONS, 0, &payload, 1, ticks_at(900)));
    vti_buf_clear(&payload);
    vti_line_callee_write(&payload, &(struct vti_line_callee_fact){2, 908, 50, 100000});
    vti_line_callee_write(&payload, &(struct vti_line_callee_fact){4, 907, 1, 2500});
    check(vti_writer_owned(writer, VTI_LINE_CALLEES, 0, &payload, 2, ticks_at(900)));
    vti_buf_clear(&payload);
}

/* ---- energy ---------------------------------------------------------------------------------- */

static void energy_source(uint32_t number, uint32_t part, uint32_t how, uint32_t inside_plus_one,
                          uint64_t milliwatts, const char *name, const char *from)
{
    vti_energy_fact_write(
        &payload,
        &(struct vti_energy_fact){.type = VTI_ENERGY_FACT_SOURCE,
                                  .number = number,
                                  .part = part,
                                  .how = how,
                                  .inside_plus_one = inside_plus_one,
                                  .milliwatts = milliwatts,
                                  .idle_milliwatts = milliwatts / 10,
                                  .name = text(name),
                                  .from = text(from),
                                  .note = text(number ? "" : "of \xe2\x80\x9ctwo\xe2\x80\x9d")});
}

/* The second source cannot be read the second time, and has lost something the third. */
static void energy_readings(void)
{
    uint64_t before = 0;

    for (unsigned i = 0; i < 4; i++) {
        struct vti_energy_fact reading = {.type = VTI_ENERGY_FACT_READING,
                                          .ticks = ticks_at(200 * i) - before,
                                          .known = i == 1 ? 5 : 7,
                                          .lost = i == 2 ? 2 : 0,
                                          .microjoules = {10000u * i, 500u * i, 4000u * i}};

        before = ticks_at(200 * i);
        vti_energy_fact_write(&payload, &reading);
    }
    check(vti_writer_owned(writer, VTI_ENERGY, 0, &payload, 4, before));
    vti_buf_clear(&payload);
}

static void energy_threads(void)
{
    vti_cpu_fact_write(&payload,
                       &(struct vti_cpu_fact){ticks_at(100), 125000, 40000, VTI_CPU_RUNNING, 2, 3});
    vti_cpu_fact_write(&payload,
                       &(struct vti_cpu_fact){250000, 250000, 100000, VTI_CPU_RUNNING, 1, 0});
    vti_cpu_fact_write(&payload, &(struct vti_cpu_fact){2500, 2500, 900, 0, 0, 0});
    check(vti_writer_owned(writer, VTI_THREAD_CPU, 0, &payload, 3, ticks_at(201)));
    vti_buf_clear(&payload);
    vti_cpu_fact_write(&payload, &(struct vti_cpu_fact){ticks_at(300), 25000, 10000000,
                                                        VTI_CPU_RUNNING | VTI_CPU_COARSE, 0, 0});
    check(vti_writer_owned(writer, VTI_THREAD_CPU, 1, &payload, 1, ticks_at(300)));
    vti_buf_clear(&payload);
}

static void energy(void)
{
    meta("energy.country", "FRA", 3);
    meta("energy.pue", "1.25", 4);
    vti_energy_fact_write(&payload, &(struct vti_energy_fact){.type = VTI_ENERGY_FACT_MACHINE,
                                                              .cpus = 8,
                                                              .memory_bytes = 17179869184});
    energy_source(0, 0, 1, 0, 0, "package-0", "powercap");
    energy_source(1, 0, 1, 1, 0, "core", "powercap");
    energy_source(2, 1, 2, 0, 6000, "memory", "modules");
    vti_energy_fact_write(&payload, &(struct vti_energy_fact){.type = VTI_ENERGY_FACT_BASELINE,
                                                              .microwatts = 21500000,
                                                              .how = 1,
                                                              .for_ns = 5000000000});
    vti_energy_fact_write(&payload,
                          &(struct vti_energy_fact){.type = VTI_ENERGY_FACT_NOTE,
                                                    .about = VTI_ENERGY_NOTE_ADVICE,
                                                    .text = text("psys may not be read")});
    check(vti_writer_owned(writer, VTI_ENERGY, 0, &payload, 6, 0));
    vti_buf_clear(&payload);
    energy_readings();
    energy_threads();
}

static void contents(void)
{
    check(vti_encoder_create(&encoders[0], 0));
    check(vti_encoder_create(&encoders[1], 1));
    check(vti_encoder_create(&encoders[2], 2));
    first_process(0);
    track(0, 0, settings.pid, "main", 0);
    track(1, 0, settings.pid + 4, "io", 0);
    second_process(0);
    track(2, 1, settings.pid + 1, "", 0);
    if (settings.has_calls)
        calls();
    if (settings.has_lines)
        lines();
    if (settings.has_tasks)
        tasks();
    if (settings.has_traces)
        traces();
    if (settings.has_energy)
        energy();
    if (settings.has_steps)
        add_steps();
    main_thread();
    io_thread();
    async_end(0, 103, 0);
    worker_thread();
    for (unsigned i = 0; i < 3; i++) {
        check(vti_writer_events(writer, encoders[i]));
        vti_encoder_free(encoders[i]);
    }
    check(vti_writer_loss(writer, &(struct vti_loss_fact){.reason = VTI_LOSS_BUFFERS,
                                                          .process_plus_one = 1,
                                                          .track_plus_one = 2,
                                                          .events = 12,
                                                          .first = ticks_at(760),
                                                          .last = ticks_at(790)}));
    check(vti_writer_loss(writer, &(struct vti_loss_fact){.reason = VTI_LOSS_BUFFERS,
                                                          .process_plus_one = 1,
                                                          .track_plus_one = 2,
                                                          .events = 37,
                                                          .first = ticks_at(810),
                                                          .last = ticks_at(830),
                                                          .flags = 1}));
    first_process(now_us[0] + 1000);
    second_process(now_us[2] + 1);
    track(0, 0, settings.pid, "main", now_us[0] + 1000);
}

static void unknown_block(void)
{
    vti_buf_add_text(&payload, "from the future");
    fact((enum vti_kind)77);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Creation time and id would differ each time. */
static void fix_header(int fd)
{
    struct vti_file_header header = {.major = VTI_VERSION_MAJOR, .minor = VTI_VERSION_MINOR};
    uint8_t bytes[VTI_FILE_HEADER_BYTES];

    header.created_ns = EPOCH_NS + settings.start_ns;
    snprintf((char *)header.id, sizeof header.id, "%.7s%08x", settings.host,
             (unsigned)(settings.start_ns / 1000000) ^ settings.pid << 8);
    vti_file_header_write(bytes, &header);
    if (pwrite(fd, bytes, sizeof bytes, 0) != sizeof bytes)
        check(vti_fail_errno(VTI_E_WRITE, "header"));
}

/* Flips a bit in the payload of the second event block of track 0. */
static void spoil(int fd)
{
    uint8_t bytes[VTI_BLOCK_HEADER_BYTES];
    struct vti_block_header header;
    off_t at = VTI_FILE_HEADER_BYTES;
    int seen = 0;

    while (pread(fd, bytes, sizeof bytes, at) == sizeof bytes &&
           vti_block_header_parse(bytes, sizeof bytes, &header)) {
        if (header.kind == VTI_EVENTS && header.owner == 0 && ++seen == 2) {
            at += VTI_BLOCK_HEADER_BYTES + header.payload_bytes / 2;
            if (pread(fd, bytes, 1, at) == 1) {
                bytes[0] ^= 0x10;
                (void)!pwrite(fd, bytes, 1, at);
            }
            return;
        }
        at += (off_t)vti_block_bytes(&header);
    }
}

static int finish(int fd)
{
    struct stat st;

    fix_header(fd);
    if (settings.is_damaged)
        spoil(fd);
    if (settings.cut && (fstat(fd, &st) || ftruncate(fd, st.st_size - settings.cut)))
        check(vti_fail_errno(VTI_E_WRITE, "cut"));
    return close(fd);
}

static void take_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"host", 1, NULL, 'h'},
        {"pid", 1, NULL, 'p'},
        {"start", 1, NULL, 's'},
        {"boot", 1, NULL, 'b'},
        {"link", 1, NULL, 'l'},
        {"spans", 1, NULL, 'n'},
        {"cut", 1, NULL, 'c'},
        {"monotonic", 0, &settings.is_monotonic, 1},
        {"plain", 0, &settings.is_plain, 1},
        {"no-process", 0, &settings.has_no_process, 1},
        {"crash", 0, &settings.is_crashed, 1},
        {"damage", 0, &settings.is_damaged, 1},
        {"calls", 0, &settings.has_calls, 1},
        {"lines", 0, &settings.has_lines, 1},
        {"tasks", 0, &settings.has_tasks, 1},
        {"energy", 0, &settings.has_energy, 1},
        {"steps", 0, &settings.has_steps, 1},
        {"traces", 0, &settings.has_traces, 1},
        {"unknown", 0, &settings.is_unknown, 1},
        {"empty", 0, &settings.is_empty, 1},
        {0},
    };
    int found;

    while ((found = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (found) {
        case 'h':
            settings.host = optarg;
            break;
        case 'p':
            settings.pid = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 's':
            settings.start_ns = (uint64_t)(strtod(optarg, NULL) * 1e9);
            break;
        case 'b':
            settings.boot_ns = (uint64_t)(strtod(optarg, NULL) * 1e9);
            break;
        case 'l':
            settings.link_ns = strtoll(optarg, NULL, 10);
            settings.has_link = 1;
            break;
        case 'n':
            settings.spans = strtoul(optarg, NULL, 10);
            break;
        case 'c':
            settings.cut = strtol(optarg, NULL, 10);
            settings.is_crashed = 1;
            break;
        case 0:
            break;
        default:
            exit(2);
        }
    }
    if (optind != argc - 1) {
        fprintf(stderr, "usage: make_recording [options] OUT.vt\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    const char *path;
    int fd;

    take_options(argc, argv);
    path = argv[optind];
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        check(vti_fail_errno(VTI_E_WRITE, "%s", path));
    check(vti_writer_create(&writer, dup(fd), path));
    opening();
    if (settings.is_unknown)
        unknown_block();
    if (!settings.is_empty)
        contents();
    vti_buf_fini(&payload);
    check(vti_writer_flush(writer));
    if (settings.is_crashed)
        vti_writer_abandon(writer);
    else
        check(vti_writer_close(writer, NULL));
    return finish(fd);
}
