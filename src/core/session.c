/* session.c - a recording started and stopped by the program itself (venturi/session.h). */
#include "core/attach.h"
#include "core/runtime.h"
#include "core/thread.h"

#include "base/error.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <venturi/line.h>
#include <venturi/session.h>
#include <venturi/span.h>

#define CLOSE_LIMIT_MS 60000
#define GIVE_LIMIT_MS 5000

static bool is_ours; /* started here, and so ours to stop */

static void default_output(char *to, size_t room)
{
    time_t now = time(NULL);
    struct tm local;
    char stamp[32];

    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    snprintf(to, room, "%.200s-%s-%ld.vt", program_invocation_short_name, stamp, (long)getpid());
}

/* The struct has grown since the first version. */
static bool is_known_size(size_t size)
{
    return size == sizeof(struct vt_session_options) ||
           size == offsetof(struct vt_session_options, spool);
}

static void use_options(const struct vt_session_options *options)
{
    char name[512];

    memset(&vti_settings, 0, sizeof vti_settings);
    default_output(name, sizeof name);
    vti_settings_output(options && options->output ? options->output : name);
    if (!options)
        return;
    if (options->size > offsetof(struct vt_session_options, spool) && options->spool) {
        vti_settings_spool(options->spool, true);
        vti_settings.spool_limit = options->spool_limit;
    }
    vti_settings.force = options->force;
    vti_settings.buffer_bytes = options->buffer_bytes;
    vti_settings.ring_seconds = options->ring_seconds;
    vti_settings.block_ms = options->block_ms;
}

int vt_session_start(const struct vt_session_options *options)
{
    struct vti_runtime *runtime = vti_runtime();
    struct vti_arena_control *arena;
    struct vti_slow slow;

    if (!runtime)
        return vti_attach_fail(VTI_E_NOMEM, "no memory for the runtime", 0);
    if (options && !is_known_size(options->size))
        return vti_attach_fail(VTI_E_USAGE, "options of another version", 0);
    if (options && options->size == sizeof *options && options->spool && options->ring_seconds)
        return vti_attach_fail(VTI_E_USAGE, "a spool keeps all: it has no ring", 0);
    if (vt_is_on())
        return vti_attach_fail(VTI_E_EXISTS, "already recording", 0);
    vti_runtime_lock();
    use_options(options);
    runtime->is_attached = false;
    vti_runtime_unlock();
    if (!vti_settings.output[0])
        return vti_attach_fail(VTI_E_LIMIT, "the output's name is too long", 0);
    vti_runtime_arm();
    vti_slow_enter(&slow, 0);
    arena = vti_runtime_arena();
    vti_slow_leave(&slow);
    is_ours = arena != NULL;
    return arena ? 0 : VTI_E_SESSION;
}

/* The name of the session that this process belongs to. */
static int find_session(char session[sizeof vti_settings.session])
{
    if (vti_settings.session[0])
        memcpy(session, vti_settings.session, sizeof vti_settings.session);
    else if (vti_settings.output[0])
        vti_session_name(session, sizeof vti_settings.session, vti_settings.output);
    else
        return vti_attach_fail(VTI_E_SESSION, "not recording", 0);
    return 0;
}

static int ask(uint32_t type)
{
    char session[sizeof vti_settings.session];
    struct vti_answer answer;
    int code = find_session(session);

    return code ? code : vti_session_ask(session, type, CLOSE_LIMIT_MS, &answer, NULL);
}

int vt_session_stop(void)
{
    int code;

    if (!is_ours)
        return vti_attach_fail(VTI_E_SESSION, "no recording that was started here", 0);
    is_ours = false;
    code = ask(VTI_REQUEST_STOP);
    vti_runtime_switch_off();
    return code;
}

int vt_session_flush(void)
{
    return ask(VTI_REQUEST_FLUSH);
}

int vt_session_pause(void)
{
    return ask(VTI_REQUEST_OFF);
}

int vt_session_resume(void)
{
    return ask(VTI_REQUEST_ON);
}

int vt_session_give(enum vt_gift kind, const char *name, int fd)
{
    struct vti_gift_request gift = {
        {VTI_PROTOCOL_MAGIC, VTI_REQUEST_GIVE, VTI_ARENA_VERSION, 0}, kind, ""};
    size_t len = strnlen(name, VTI_GIFT_NAME_MAX + 1);
    char session[sizeof vti_settings.session];
    const char *why = "";
    struct vti_answer answer;
    struct vti_slow slow;
    int code = VTI_E_SESSION;

    if (len > VTI_GIFT_NAME_MAX)
        return vti_attach_fail(VTI_E_LIMIT, "the name is too long", 0);
    memcpy(gift.name, name, len);
    vti_slow_enter(&slow, 0); /* the drainer must know this process */
    if (vti_runtime() && vti_runtime_arena())
        code = find_session(session);
    else
        vti_attach_fail(code, "not recording", 0);
    errno = 0;
    if (!code) {
        code = vti_ask_giving(session, &gift.request, offsetof(struct vti_gift_request, name) + len,
                              fd, GIVE_LIMIT_MS, &answer, &why);
        if (code)
            vti_attach_fail(code, why, errno);
    }
    vti_slow_leave(&slow);
    return code;
}

const char *vt_session_error(void)
{
    return vti_attach_error();
}
