/* chrome_impl.h - what chrome.c (reading) and chrome_write.c (writing) share. Private to these two. */
#ifndef VENTURI_IMPORT_CHROME_IMPL_H
#define VENTURI_IMPORT_CHROME_IMPL_H

#include "base/json_scan.h"
#include "import/target.h"

enum vti_chrome_kind { VTI_CHROME_SPAN, VTI_CHROME_MARK, VTI_CHROME_COUNTER };

/* Something that happened. */
struct vti_chrome_event {
    int64_t begin_ns;
    int64_t end_ns;   /* of a span; INT64_MAX: it has no end in the file */
    const char *args; /* where they begin in the file, or NULL; of an end: where it begins itself */
    uint32_t thread;  /* index */
    uint32_t site;    /* of a counter: 0, its series have one each */
    uint32_t name;    /* index in `names`, for counters */
    uint32_t order;   /* in the file */
    uint8_t kind;     /* enum vti_chrome_kind */
};

struct vti_chrome_thread {
    int64_t pid, tid;
    uint32_t process;    /* index */
    char *name;          /* owned, or NULL */
    size_t first, count; /* of its events, once they are sorted */
};

struct vti_chrome_process {
    int64_t pid;
    char *name; /* owned, or NULL */
};

struct vti_chrome {
    const struct vti_import_input *input;
    struct vti_import_target *target;
    struct vti_map *thread_ids, *process_ids, *names;
    struct vti_chrome_event *events;
    size_t event_count, event_room;
    struct vti_chrome_thread *threads;
    size_t thread_room;
    struct vti_chrome_process *processes;
    size_t process_room;
    int64_t first_ns; /* what the recording begins with */
    uint64_t unused;  /* events that say nothing we could use, and the first of them */
    const char *unused_at, *unused_why;
};

/* Counts one. `event` is where it begins. */
void vti_chrome_leave_out(struct vti_chrome *chrome, const char *event, const char *why);

/* Events sorted and matched become blocks. 0 or a negative code. */
int vti_chrome_write(struct vti_chrome *chrome);

#endif
