/* perfetto_packet.c - packets of a Perfetto trace: fields, interned names, the clock. */
#include "base/error.h"
#include "base/protobuf.h"
#include "export/perfetto.h"

#include <string.h>

enum { TRACE_PACKET = 1 };
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_FIRST = 87,
};
enum { DEFAULTS_CLOCK = 58 };
enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_PARENT = 5 };
enum {
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_SOURCE_ID = 34,
    EVENT_COUNTER_DOUBLE = 44,
};
enum {
    INTERNED_NAME = 2,
    INTERNED_KEY = 3,
    INTERNED_SOURCE = 4,
    INTERNED_ID = 1,
    INTERNED_TEXT = 2
};
enum { SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };
enum {
    NOTE_NAME_ID = 1,
    NOTE_BOOL = 2,
    NOTE_UINT = 3,
    NOTE_INT = 4,
    NOTE_DOUBLE = 5,
    NOTE_STRING = 6,
    NOTE_NAME = 10,
};

#define SEQUENCE 1 /* one writer: us */

void vti_perfetto_init(struct vti_perfetto *perfetto, vt_recording *recording,
                       const struct vti_sink *sink)
{
    struct vt_recording_info info;

    memset(perfetto, 0, sizeof *perfetto);
    perfetto->recording = recording;
    perfetto->sink = sink;
    vt_recording_info(recording, &info);
    perfetto->epoch_ns = info.start_realtime_ns;
}

void vti_perfetto_fini(struct vti_perfetto *perfetto)
{
    vti_buf_fini(&perfetto->out);
    vti_buf_fini(&perfetto->interned);
    vti_ids_fini(&perfetto->names);
    vti_ids_fini(&perfetto->sources);
    vti_ids_fini(&perfetto->keys);
}

static void add_clock(struct vti_buf *out, unsigned id, uint64_t timestamp)
{
    size_t clock = vti_proto_begin(out, SNAPSHOT_CLOCK);

    vti_proto_varint(out, CLOCK_ID, id);
    vti_proto_varint(out, CLOCK_TIMESTAMP, timestamp);
    vti_proto_end(out, clock);
}

/* Time as Perfetto counts it: nanoseconds, none before 1970. */
static uint64_t timestamp_of(const struct vti_perfetto *perfetto, int64_t time_ns)
{
    int64_t ns;

    if (__builtin_add_overflow(perfetto->epoch_ns, time_ns, &ns))
        ns = time_ns < 0 ? 0 : INT64_MAX;
    return ns < 0 ? 0 : (uint64_t)ns;
}

/*
 * Events carry wall clock time. Viewers count in boot time, so a snapshot says that both are the
 * same: then no version of them has to guess, and queries see times that can be compared with log
 * files.
 */
