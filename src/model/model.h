/*
 * model.h - the parts of an opened recording, shared between the files of src/model and
 * src/analyze.
 *
 * Everything that comes from the file is untrusted: ids index nothing before vti_ids_find(),
 * offsets are checked before the mapping is touched, and a part that cannot be used is put on the
 * damage list and left out. Pointers into the mapping live until vt_recording_refresh() or
 * vt_recording_close().
 */
#ifndef VENTURI_MODEL_MODEL_H
#define VENTURI_MODEL_MODEL_H

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "format/decode.h"
#include "format/facts.h"
#include "format/index.h"
#include "format/layout.h"
#include "venturi/read.h"

/* ---- ids.c: from 32-bit ids, which may be anything, to 0, 1, 2 … in order of appearance ------ */

struct vti_id_slot {
    uint32_t id;
    uint32_t index_plus_one;
};

struct vti_ids {
    struct vti_id_slot *slots; /* owned; slot_count is a power of two */
    uint32_t slot_count;
    uint32_t count;
};

int64_t vti_ids_find(const struct vti_ids *ids, uint32_t id); /* the index, or -1 */
int64_t vti_ids_add(struct vti_ids *ids, uint32_t id);        /* found or new; or VTI_E_NOMEM */
void vti_ids_fini(struct vti_ids *ids);

/* `array` is the address of a pointer to elements: makes room for one more after `count`, or
 * VTI_E_NOMEM. */
int vti_grow(void *array, size_t count, size_t *capacity, size_t element);

/* ---- clock.c: ticks of a clock domain become nanoseconds since the start of the recording ---- */

struct vti_clock_piece {
    uint64_t ticks;  /* from here on, and the first piece before it too, … */
    uint64_t length; /* … for so many ticks (of which the first `quick` cannot overflow) … */
    uint64_t quick;
    int64_t ns;      /* … from this in recording time on … */
    double slope;    /* … it is so many nanoseconds a tick … */
    int64_t most_ns; /* … but never beyond the start of the next piece */
};

struct vti_clock {
    uint32_t id;
    uint32_t host;
    uint32_t type;              /* enum vti_clock_type, 0 unknown */
    struct vti_anchor *anchors; /* owned, as is `pieces` */
    size_t anchor_count;
    size_t anchor_capacity;
    struct vti_clock_piece *pieces; /* at least one once resolved */
    size_t piece_count;
    size_t hint;        /* the piece that was used last */
    bool is_linked;     /* clock links lead to the first domain, or it is that */
    int64_t link_ns;    /* what they add to this domain's wall clock */
    uint64_t error_ns;  /* uncertainty of that */
    double ns_per_tick; /* over all anchors */
};

struct vti_clock_link {
    uint32_t a, b;
    int64_t offset_ns;
    uint64_t error_ns;
};

struct vti_clocks {
    struct vti_ids ids;
    struct vti_clock *clocks; /* owned; after resolving there is at least one */
    size_t count;
    size_t capacity;
    struct vti_clock_link *links; /* owned */
    size_t link_count;
    size_t link_capacity;
    int64_t start_realtime_ns;
};

int64_t vti_clock_add(struct vti_clocks *clocks, const struct vti_clock_fact *fact); /* its index */
int vti_clock_add_anchor(struct vti_clock *clock, const struct vti_anchor *anchor);
int vti_clock_add_link(struct vti_clocks *clocks, const struct vti_clock_link_fact *fact);

/* Works out pieces, offsets and errors after facts were added. A recording without any anchor
 * counts nanoseconds from `first_tick`, which was at `created_ns`. */
int vti_clocks_resolve(struct vti_clocks *clocks, uint64_t first_tick, uint64_t created_ns);
void vti_clocks_fini(struct vti_clocks *clocks);

/* Never goes back as ticks go up; saturates far outside of any real time. */
int64_t vti_clock_ns(struct vti_clock *clock, uint64_t ticks);

/* ---- facts_table.c: hosts, processes, tracks, sites, losses ---------------------------------- */

struct vti_host {
    uint32_t id;
    const char *name, *os, *cpu; /* strings of facts are owned by the table's pool */
    uint32_t cpu_count;
};

struct vti_process {
    struct vti_process_fact fact; /* its strings are not set: see below */
    const char *name, *command;
    int64_t start_ns, end_ns;
    double pair_ns, inner_ns;
    uint32_t clock; /* index */
};

