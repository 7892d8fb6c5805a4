/*
 * trace.h - trace points of Python: what the files trace_*.c share.
 *
 * The current place in a trace is the value of one context variable: a node. Tasks, copied contexts and generators thereby see what was
 * current when their context was made, and nothing here is a thread's own. Nothing of ours fails into the program: what goes wrong in here is
 * dropped (vti_py_trace_forgive).
 */
#ifndef VENTURI_PY_TRACE_H
#define VENTURI_PY_TRACE_H

#include "interpreter.h"

#include <stdbool.h>
#include <venturi/context.h>

/* A trace, as those who are in it know it: Python's Profiler is made of it. */
struct vti_py_owner {
    PyObject_HEAD PyObject *key;
    PyObject *base_text, *parent_text; /* as they were given */
    PyObject *tracestate;              /* a text or None */
    unsigned flags;
    struct vt_id base, parent;
    const void *home; /* the context that it was begun in, never looked into; NULL: none */
    bool is_over;     /* it has ended there */
};

/* A span that is or was open, or the bottom of a trace, which has no name. Also what `with Trace(...) as span` gives. */
struct vti_py_node {
    PyObject_HEAD struct vti_py_node *outer; /* what was current when it began */
    struct vti_py_owner *owner;              /* NULL: of no trace */
    PyObject *name;
    PyObject *attrs;                       /* a dict, or NULL */
    PyObject *id_text;                     /* NULL until somebody asks */
    PyHamtObject *vars_before, *vars_here; /* the context's, without and with it */
    const void *token;   /* who ends it: a Trace, a decorated function; NULL: stop() */
    const void *context; /* that it was begun in, never looked into */
    uint64_t number;     /* in the recording; 0: it is not there */
    uint32_t generation; /* which of the forked processes it is a span of */
    bool is_open;
    bool is_passed;    /* it has ended while others within it went on: nobody comes back to it */
    struct vt_id span; /* of a bottom: the parent of what begins there */
};

/* What is told when a span begins or ends: a dict, or facts that stand for it in a recording. */
struct vti_py_said {
    PyObject *info;
    const struct vt_trace_fact *facts;
    size_t count;
};

enum { VTI_PY_FACTS_MAX = 64 };

/* Facts, and the objects that their texts are in. */
struct vti_py_facts {
    size_t count, kept_count;
    struct vt_trace_fact list[VTI_PY_FACTS_MAX];
    PyObject *kept[VTI_PY_FACTS_MAX];
};

extern PyTypeObject vti_py_owner_type, vti_py_node_type, vti_py_with_type, vti_py_point_type,
    vti_py_section_type, vti_py_steps_type;

/* How many nodes there are: with none, nothing is current anywhere. */
extern VTI_PY_HIDDEN Py_ssize_t vti_py_node_count;
extern VTI_PY_HIDDEN uint32_t vti_py_trace_generation; /* goes up in a forked child */
extern VTI_PY_HIDDEN PyObject *vti_py_notifier;        /* NULL: nobody is told */

int vti_py_trace_init(PyObject *module); /* adds types and functions to the module */
int vti_py_node_init(void);
int vti_py_facts_init(void);
int vti_py_news_init(void);
int vti_py_error_init(void);
int vti_py_with_init(void);

PyObject *vti_py_id_is_fit(PyObject *self, PyObject *text);

/* ---- trace_ask.c: code of the program that is called in between ------------------------------ */

struct vti_py_asking {
    struct vti_py_node *current;
    bool was_asking;
};

extern VTI_PY_HIDDEN int vti_py_asking_count; /* threads that ask; with none, nobody need look */
extern VTI_PY_HIDDEN int vti_py_aside_count;

bool vti_py_thread_is_asking(void);

static inline bool vti_py_is_asking(void) /* this thread */
{
    return vti_py_unlikely(vti_py_asking_count) && vti_py_thread_is_asking();
}

void vti_py_ask_begin(struct vti_py_asking *asking);
void vti_py_ask_end(struct vti_py_asking *asking); /* an exception that is set stays so */

/* An error of ours, or of what the program gave us to print, goes no further. What is no Exception is put aside. */
void vti_py_trace_forgive(void);
bool vti_py_trace_raise_aside(void); /* true: it is set now */

/* Asked at the end of whatever the program calls. */
static inline bool vti_py_trace_is_raised(void)
{
    return vti_py_unlikely(vti_py_aside_count) && vti_py_trace_raise_aside();
}

/* ---- trace_node.c: the current place -------------------------------------------------------- */

struct vti_py_node *vti_py_node_current(void); /* a new reference; NULL: none */
void vti_py_node_set(struct vti_py_node *node);
const void *vti_py_context_here(void); /* to compare, not to look into; NULL: none yet */

/* A thread that was started in a trace is in it until that has ended where it was begun. */
PyObject *vti_py_node_inherit(PyObject *self, PyObject *node); /* gives what it was before */

