/*
 * pprof.c - trees of calls as a profile of pprof (profile.proto, compressed): a sample for each stack with
 * how often its last function was called and how long it ran itself, labelled with its thread.
 *
 * Calls are known by function, not by address: a function is one location, at the line where it begins.
 */
#include "base/error.h"
#include "base/protobuf.h"
#include "base/utf8.h"
#include "export/call_kit.h"
#include "export/gzip.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* Fields of the messages. */
enum { P_SAMPLE_TYPE = 1, P_SAMPLE, P_MAPPING, P_LOCATION, P_FUNCTION, P_STRING };
enum { P_TIME = 9, P_DURATION, P_PERIOD_TYPE, P_PERIOD, P_DEFAULT_TYPE = 14 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum {
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

struct pprof {
    vt_recording *recording;
    const struct vti_calls *calls;
    struct vti_gzip *gzip;
    struct vti_map *strings;
    struct vti_buf out, text;
    uint64_t *stack; /* locations, outermost first */
    size_t depth, room;
    bool failed; /* a string found no memory */
};

static uint64_t string_of(struct pprof *to, const char *text)
{
    int is_new;
    int64_t at;

    vti_buf_clear(&to->text);
    vti_utf8_repair(&to->text, text, strlen(text));
    at = vti_map_add(to->strings, to->text.len ? to->text.data : (const uint8_t *)"", to->text.len,
                     &is_new);
    to->failed |= at < 0 || to->text.failed;
    return at < 0 ? 0 : (uint64_t)at;
}

static void add_type(struct pprof *to, unsigned field, const char *type, const char *unit)
{
    size_t begin = vti_proto_begin(&to->out, field);

    vti_proto_varint(&to->out, TYPE_TYPE, string_of(to, type));
    vti_proto_varint(&to->out, TYPE_UNIT, string_of(to, unit));
    vti_proto_end(&to->out, begin);
}

static void add_header(struct pprof *to)
{
    struct vt_recording_info info;
    size_t begin;

    vt_recording_info(to->recording, &info);
    string_of(to, ""); /* the first one must be empty */
    add_type(to, P_SAMPLE_TYPE, "calls", "count");
    add_type(to, P_SAMPLE_TYPE, "time", "nanoseconds");
    add_type(to, P_PERIOD_TYPE, "time", "nanoseconds");
    vti_proto_varint(&to->out, P_PERIOD, 1);
    vti_proto_varint(&to->out, P_DEFAULT_TYPE, string_of(to, "time"));
    vti_proto_varint(&to->out, P_TIME, (uint64_t)info.start_realtime_ns);
    vti_proto_varint(&to->out, P_DURATION, (uint64_t)info.duration_ns);
    begin = vti_proto_begin(&to->out, P_MAPPING); /* says that nothing is left to look up */
    vti_proto_varint(&to->out, MAPPING_ID, 1);
    vti_proto_varint(&to->out, MAPPING_FILE, string_of(to, info.command));
    vti_proto_varint(&to->out, MAPPING_HAS_FUNCTIONS, 1);
    vti_proto_varint(&to->out, MAPPING_HAS_FILES, 1);
    vti_proto_varint(&to->out, MAPPING_HAS_LINES, 1);
    vti_proto_end(&to->out, begin);
}

static void add_function(struct pprof *to, const struct vti_function *function, uint64_t id)
{
    struct vti_buf name = {0};
    size_t begin = vti_proto_begin(&to->out, P_FUNCTION);
    size_t line;

    vti_export_name(&name, function, 0);
    vti_buf_add_u8(&name, 0);
    to->failed |= name.failed;
    vti_proto_varint(&to->out, FUNCTION_ID, id);
    vti_proto_varint(&to->out, FUNCTION_NAME,
                     string_of(to, name.failed ? "" : (const char *)name.data));
    vti_proto_varint(&to->out, FUNCTION_SYSTEM_NAME, string_of(to, function->function));
    vti_proto_varint(&to->out, FUNCTION_FILE,
                     string_of(to, strcmp(function->file, "~") ? function->file : ""));
    vti_proto_varint(&to->out, FUNCTION_LINE, function->line);
    vti_proto_end(&to->out, begin);
    begin = vti_proto_begin(&to->out, P_LOCATION);
    vti_proto_varint(&to->out, LOCATION_ID, id);
    vti_proto_varint(&to->out, LOCATION_MAPPING, 1);
    line = vti_proto_begin(&to->out, LOCATION_LINE);
    vti_proto_varint(&to->out, LINE_FUNCTION, id);
    vti_proto_varint(&to->out, LINE_LINE, function->line);
    vti_proto_end(&to->out, line);
    vti_proto_end(&to->out, begin);
    vti_buf_fini(&name);
}

static int offer(struct pprof *to)
{
    if (to->failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return vti_gzip_offer(to->gzip, &to->out);
}

static int enter(uint32_t at, void *arg)
{
    struct pprof *to = arg;
    const struct vti_call *call = &to->calls->calls[at];
    size_t shown = to->depth < VTI_STACK_FRAMES ? to->depth + 1 : VTI_STACK_FRAMES;
    size_t begin;
    size_t label;

    if (vti_grow(&to->stack, to->depth, &to->room, sizeof *to->stack))
        return VTI_E_NOMEM;
    to->stack[to->depth++] = (uint64_t)call->function + 1;
    begin = vti_proto_begin(&to->out, P_SAMPLE);
    for (size_t i = shown; i-- > 0;)
        vti_proto_varint(&to->out, SAMPLE_LOCATION, to->stack[i]);
    vti_proto_varint(&to->out, SAMPLE_VALUE, call->calls + call->resumes);
    vti_proto_varint(&to->out, SAMPLE_VALUE, (uint64_t)(call->self_ns + 0.5));
    label = vti_proto_begin(&to->out, SAMPLE_LABEL);
    vti_proto_varint(&to->out, LABEL_KEY, string_of(to, "thread"));
    vti_proto_varint(&to->out, LABEL_TEXT, string_of(to, vti_export_track(to->recording, call)));
    vti_proto_end(&to->out, label);
    vti_proto_end(&to->out, begin);
    return offer(to);
}

static int leave(uint32_t at, void *arg)
{
    struct pprof *to = arg;

    (void)at;
    to->depth--;
    return 0;
}

static int add_all(struct pprof *to)
{
    int code = 0;

    add_header(to);
    for (size_t i = 0; i < to->calls->function_count && !code; i++) {
        add_function(to, &to->calls->functions[i], i + 1);
        code = offer(to);
    }
    if (!code)
        code = vti_calls_walk(to->calls, enter, leave, to);
    for (uint32_t i = 0; !code && i < vti_map_count(to->strings); i++) {
        size_t len;
        const char *text = vti_map_key(to->strings, i, &len);

        vti_proto_bytes(&to->out, P_STRING, text, len);
        code = offer(to);
    }
    return code ? code : vti_gzip_finish(to->gzip, &to->out);
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct vti_calls calls;
    struct pprof to = {.recording = recording, .calls = &calls};
    int code = vti_export_calls(&calls, recording);

    (void)options;
    if (code)
        return code;
    code = vti_map_create(&to.strings);
    if (!code)
        code = vti_gzip_create(&to.gzip, sink);
    if (!code)
        code = add_all(&to);
    vti_gzip_free(to.gzip);
    vti_map_free(to.strings);
    vti_buf_fini(&to.out);
    vti_buf_fini(&to.text);
    free(to.stack);
    vti_calls_fini(&calls);
    return code;
}

const struct vti_exporter vti_export_pprof = {
    .name = "pprof",
    .summary = "functions, for pprof (profile.proto, compressed)",
    .extension = "pb.gz",
    .is_binary = true,
    .run = run,
};