/* The event blocks of one track: those that an INDEX block lists, used in place, or those a scan
 * found. */
struct vti_blocks {
    uint64_t index_at;               /* file offset of the INDEX block, 0: found by scanning */
    struct vti_index index;          /* in the mapping or in `built` */
    struct vti_index_entry *entries; /* owned; from the scan */
    size_t count;
    size_t capacity;
    struct vti_index_builder *builder; /* owned; over the first `in_builder` entries */
    size_t in_builder;
    struct vti_buf built; /* owned; an INDEX block made from `builder` */
    size_t built_count;   /* entries it covers */
    uint8_t *checked;     /* owned; one bit a block: its checksum is known to be right */
    size_t checked_bytes;
    uint64_t events, begins; /* sums over all blocks, once the recording is prepared … */
    uint32_t deepest;
    uint64_t damaged_events, damaged_begins; /* … and what damaged ones among them hold */
};

struct vti_track {
    uint32_t id;
    bool is_defined;
    uint32_t process; /* id, or VT_NONE */
    uint32_t tid;
    uint64_t start, end; /* ticks as the fact says, 0 unknown */
    const char *name;
    uint64_t first, last; /* ticks of its events */
    int64_t first_ns, last_ns;
    uint64_t lost_events;
    uint32_t clock; /* index */
    double pair_ns, inner_ns;
    struct vti_blocks blocks;
};

/* It has what was open when its file of a spool began, told again. */
bool vti_track_is_carried(const struct vti_track *track);

struct vti_site {
    uint32_t id, type, line;
    uint32_t same; /* id of the first site of its place, once resolved; often its own */
    uint32_t twin; /* how many functions of equal texts came before it */
    const char *name, *function, *file, *unit;
};

struct vti_pool {
    char **chunks; /* owned; so that strings never move */
    size_t count;
    size_t capacity;
    size_t used, size; /* of the last chunk */
};

struct vti_facts {
    struct vti_pool pool;
    const char *writer_version, *policy, *directory, *command;
    struct vti_ids host_ids, process_ids, track_ids, site_ids;
    struct vti_host *hosts; /* arrays are owned; beside their ids in order of appearance */
    size_t host_capacity;
    struct vti_process *processes;
    size_t process_capacity;
    struct vti_track **tracks; /* each owned: they keep their address */
    size_t track_capacity;
    struct vti_site *sites;
    size_t site_capacity;
    bool has_new_sites; /* since they were last resolved */
    struct vti_loss_fact *losses;
    size_t loss_count;
    size_t loss_capacity;
    uint64_t lost_events; /* sum over losses */
    struct vti_clocks clocks;
    struct vti_map *made_up; /* owned; names of ids that nobody defined */
};

void vti_facts_init(struct vti_facts *facts);

/* Takes in the entries of one block of facts: 0, VTI_E_DAMAGED if they do not parse, or
 * VTI_E_NOMEM. */
int vti_facts_take(struct vti_facts *facts, const struct vti_block_header *header,
                   const uint8_t *payload);

/* The track's entry, made if events come before its definition; NULL without memory. */
struct vti_track *vti_facts_track(struct vti_facts *facts, uint32_t id);

/* Works out times and owners once all facts are there. */
int vti_facts_resolve(struct vti_facts *facts, uint64_t created_ns);
void vti_facts_fini(struct vti_facts *facts);

const char *vti_loss_reason_text(uint32_t reason);

/* ---- same_site.c ----------------------------------------------------------------------------- */

/* Finds the sites that stand for one place in the source. 0 or VTI_E_NOMEM. */
int vti_sites_resolve(struct vti_facts *facts);

/* The site under which all of its place count; an id that nobody defined is its own. */
uint32_t vti_site_same(const struct vt_recording *recording, uint32_t id);

/* ---- recording.c, damage.c, scan.c ----------------------------------------------------------- */

struct vti_damage_list {
    struct vt_damage_info *items; /* owned, by begin_offset */
    size_t count;
    size_t capacity;
};

struct vti_tiles;

