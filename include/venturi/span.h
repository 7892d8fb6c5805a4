/*
 * venturi/span.h - trace points for C and C++.
 *
 *     static int classify(const struct alert *alert)
 *     {
 *         VT_SPAN("classify");              ends with the scope, on every return
 *         VT_ATTR("ndet", alert->ndet);
 *         ...
 *     }
 *
 * Stands alone: include it, link with -lventuri. While nobody records, a trace point costs one
 * predictable branch; with VT_OFF defined before the include it costs nothing at all. Nothing here can fail, block, or
 * allocate; what could not be recorded is counted. All of it may be used from any thread, and from
 * signal handlers once the thread has recorded something.
 */
#ifndef VENTURI_SPAN_H
#define VENTURI_SPAN_H

#include <stdint.h>

/* A place in the source. Made by the macros below, one for each use; the runtime fills in `id`. */
struct vt_site {
    const char *name;
    const char *function;
    const char *file;
    const char *unit;
    uint32_t line;
    uint32_t type; /* 0 span, 1 counter, 2 mark, 3 attribute key */
    uint32_t id;
    uint32_t reserved;
};

/* A span that ends with its scope. Only its address and whether it is open matter. */
struct vt_scope {
    uint64_t is_open;
};

#ifndef VT_OFF

#ifdef __cplusplus
extern "C" {
#endif

#define VT_API __attribute__((visibility("default")))

extern VT_API const uint32_t *vt_control_word; /* points to 0 while nobody records */

/* What is ours is not a function of the program, however that is compiled (-finstrument-functions). */
#define VT_INLINE static inline __attribute__((no_instrument_function))

/* Whether spans are being recorded now: all that stands between the program and no cost. */
VT_INLINE int vt_is_on(void)
{
    const uint32_t *word = __atomic_load_n(&vt_control_word, __ATOMIC_ACQUIRE);

    return __builtin_expect((__atomic_load_n(word, __ATOMIC_RELAXED) & 1u) != 0, 0);
}

VT_API void vt_scope_open(struct vt_scope *scope, struct vt_site *site, const void *frame);
VT_API void vt_scope_close(struct vt_scope *scope);

VT_INLINE void vt_scope_leave(struct vt_scope *scope)
{
    if (__builtin_expect(scope->is_open != 0, 0))
        vt_scope_close(scope);
}

/* Behind the macros; a caller with a site of its own (a binding, a plug-in) may use them directly. */
VT_API void vt_span_begin(struct vt_site *site);
VT_API void vt_span_end(void);
VT_API void vt_span_lap(struct vt_site *site);
VT_API void vt_span_error(const char *type, const char *message);
VT_API void vt_mark_add(struct vt_site *site);
VT_API void vt_counter_int(struct vt_site *site, int64_t value);
VT_API void vt_counter_uint(struct vt_site *site, uint64_t value);
VT_API void vt_counter_double(struct vt_site *site, double value);
VT_API void vt_attr_int(struct vt_site *key, int64_t value);
VT_API void vt_attr_uint(struct vt_site *key, uint64_t value);
VT_API void vt_attr_double(struct vt_site *key, double value);
VT_API void vt_attr_text(struct vt_site *key, const char *value);
VT_API uint64_t vt_async_start(struct vt_site *site);
VT_API void vt_async_stop(uint64_t id, int failed);
VT_API void vt_async_attr_int(uint64_t id, struct vt_site *key, int64_t value);
VT_API void vt_async_attr_double(uint64_t id, struct vt_site *key, double value);
VT_API void vt_async_attr_text(uint64_t id, struct vt_site *key, const char *value);

/* The site of a name that is made at run time; the same for equal names, valid for good. Names are
 * kept: there is room for 49,152, later ones share the name "(more names)". */
VT_API struct vt_site *vt_site_intern(const char *name);

#define VT_JOIN_(a, b) a##b
#define VT_JOIN(a, b) VT_JOIN_(a, b)
#define VT_SITE(name, unit, type)                                                                  \
    {                                                                                              \
        (name), __func__, __FILE__, (unit), __LINE__, (type), 0, 0                                 \
    }

/* From here to the end of the enclosing block. The scope has a number, so that a line may have several; the site has none, since inline
 * functions of C++ must name theirs alike wherever they are compiled. */
#define VT_SPAN(name) VT_SPAN_(name, __COUNTER__)
#define VT_SPAN_(name, number)                                                                     \
    struct vt_scope VT_JOIN(vt_scope_, number)                                                     \
        __attribute__((cleanup(vt_scope_leave), unused)) = {0};                                    \
    do {                                                                                           \
        if (vt_is_on()) {                                                                          \
            static struct vt_site vt_site_here = VT_SITE(name, "", 0);                             \
            vt_scope_open(&VT_JOIN(vt_scope_, number), &vt_site_here, __builtin_frame_address(0)); \
        }                                                                                          \
    } while (0)

#define VT_AT_(call, name, unit, type)                                                             \
    do {                                                                                           \
        if (vt_is_on()) {                                                                          \
            static struct vt_site vt_site_here = VT_SITE(name, unit, type);                        \
            call(&vt_site_here);                                                                   \
        }                                                                                          \
    } while (0)

/* Begin and end by hand, for spans that do not follow a scope; the name is a literal. */
#define VT_START(name) VT_AT_(vt_span_begin, name, "", 0)
#define VT_STOP() vt_stop()

/* The innermost span ends and the next begins, on one reading of the clock. */
#define VT_LAP(name) VT_AT_(vt_span_lap, name, "", 0)

/* Something happened. */
#define VT_MARK(name) VT_AT_(vt_mark_add, name, "", 2)

/* The same three with names that are made at run time. */
VT_INLINE void vt_start(const char *name)
{
    if (vt_is_on())
        vt_span_begin(vt_site_intern(name));
}

VT_INLINE void vt_lap(const char *name)
{
    if (vt_is_on())
        vt_span_lap(vt_site_intern(name));
}

VT_INLINE void vt_stop(void)
{
    if (vt_is_on())
        vt_span_end();
}

/* The innermost span failed; it still has to end. Either text may be NULL. */
#define VT_ERROR(type, message)                                                                    \
    do {                                                                                           \
        if (vt_is_on())                                                                            \
            vt_span_error(type, message);                                                          \
    } while (0)

/* A span that may end on another thread: `uint64_t id = VT_ASYNC_BEGIN("query"); … VT_ASYNC_END(id);` */
#define VT_ASYNC_BEGIN(name)                                                                       \
    (__extension__({                                                                               \
        static struct vt_site vt_site_here = VT_SITE(name, "", 0);                                 \
        vt_is_on() ? vt_async_start(&vt_site_here) : 0;                                            \
    }))
#define VT_ASYNC_END(id) vt_async_leave(id, 0)
#define VT_ASYNC_FAIL(id) vt_async_leave(id, 1)

VT_INLINE void vt_async_leave(uint64_t id, int failed)
{
    if (__builtin_expect(id != 0, 0))
        vt_async_stop(id, failed);
}

#ifdef __cplusplus
} /* extern "C" */