void vti_perfetto_start(struct vti_perfetto *perfetto)
{
    struct vti_buf *out = &perfetto->out;
    size_t packet = vti_proto_begin(out, TRACE_PACKET);
    size_t inner;

    vti_proto_varint(out, PACKET_SEQUENCE, SEQUENCE);
    vti_proto_varint(out, PACKET_FLAGS, FLAG_CLEARED);
    vti_proto_varint(out, PACKET_FIRST, 1);
    inner = vti_proto_begin(out, PACKET_DEFAULTS);
    vti_proto_varint(out, DEFAULTS_CLOCK, CLOCK_REALTIME_ID);
    vti_proto_end(out, inner);
    inner = vti_proto_begin(out, PACKET_CLOCK_SNAPSHOT);
    add_clock(out, CLOCK_REALTIME_ID, timestamp_of(perfetto, 0));
    add_clock(out, CLOCK_BOOTTIME_ID, timestamp_of(perfetto, 0));
    vti_proto_end(out, inner);
    vti_proto_end(out, packet);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

size_t vti_perfetto_open_track(struct vti_perfetto *perfetto, uint64_t uuid, uint64_t parent)
{
    struct vti_buf *out = &perfetto->out;
    size_t open;

    perfetto->packet = vti_proto_begin(out, TRACE_PACKET);
    vti_proto_varint(out, PACKET_SEQUENCE, SEQUENCE);
    open = vti_proto_begin(out, PACKET_TRACK_DESCRIPTOR);
    vti_proto_varint(out, TRACK_UUID, uuid);
    if (parent)
        vti_proto_varint(out, TRACK_PARENT, parent);
    return open;
}

int vti_perfetto_close_track(struct vti_perfetto *perfetto, size_t open)
{
    vti_proto_end(&perfetto->out, open);
    vti_proto_end(&perfetto->out, perfetto->packet);
    return vti_sink_offer(perfetto->sink, &perfetto->out);
}

/* ---- events ---------------------------------------------------------------------------------- */

void vti_perfetto_open_event(struct vti_perfetto *perfetto, enum vti_perfetto_type type,
                             uint64_t uuid, int64_t time_ns)
{
    struct vti_buf *out = &perfetto->out;

    perfetto->packet = vti_proto_begin(out, TRACE_PACKET);
    vti_proto_varint(out, PACKET_TIMESTAMP, timestamp_of(perfetto, time_ns));
    vti_proto_varint(out, PACKET_SEQUENCE, SEQUENCE);
    vti_proto_varint(out, PACKET_FLAGS, FLAG_NEEDS_STATE);
    perfetto->event = vti_proto_begin(out, PACKET_TRACK_EVENT);
    vti_proto_varint(out, EVENT_TYPE, type);
    vti_proto_varint(out, EVENT_TRACK, uuid);
}

int vti_perfetto_close_event(struct vti_perfetto *perfetto)
{
    struct vti_buf *interned = &perfetto->interned;

    vti_proto_end(&perfetto->out, perfetto->event);
    if (interned->len)
        vti_proto_bytes(&perfetto->out, PACKET_INTERNED, interned->data, interned->len);
    perfetto->out.failed |= interned->failed;
    vti_buf_clear(interned);
    vti_proto_end(&perfetto->out, perfetto->packet);
    return vti_sink_offer(perfetto->sink, &perfetto->out);
}

/* Whether the site is new in the set; interned ids are site + 1, for 0 means none. */
static bool is_new(struct vti_perfetto *perfetto, struct vti_ids *set, uint32_t site)
{
    if (vti_ids_find(set, site) >= 0)
        return false;
    if (vti_ids_add(set, site) < 0)
        perfetto->out.failed = true;
    return true;
}

static void intern(struct vti_perfetto *perfetto, unsigned field, uint32_t site, const char *text)
{
    size_t entry = vti_proto_begin(&perfetto->interned, field);

    vti_proto_varint(&perfetto->interned, INTERNED_ID, (uint64_t)site + 1);
    vti_proto_string(&perfetto->interned, INTERNED_TEXT, text, strlen(text));
    vti_proto_end(&perfetto->interned, entry);
}

static void intern_source(struct vti_perfetto *perfetto, const struct vt_site_info *site)
{
    struct vti_buf *interned = &perfetto->interned;
    size_t entry = vti_proto_begin(interned, INTERNED_SOURCE);

    vti_proto_varint(interned, INTERNED_ID, (uint64_t)site->id + 1);
    vti_proto_string(interned, SOURCE_FILE, site->file, strlen(site->file));
    vti_proto_string(interned, SOURCE_FUNCTION, site->function, strlen(site->function));
    vti_proto_varint(interned, SOURCE_LINE, site->line);
    vti_proto_end(interned, entry);
}

void vti_perfetto_site(struct vti_perfetto *perfetto, uint32_t id)
{
    struct vt_site_info site;

    vt_recording_site_by_id(perfetto->recording, id, &site);
    if (is_new(perfetto, &perfetto->names, id))
        intern(perfetto, INTERNED_NAME, id, site.name);
    vti_proto_varint(&perfetto->out, EVENT_NAME_ID, (uint64_t)id + 1);
    if (!*site.file)
        return;
    if (is_new(perfetto, &perfetto->sources, id))
        intern_source(perfetto, &site);
    vti_proto_varint(&perfetto->out, EVENT_SOURCE_ID, (uint64_t)id + 1);
}

void vti_perfetto_name(struct vti_perfetto *perfetto, const char *name)
{
    vti_proto_string(&perfetto->out, EVENT_NAME, name, strlen(name));
}

void vti_perfetto_counter(struct vti_perfetto *perfetto, const struct vt_value *value)
{
    if (value->type == VT_VALUE_INT)
        vti_proto_varint(&perfetto->out, EVENT_COUNTER, (uint64_t)value->i);
    else if (value->type == VT_VALUE_UINT && value->u <= INT64_MAX)
        vti_proto_varint(&perfetto->out, EVENT_COUNTER, value->u);
    else
        vti_proto_double(&perfetto->out, EVENT_COUNTER_DOUBLE,
                         value->type == VT_VALUE_UINT ? (double)value->u : value->d);
}

/* ---- notes: debug annotations ---------------------------------------------------------------- */

static size_t open_note(struct vti_perfetto *perfetto, const char *key)
{
    size_t note = vti_proto_begin(&perfetto->out, EVENT_ANNOTATION);

    vti_proto_string(&perfetto->out, NOTE_NAME, key, strlen(key));
    return note;
}

static void add_value(struct vti_buf *out, const struct vt_value *value)
{
    switch (value->type) {
    case VT_VALUE_INT:
        vti_proto_varint(out, NOTE_INT, (uint64_t)value->i);
        break;
    case VT_VALUE_UINT:
        vti_proto_varint(out, NOTE_UINT, value->u);
        break;
    case VT_VALUE_DOUBLE:
        vti_proto_double(out, NOTE_DOUBLE, value->d);
        break;
    case VT_VALUE_TEXT:
        vti_proto_string(out, NOTE_STRING, value->text.data, value->text.len);
        break;
    default:
        vti_proto_string(out, NOTE_STRING, "", 0);
    }
}

void vti_perfetto_attr(struct vti_perfetto *perfetto, const struct vt_attr *attr)
{
    struct vti_buf *out = &perfetto->out;
    struct vt_site_info key;
    size_t note;

    if (is_new(perfetto, &perfetto->keys, attr->key)) {
        vt_recording_site_by_id(perfetto->recording, attr->key, &key);
        intern(perfetto, INTERNED_KEY, attr->key, key.name);
    }
    note = vti_proto_begin(out, EVENT_ANNOTATION);
    vti_proto_varint(out, NOTE_NAME_ID, (uint64_t)attr->key + 1);
    add_value(out, &attr->value);
    vti_proto_end(out, note);
}

void vti_perfetto_note_text(struct vti_perfetto *perfetto, const char *key, const char *text,
                            size_t len)
{
    size_t note = open_note(perfetto, key);

    vti_proto_string(&perfetto->out, NOTE_STRING, text, len);
    vti_proto_end(&perfetto->out, note);
}

void vti_perfetto_note_number(struct vti_perfetto *perfetto, const char *key, int64_t number)
{
    size_t note = open_note(perfetto, key);

    vti_proto_varint(&perfetto->out, NOTE_INT, (uint64_t)number);
    vti_proto_end(&perfetto->out, note);
}

void vti_perfetto_note_double(struct vti_perfetto *perfetto, const char *key, double number)
{
    size_t note = open_note(perfetto, key);

    vti_proto_double(&perfetto->out, NOTE_DOUBLE, number);
    vti_proto_end(&perfetto->out, note);
}

void vti_perfetto_note_true(struct vti_perfetto *perfetto, const char *key)
{
    size_t note = open_note(perfetto, key);

    vti_proto_varint(&perfetto->out, NOTE_BOOL, 1);
    vti_proto_end(&perfetto->out, note);
}