struct vt_recording {
    char *path; /* owned */
    struct vti_mapping map;
    struct vti_file_header header;
    bool is_closed;
    bool is_scanned;      /* blocks come from scanning, not from END and INDEX */
    bool is_prepared;     /* the INDEX blocks have been checked */
    bool has_tail_damage; /* the last damage is what the file ends with: it may still be growing */
    uint64_t scanned_to;  /* file offset at which scanning goes on */
    uint64_t block_count;
    uint64_t unknown_blocks;
    uint64_t end_lost_events; /* as END says */
    unsigned generation;      /* goes up when pointers into the mapping become invalid */
    struct vti_facts facts;
    struct vti_damage_list damage;
    struct vti_tiles *tiles; /* owned; cache of window.c */
};

/* Keeps the code for vt_read_error() if it is one, and returns it. */
int vti_read_result(int code);

/* Notes damaged bytes; false if they were noted before. `what` must be a literal. */
bool vti_damage_note(struct vt_recording *recording, uint64_t begin, uint64_t end,
                     const char *what);

/* The same for a block whose entries do not parse. */
void vti_damage_note_block(struct vt_recording *recording, const struct vti_block_header *header,
                           const uint8_t *payload);
void vti_damage_drop_last(struct vti_damage_list *list);
void vti_damage_fini(struct vti_damage_list *list);

/* Whether what is mapped is (still) this recording, and not another one that has its name or was written over it. */
bool vti_recording_is_in(const struct vt_recording *recording, const struct vti_mapping *map);

/* Whether a right header stands at `offset` and its payload lies whole in the mapping; sets
 * *payload. */
bool vti_block_find(const struct vt_recording *recording, uint64_t offset,
                    struct vti_block_header *header, const uint8_t **payload);

/* Takes in a block that is not of events: facts, END, or one of a kind that is only counted. */
int vti_block_take(struct vt_recording *recording, uint64_t offset,
                   const struct vti_block_header *header, const uint8_t *payload);

/* Walks over blocks from scanned_to to the end of the mapping. With `take_facts` false only event
 * blocks are looked at. Returns the number of new blocks, or a negative code. */
int64_t vti_scan(struct vt_recording *recording, bool take_facts);

/* ---- track_index.c: the blocks of a track ---------------------------------------------------- */

/* To be called before blocks are asked for: checks all INDEX blocks, and falls back to scanning
 * the file if one of them is not right. Cheap after the first time. */
int vti_recording_prepare(struct vt_recording *recording);

/* What it is called in messages: the name of the file that it was made from. 0 or VTI_E_NOMEM. */
int vti_recording_call(struct vt_recording *recording, const char *path);

/* Uses the track's INDEX block in place: 0 or VTI_E_DAMAGED. Its contents are not yet looked at. */
int vti_blocks_place(struct vt_recording *recording, uint64_t offset,
                     const struct vti_block_header *header, const uint8_t *payload);

/* Notes an event block that a scan found. */
int vti_blocks_add(struct vt_recording *recording, uint64_t offset,
                   const struct vti_block_header *header, const uint8_t *payload);

/* Makes blocks.index usable where there is no INDEX block. */
int vti_blocks_index(struct vt_recording *recording, struct vti_track *track);

uint64_t vti_blocks_count(const struct vti_track *track);
void vti_blocks_at(const struct vti_track *track, uint64_t at, struct vti_index_entry *entry);

/* The first block whose last tick is at or after the time; the count if there is none. */
uint64_t vti_blocks_from_ns(struct vt_recording *recording, const struct vti_track *track,
                            int64_t ns);
uint64_t vti_blocks_from_ticks(const struct vti_track *track, uint64_t ticks);

/* Puts a block on the damage list. */
void vti_blocks_spoil(struct vt_recording *recording, struct vti_track *track,
                      const struct vti_index_entry *entry, const char *what);

/* Checks that the block is what the entry says, checksum included; else it goes on the damage
 * list. */
bool vti_blocks_read(struct vt_recording *recording, struct vti_track *track,
                     const struct vti_index_entry *entry, struct vti_block_header *header,
                     const uint8_t **payload);

/* The same for the block at an index, with its entry. The checksum is only looked at the first
 * time. */
bool vti_blocks_read_at(struct vt_recording *recording, struct vti_track *track, uint64_t at,
                        struct vti_index_entry *entry, struct vti_block_header *header,
                        const uint8_t **payload);
void vti_blocks_fini(struct vti_blocks *blocks);

struct vti_clock *vti_track_clock(struct vt_recording *recording, const struct vti_track *track);

/* When it was seen to end, at least its last event: what spans without an end last to. */
int64_t vti_track_end_ns(struct vt_recording *recording, const struct vti_track *track);

