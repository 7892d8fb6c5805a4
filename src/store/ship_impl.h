/* ship_impl.h - between the files of ship. */
#ifndef VENTURI_STORE_SHIP_IMPL_H
#define VENTURI_STORE_SHIP_IMPL_H

#include "store/ship.h"

#include <limits.h>
#include <sys/stat.h>

#define VTI_MAKERS_MOST 4

/* ---- ship_state.c: what is sent, on disk ----------------------------------------------------- */

struct vti_ship_file {
    char *name; /* owned; in its folder */
    uint8_t id[VTI_UUID];
    bool is_done;
    bool is_there;   /* met when the folder was last looked through */
    uint64_t sent;   /* documents of steps */
    uint64_t lost;   /* of the recording, as far as it was read */
    uint64_t unsent; /* documents that this store does not take: they are only here */
    uint64_t told;   /* documents of any kind that the store has, or that are dead letters */
    struct vti_ship_beyond beyond; /* what else is in it */
    struct vti_position at[VTI_MAKERS_MOST];
};

struct vti_ship_state {
    char *path;                  /* owned */
    struct vti_ship_file *files; /* owned */
    size_t count, capacity;
    struct vti_ship_counts counts; /* lost: of recordings that are done with */
    uint64_t given_back;           /* of what the spool counts as lost: sent before */
    uint64_t dead_bytes; /* of the file of dead letters: whose documents are behind comes again */
};

/* 0: also if there is none. VTI_E_DAMAGED: it is there but not whole; the state is empty then. */
int vti_ship_state_load(struct vti_ship_state *state, const char *path);
int vti_ship_state_save(const struct vti_ship_state *state,
                        const char *target); /* whole, and on the disk */
void vti_ship_state_fini(struct vti_ship_state *state);

/* Its entry, made if it is new, or if it is another recording under an old name; NULL without memory. */
struct vti_ship_file *vti_ship_state_file(struct vti_ship_state *state, const char *name,
                                          const uint8_t id[VTI_UUID]);
struct vti_ship_file *vti_ship_state_find(struct vti_ship_state *state, const char *name);
void vti_ship_state_forget(struct vti_ship_state *state, size_t at);

/* ---- ship_spool.c: a folder of recordings ---------------------------------------------------- */

struct vti_ship_names {
    char **names; /* owned; sorted */
    size_t count;
};

int vti_ship_names_load(struct vti_ship_names *names, const char *folder);
void vti_ship_names_fini(struct vti_ship_names *names);

/* Whether it is one of a spool's, which are deleted when they are sent. */
bool vti_spool_is_name(const char *name);

/* Whether every other shipper of the folder is done with the file too; one whose state cannot be read is not, and *code says
 * why; else that is 0. */
bool vti_spool_all_done(const char *folder, const char *own_state, const char *name, int *code);

/* ---- ship_losses.c: what gave way to the limit of a spool ------------------------------------- */

struct vti_spool_loss {
    uint64_t steps, events;
};

struct vti_spool_losses {
    struct vti_map *ids;          /* of recordings, as hex digits */
    struct vti_spool_loss *by_id; /* owned; the last line of each */
    size_t room;
    struct vti_spool_loss all;
};

/* All of the folder; nothing if it has none. */
void vti_spool_losses_load(struct vti_spool_losses *losses, const char *folder);
void vti_spool_losses_fini(struct vti_spool_losses *losses);

/* That of a recording, or NULL: it went another way, or its line was folded. */
const struct vti_spool_loss *vti_spool_losses_find(const struct vti_spool_losses *losses,
                                                   const uint8_t id[VTI_UUID]);

/* ---- dead_letters.c -------------------------------------------------------------------------- */

/* Appends those of the batch that are dead, but for those whose ids are `known` (NULL: none); on the disk when it returns. On failure the file is as it
 * was. */
int vti_dead_write(const char *path, const struct vti_batch *batch, const struct vti_map *known,
                   uint64_t *bytes, uint64_t *count);

/* The ids of letters that stand behind `bytes`: whoever wrote them was killed before the state said so, and their documents come again. NULL: there are none. The file is the
 * user's too, who may edit it: then it is the ids of all. */
int vti_dead_known(struct vti_map **known, const char *path, uint64_t bytes);

/* One line as a document of the batch: 0, 1: it is no dead letter, or a negative code. `index` is kept in `names`. */
int vti_dead_read(struct vti_batch *batch, const char *line, size_t len, struct vti_map *names);

/* ---- ship_waiting.c: documents that recordings hold ------------------------------------------- */

struct vti_ship_counted {
    char *path; /* owned */
    ino_t inode;
    uint64_t size, to; /* of the file when it was looked at; whole blocks up to there */
    uint64_t steps;
    bool is_there; /* since the last _prune */
};

struct vti_ship_waiting {
    struct vti_ship_counted *files; /* owned */
    size_t count, room;
};

/* Messages of steps in the recording, sent ones too. What is not asked for between two calls of _prune is forgotten. */
uint64_t vti_ship_count_steps(struct vti_ship_waiting *waiting, const char *path,
                              const struct stat *info);
void vti_ship_waiting_prune(struct vti_ship_waiting *waiting);
void vti_ship_waiting_fini(struct vti_ship_waiting *waiting);

/* ---- ship_deliver.c: one batch, until all of it is done or dead ------------------------------ */

enum vti_ship_mood {
    VTI_SHIP_IDLE,
    VTI_SHIP_SENDING,
    VTI_SHIP_AWAY,
    VTI_SHIP_HELD,
    VTI_SHIP_ENDED
};

