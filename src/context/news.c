/*
 * news.c - who is told of trace points, and what the program says that it is.
 *
 * Both are set by one thread and read by all without a lock: what was set before is never changed or freed, only replaced.
 */
#include "context/news.h"

#include <string.h>
#include <sys/mman.h>

#define NAME_MOST 128

/* What the program says that it is. */
struct said {
    char project[NAME_MOST], service[NAME_MOST], host[NAME_MOST];
};

static const struct said *said; /* NULL: nothing; what was said before is never changed */
static vt_trace_listener *the_listener;
static void *the_listener_arg;

/* ---- who listens ----------------------------------------------------------------------------- */

/* The argument is never that of another listener: readers look twice. */
void vt_trace_listen(vt_trace_listener *listener, void *arg)
{
    __atomic_store_n(&the_listener, NULL, __ATOMIC_SEQ_CST);
    __atomic_store_n(&the_listener_arg, arg, __ATOMIC_SEQ_CST);
    __atomic_store_n(&the_listener, listener, __ATOMIC_SEQ_CST);
}

bool vti_trace_is_heard(void)
{
    return __atomic_load_n(&the_listener, __ATOMIC_RELAXED) != NULL;
}

int64_t vti_trace_now(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void vti_trace_tell(struct vti_trace_state *own, const struct vti_trace_open *open,
                    int64_t duration_ns)
{
    vt_trace_listener *listener = __atomic_load_n(&the_listener, __ATOMIC_SEQ_CST);
    void *arg = __atomic_load_n(&the_listener_arg, __ATOMIC_SEQ_CST);
    struct vt_trace_news news = {
        .name = open->site->name,
        .base = &open->ids.base,
        .parent = &open->ids.parent,
        .span = &open->ids.span,
        .realtime_ns = vti_trace_now(CLOCK_REALTIME),
        .duration_ns = duration_ns,
        .error_type = open->has_failed ? open->error_type : NULL,
        .error_message = open->has_failed ? open->error_message : NULL,
    };

    if (!listener || listener != __atomic_load_n(&the_listener, __ATOMIC_SEQ_CST))
        return;
    own->telling = (uintptr_t)__builtin_frame_address(0);
    listener(&news, arg);
    own->telling = 0;
}

/* ---- what the program is --------------------------------------------------------------------- */

void vti_trace_copy(char *to, size_t room, const char *from)
{
    size_t len = from ? strnlen(from, room) : 0;

    if (len == room)
        for (len--; len + 4 > room && len && (from[len] & 0xc0) == 0x80;)
            len--;
    if (len)
        memcpy(to, from, len);
    to[len] = 0;
}

void vt_trace_service(const char *project, const char *service, const char *host)
{
    struct said *now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);

    if (now == MAP_FAILED)
        return;
    vti_trace_copy(now->project, sizeof now->project, project);
    vti_trace_copy(now->service, sizeof now->service, service);
    vti_trace_copy(now->host, sizeof now->host, host);
    __atomic_store_n(&said, now, __ATOMIC_RELEASE);
}

static size_t add_fact(struct vt_trace_fact *to, size_t count, struct vt_site *key,
                       const char *text)
{
    if (!text[0])
        return count;
    to[count] = (struct vt_trace_fact){.key = key, .type = VT_FACT_TEXT};
    to[count].value.text.data = text;
    to[count].value.text.len = strlen(text);
    return count + 1;
}

size_t vti_trace_entering(struct vt_trace_fact to[VTI_ENTERING_FACTS])
{
    static struct vt_site project = {"project", "", "", "", 0, 3, 0, 0};
    static struct vt_site service = {"service", "", "", "", 0, 3, 0, 0};
    static struct vt_site host = {"host", "", "", "", 0, 3, 0, 0};
    const struct said *now = __atomic_load_n(&said, __ATOMIC_ACQUIRE);
    size_t count = 0;

    if (!now)
        return 0;
    count = add_fact(to, count, &project, now->project);
    count = add_fact(to, count, &service, now->service);
    return add_fact(to, count, &host, now->host);
}