/* ---- walk.c: the events of one track, block by block ----------------------------------------- */

/* Positions a decoder at the open stack of a block and sets its entry; false if there is no such
 * block or it is damaged. */
bool vti_blocks_open(struct vt_recording *recording, struct vti_track *track, uint64_t at,
                     struct vti_index_entry *entry, struct vti_decoder *decoder);

/* How many spans are open where a block begins; 0 if that cannot be known. */
uint32_t vti_blocks_depth(struct vt_recording *recording, struct vti_track *track, uint64_t at);

/* A span that is open. */
struct vti_open {
    uint64_t begin; /* ticks */
    uint32_t site;
};

enum { VTI_WALK_END, VTI_WALK_EVENT, VTI_WALK_BLOCK };

struct vti_walk {
    struct vt_recording *recording;
    struct vti_track *track;
    struct vti_clock *clock;
    uint64_t next, end;           /* blocks still to come */
    struct vti_index_entry entry; /* of the block at hand */
    bool in_block;
    struct vti_decoder decoder;
};

/* Blocks from `first` to before `end`, which may be UINT64_MAX. */
void vti_walk_init(struct vti_walk *walk, struct vt_recording *recording, struct vti_track *track,
                   uint64_t first, uint64_t end);

/* VTI_WALK_BLOCK: a block begins, its open stack can be read from the decoder. Damaged ones are
 * skipped. */
int vti_walk_next(struct vti_walk *walk, struct vti_event *event);

/* The same after the caller has asked the decoder itself and got no event but `got`. */
int vti_walk_block(struct vti_walk *walk, int got);

/* ---- async.c: async spans between begin and end ---------------------------------------------- */

struct vti_async {
    uint32_t process; /* the ids are unique in it */
    bool is_used;
    bool has_begin, has_end;
    unsigned flags;
    uint64_t id;
    int64_t begin_ns, end_ns;
    uint64_t begin_ticks;
    uint32_t track, site, depth, parent_site;
    bool has_trace;
    struct vti_trace_ids trace;
    struct vt_attr *attrs; /* owned */
    size_t attr_count;
    size_t attr_capacity;
};

struct vti_asyncs {
    struct vti_async *slots; /* owned; slot_count is a power of two */
    size_t slot_count;
    size_t count;
};

/* The span of that id, added if there is none; NULL without memory. Valid until the next call. */
struct vti_async *vti_asyncs_get(struct vti_asyncs *asyncs, uint32_t process, uint64_t id);
struct vti_async *vti_asyncs_find(const struct vti_asyncs *asyncs, uint32_t process, uint64_t id);
void vti_asyncs_remove(struct vti_asyncs *asyncs, struct vti_async *async);
void vti_asyncs_fini(struct vti_asyncs *asyncs);

/* ---- gaps.c: when events of a process were lost ------------------------------------------------ */

struct vti_gap {
    uint32_t process; /* VT_NONE: of any */
    int64_t begin_ns, end_ns;
};

struct vti_gaps {
    struct vti_gap *list; /* owned; by process and time, none overlap */
    size_t count;
};

/* 0 or VTI_E_NOMEM. */
int vti_gaps_find(struct vti_gaps *gaps, const struct vt_recording *recording);

/* A span that did not end, whose end_ns is how long it may have lasted: ends it where its process first lost events after its begin, marked
 * VT_FLAG_IN_GAP, if that is sooner. */
void vti_gaps_cut(const struct vti_gaps *gaps, struct vti_async *async);
void vti_gaps_fini(struct vti_gaps *gaps);

/* ---- cursor.c, for spans.c and exporters ----------------------------------------------------- */

/* The site of the innermost span open on the track of the event that was given last, or VT_NONE. */
uint32_t vti_cursor_parent_site(const vt_cursor *cursor);

/* When the span began that the end which was given last ends; false if that is not known. */
bool vti_cursor_begin_ns(const vt_cursor *cursor, int64_t *begin_ns);

void vti_event_value(struct vt_value *to, const struct vti_value *from);
struct vti_value vti_event_value_of(const struct vt_value *value); /* the other way */

/* What our own cost leaves of a duration: never below zero. */
int64_t vti_corrected(int64_t ns, double cost_ns);

/* ---- tile_cache.c; the rest of it is in tile.h ----------------------------------------------- */

void vti_tiles_free(struct vti_tiles *tiles);

#endif