struct vti_ship {
    const struct vti_ship_options *options;
    struct vti_ship_result *result;
    struct vti_store *store;
    struct vti_ship_state state;
    struct vti_batch batch;
    char folder[PATH_MAX];
    char base[PATH_MAX]; /* of state, status and dead letters: FOLDER/ship-NAME-HASH */
    char dead_path[PATH_MAX + 16];
    bool is_folder;
    struct vti_map *dead_known; /* owned; letters that the state does not know of; NULL: none */
    bool has_repeat;            /* the next batch may hold what was sent before we were started */
    bool has_said_clock;
    bool has_said_disk;
    bool has_said_other; /* a state of another store cannot be read */
    bool has_said_unsent;
    bool has_said_merged;
    enum vti_ship_mood mood;
    char why[400];       /* of being away or held */
    int64_t progress_ns; /* monotonic; of the last document that was taken */
    int64_t status_ns;   /* monotonic; when the status was last written */
    struct vti_ship_waiting counted;
    uint64_t waiting;                      /* documents: those of steps, and those in hand; … */
    uint64_t waiting_bytes, waiting_files; /* … as vti_ship_look_around() found them, … */
    uint64_t lost, lost_events, unsent;    /* … since the state was begun */
};

/* 0: all are done or dead, and the dead are written; 1: it ended before that; or a negative code. */
int vti_ship_deliver(struct vti_ship *ship);

/* Tells how it stands; for people only when that has changed. */
void vti_ship_set_mood(struct vti_ship *ship, enum vti_ship_mood mood, const char *why);

/* Waits; false if it was told to stop, or to give up, meanwhile. */
bool vti_ship_wait(struct vti_ship *ship, unsigned ms);

/* Whether to end now, with or without what is left. */
bool vti_ship_must_end(struct vti_ship *ship);
bool vti_ship_is_stopped(void); /* softly */
int64_t vti_ship_now(void);     /* monotonic */

/* ---- ship_backoff.c ---------------------------------------------------------------------------- */

#define VTI_SHIP_FIRST_MS 500

/* Milliseconds until the next try, the first one being 0: from 1 up to a limit that doubles from VTI_SHIP_FIRST_MS to `most_ms`. */
unsigned vti_ship_backoff(unsigned try, unsigned most_ms);

/* ---- ship_begin.c ------------------------------------------------------------------------------ */

/* Finds all places, takes the lock, reads the state and opens the store. The descriptor of the lock is the caller's in every case; -1: none. */
int vti_ship_begin(struct vti_ship *ship, int *lock_fd);

/* ---- ship_beyond.c: what of a recording is no document ------------------------------------------- */

/* Adds what blocks of the recording hold; `outside` is counted by the makers. */
void vti_ship_beyond_note(struct vti_ship_beyond *beyond, const vt_recording *recording);

/* ---- ship_tidy.c: recordings of a spool that are sent ------------------------------------------ */

/* A program that nobody traces gives no document: its recording is all that there is of it. Once there are documents, a file without any is a minute
 * in which nothing came. */
bool vti_ship_is_all_there_is(const struct vti_ship *ship, const struct vti_ship_file *file);

/* Deletes it, if it is a spool's and nobody else needs it; `fd` is of the file. True: it is gone, and so is its state. */
bool vti_ship_delete(struct vti_ship *ship, const char *name, int fd);

/* The same for one that was sent and is still there: somebody else needed it then, or we were stopped before it could go. */
bool vti_ship_tidy(struct vti_ship *ship, const char *name);

/* What is in damaged places was not sent, and nobody knows how much it was: such a file of a spool is kept under another name, which no
 * follower visits again. True: it was, and was said. */
bool vti_ship_set_aside(struct vti_ship *ship, const char *name, const vt_recording *recording);

/* Its counts go to those of all. */
void vti_ship_forget(struct vti_ship *ship, const char *name);

/* ---- ship_around.c: what waits and what is lost ---------------------------------------------- */

void vti_ship_look_around(struct vti_ship *ship);

/* ---- ship_cut_off.c -------------------------------------------------------------------------- */

/* Whether it has been quiet for a while and nobody has it open for writing. `looked_ns` is its own, zero at first: it does not look each time. */
bool vti_ship_is_cut_off(const char *path, int64_t *looked_ns);

/* ---- ship_shortened.c ------------------------------------------------------------------------ */

/* This one is read now: if somebody cuts it off meanwhile, that is said, and we end. */
void vti_ship_reading(const char *path);

/* ---- ship_status.c --------------------------------------------------------------------------- */

/* Writes BASE.status.json, at most once a second unless `is_due`. Failures are nobody's business. */
void vti_ship_status(struct vti_ship *ship, bool is_due);

/* ---- ship_follow.c: one recording ------------------------------------------------------------- */

/* A recording that is being read. */
struct vti_follow {
    char *name; /* owned */
    int fd;     /* for the lock; -1: free */
    vt_recording *recording;
    void *makers[VTI_MAKERS_MOST];
    bool is_final;   /* it will not grow … */
    bool is_cut_off; /* … though it has no end */
    int64_t looked_ns;
};

int vti_follow_begin(struct vti_ship *ship, struct vti_follow *follow, const char *name);
void vti_follow_end(struct vti_ship *ship, struct vti_follow *follow);

/* Sends what is new in it. 0, 1: it was told to stop, or a negative code. */
int vti_follow_visit(struct vti_ship *ship, struct vti_follow *follow);
int vti_ship_save(struct vti_ship *ship);

#endif
