/*
 * venturi/service.h - a service's settings as osprofiler's users write them, and the log lines of its trace points.
 *
 *     struct vt_service service;
 *     if (vt_service_open(&service, "/etc/mistral/mistral.conf", error, sizeof error) < 0)
 *         ...
 *     vt_http_accept(service.keys, find_header, request);
 *     ...
 *     vt_service_close(&service);
 *
 * The file has a section [profiler]; the file that [DEFAULT] log_config_append names (beside it, or in the working directory) says in
 * the form of Python's logging.config where lines of the logger `profiler_trace` go. In libventuri-net.
 */
#ifndef VENTURI_SERVICE_H
#define VENTURI_SERVICE_H

#include <venturi/http.h>

/* [profiler], each with osprofiler's own default, but that there is no secret unless one is given. What is not for C (what to
 * hook into, where a store is) is checked and kept for whoever wants to know. */
struct vt_service {
    vt_keys *keys;  /* never NULL; empty if the service is not enabled: then it stays dormant */
    int is_enabled; /* `enabled` */
    int filter_error_trace;
    int trace_sqlalchemy;
    int trace_requests;
    int es_scroll_size;
    double socket_timeout;
    char connection_string[256];
    char es_doc_type[64];
    char es_scroll_time[64];
    char sentinel_service_name[128];
    char log_name[128]; /* `profiler_log_name`: the logger */
};

#ifndef VT_OFF

#ifdef __cplusplus
extern "C" {
#endif

/* 0; or a negative code, `error` has one line that says which file, where and why, and there is nothing to close. Settings and
 * handlers of logs that are not known here are named on stderr and left out. One service with a log a process. */
VT_API int vt_service_open(struct vt_service *service, const char *path, char *error, size_t room);

/* Threads may still be in trace points: what they would log is left out. */
VT_API void vt_service_close(struct vt_service *service);

/* Lines that could not be written so far, in this process: the service never waits for its log. The first is said on stderr. */
VT_API uint64_t vt_service_lost(void);

#ifdef __cplusplus
}
#endif

#else /* VT_OFF */

#define vt_service_open(service, path, error, room)                                                \
    ((service)->keys = 0, (service)->is_enabled = 0, (void)sizeof(path), (void)sizeof(error),      \
     (void)sizeof(room), 0)
#define vt_service_close(service) ((void)sizeof(service))
#define vt_service_lost() ((uint64_t)0)

#endif
#endif