/* Takes the reference to `outer` over, also when it gives NULL: then without an exception. */
struct vti_py_node *vti_py_node_new(struct vti_py_node *outer, struct vti_py_owner *owner,
                                    PyObject *name);

/* Entering makes it current; leaving, what is around it: it is current then, or around what is. Forgetting: it will not be left. */
void vti_py_node_enter(struct vti_py_node *node);
void vti_py_node_leave(struct vti_py_node *node);
void vti_py_node_forget(struct vti_py_node *node);

/* One that has ended keeps none that have ended. */
void vti_py_node_shorten(struct vti_py_node *node);
bool vti_py_node_is_within(const struct vti_py_node *node, const struct vti_py_node *current);

/* Its UUID as text, a borrowed reference; NULL with an exception: no memory. */
PyObject *vti_py_node_id(struct vti_py_node *node);

/* The nearest node of a trace that is not above this one. NULL: there is none. */
struct vti_py_node *vti_py_node_of(struct vti_py_node *node, const struct vti_py_owner *owner);

/* ---- trace_span.c: spans begin and end ------------------------------------------------------ */

/* Whether a span would be seen by anybody. Then *current is a reference, or NULL. */
static inline bool vti_py_trace_is_on(struct vti_py_node **current)
{
    *current = NULL;
    if (vti_py_is_asking())
        return false;
    if (vti_py_node_count)
        *current = vti_py_node_current();
    if (vt_is_on())
        return true;
    if (vti_py_likely(!*current))
        return false;
    if ((*current)->owner)
        return true;
    Py_CLEAR(*current);
    return false;
}

/* Begins a span; NULL if it could not be, without an exception. Takes the reference to `current` over. */
struct vti_py_node *vti_py_span_begin(struct vti_py_node *current, struct vti_py_owner *owner,
                                      PyObject *name, struct vt_site **site,
                                      const struct vti_py_said *said, const void *token);

/*
 * Ends it, and what start() has begun within. Any exception that is set stays so. `info`: a dict or NULL. The first, of a call: what is around
 * it is current again. The second, of a block, which a generator may end at any time: unless others within it go on. The third leaves
 * alone what is current.
 */
void vti_py_span_end(struct vti_py_node *node, PyObject *info, bool is_failed);
void vti_py_span_end_block(struct vti_py_node *node, PyObject *info, bool is_failed);
void vti_py_span_end_within(struct vti_py_node *node, struct vti_py_node *current, PyObject *info,
                            bool is_failed);
struct vt_site *vti_py_trace_site_known(PyObject *name); /* that of a literal, quickly */
PyObject *vti_py_span_start(struct vti_py_owner *owner, PyObject *name, PyObject *info);
PyObject *vti_py_span_stop(struct vti_py_owner *owner, PyObject *info);

/* ---- trace_room.c ----------------------------------------------------------------------------- */

/* PyObject_Vectorcall() for a function of the program. */
PyObject *vti_py_trace_call(PyObject *function, PyObject *const *args, size_t flags,
                            PyObject *names);

/* ---- trace_steps.c: runs of generators and coroutines ------------------------------------------ */

/* Takes the reference over if it succeeds. */
PyObject *vti_py_section_new(struct vti_py_node *node);
struct vti_py_node *vti_py_section_node(PyObject *section); /* borrowed; NULL: it is no section */
void vti_py_section_end(PyObject *section, PyObject *info, bool is_failed);

/* ---- trace_facts.c ---------------------------------------------------------------------------- */

struct vt_site *vti_py_trace_site(PyObject *name, uint32_t type);  /* NULL: no memory */
void vti_py_facts_add(struct vti_py_facts *facts, PyObject *info); /* a dict, flattened */
void vti_py_facts_add_service(struct vti_py_facts *facts);
void vti_py_facts_drop(struct vti_py_facts *facts);
PyObject *vti_py_service(PyObject *self, PyObject *args);

/* ---- trace_news.c: what a notifier is told ---------------------------------------------------- */

void vti_py_news_tell(struct vti_py_node *node, bool is_end, PyObject *info);
PyObject *vti_py_news_set(PyObject *self, PyObject *args);

/* ---- trace_native.c: trace points of C code below Python's ------------------------------------ */

PyObject *vti_py_native_enter(PyObject *self, PyObject *unused);
PyObject *vti_py_native_leave(PyObject *self, PyObject *before);

/* ---- trace_error.c: exceptions and values as texts -------------------------------------------- */

PyObject *vti_py_error_info(PyObject *error);            /* {"etype", "message"} */
PyObject *vti_py_text_of(PyObject *value, bool is_repr); /* cut; never fails but for memory */

/* Two parameters by place or name, the second one may be left out. */
int vti_py_two(const char *function, const char *const names[2], PyObject *const *args,
               Py_ssize_t count, PyObject *keywords, PyObject *values[2]);

#endif