extern "C++" {
template <typename T> inline void vt_attr_any(vt_site *key, T value)
{
    if (static_cast<T>(-1) < static_cast<T>(1))
        vt_attr_int(key, static_cast<int64_t>(value));
    else
        vt_attr_uint(key, static_cast<uint64_t>(value));
}
inline void vt_attr_any(vt_site *key, double value)
{
    vt_attr_double(key, value);
}
inline void vt_attr_any(vt_site *key, float value)
{
    vt_attr_double(key, value);
}
inline void vt_attr_any(vt_site *key, bool value)
{
    vt_attr_int(key, value);
}
inline void vt_attr_any(vt_site *key, const char *value)
{
    vt_attr_text(key, value);
}
inline void vt_attr_any(vt_site *key, char *value)
{
    vt_attr_text(key, value);
}
template <typename T> inline void vt_counter_any(vt_site *site, T value)
{
    if (static_cast<T>(-1) < static_cast<T>(1))
        vt_counter_int(site, static_cast<int64_t>(value));
    else
        vt_counter_uint(site, static_cast<uint64_t>(value));
}
inline void vt_counter_any(vt_site *site, double value)
{
    vt_counter_double(site, value);
}
inline void vt_counter_any(vt_site *site, float value)
{
    vt_counter_double(site, value);
}
}
extern "C" {
#define VT_ATTR_(key, value) vt_attr_any(key, value)
#define VT_COUNTER_(site, value) vt_counter_any(site, value)
#else
#define VT_ATTR_(key, value)                                                                       \
    _Generic((value), float                                                                        \
             : vt_attr_double, double                                                              \
             : vt_attr_double, char *                                                              \
             : vt_attr_text, const char *                                                          \
             : vt_attr_text, unsigned long                                                         \
             : vt_attr_uint, unsigned long long                                                    \
             : vt_attr_uint, default                                                               \
             : vt_attr_int)(key, value)
#define VT_COUNTER_(site, value)                                                                   \
    _Generic((value), float                                                                        \
             : vt_counter_double, double                                                           \
             : vt_counter_double, unsigned long                                                    \
             : vt_counter_uint, unsigned long long                                                 \
             : vt_counter_uint, default                                                            \
             : vt_counter_int)(site, value)
#endif

/* A fact about the innermost open span: an integer, a double or a string. The key is a literal. */
#define VT_ATTR(key, value)                                                                        \
    do {                                                                                           \
        if (vt_is_on()) {                                                                          \
            static struct vt_site vt_site_here = VT_SITE(key, "", 3);                              \
            VT_ATTR_(&vt_site_here, value);                                                        \
        }                                                                                          \
    } while (0)

/* The value of something over time, with its unit: VT_COUNTER("queue", "items", depth). */
#define VT_COUNTER(name, unit, value)                                                              \
    do {                                                                                           \
        if (vt_is_on()) {                                                                          \
            static struct vt_site vt_site_here = VT_SITE(name, unit, 1);                           \
            VT_COUNTER_(&vt_site_here, value);                                                     \
        }                                                                                          \
    } while (0)

/*
 * So many items of work are done: what throughput is worked out from. VT_ITEMS_DONE(n) says how many of them ran to the
 * end, where that is not all of them. Counters with reserved names: the sum of what each use added is what counts.
 */
#define VT_ITEMS_NAME "venturi.items"
#define VT_ITEMS_DONE_NAME "venturi.items.effective"
#define VT_ITEMS(n) VT_COUNTER(VT_ITEMS_NAME, "items", (int64_t)(n))
#define VT_ITEMS_DONE(n) VT_COUNTER(VT_ITEMS_DONE_NAME, "items", (int64_t)(n))

#ifdef __cplusplus
}
#endif

#else /* VT_OFF: nothing is left; values are not even computed */

#define VT_SPAN(name) ((void)0)
#define VT_START(name) ((void)0)
#define VT_STOP() ((void)0)
#define VT_LAP(name) ((void)0)
#define VT_MARK(name) ((void)0)
#define VT_ERROR(type, message) ((void)0)
#define VT_ATTR(key, value) ((void)sizeof(value))
#define VT_COUNTER(name, unit, value) ((void)sizeof(value))
#define VT_ITEMS(n) ((void)sizeof(n))
#define VT_ITEMS_DONE(n) ((void)sizeof(n))
#define VT_ASYNC_BEGIN(name) ((uint64_t)0)
#define VT_ASYNC_END(id) ((void)(id))
#define VT_ASYNC_FAIL(id) ((void)(id))
#define vt_start(name) ((void)sizeof(name))
#define vt_lap(name) ((void)sizeof(name))
#define vt_stop() ((void)0)
#define vt_is_on() 0

#endif
#endif
