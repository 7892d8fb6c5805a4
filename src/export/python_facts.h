/* python_facts.h - facts of a span as the nested objects that they were before their keys were joined by dots. */
#ifndef VENTURI_EXPORT_PYTHON_FACTS_H
#define VENTURI_EXPORT_PYTHON_FACTS_H

#include "analyze/traces.h"
#include "export/python_json.h"

struct vti_python_fact;

/* Memory that is used again for each span. */
struct vti_python_facts {
    struct vti_python_fact *nodes; /* owned */
    size_t count, room;
    uint32_t *table; /* owned; where nodes are, plus one, once there are many of them */
    size_t slots;    /* a power of two, or 0: there is no table */
};

/* Begins with none. All of these: 0 or a negative code. */
int vti_python_facts_start(struct vti_python_facts *facts);

/* Each key once in its object, where it was said first and as it was said last. */
int vti_python_facts_add(struct vti_python_facts *facts, const struct vti_trace_attr *attr);

/* The members of an object, with the host, null if "", as Python's services add it: in place of a fact of that name, else as the last. */
int vti_python_facts_write(struct vti_python_facts *facts, struct vti_python_json *json,
                           const char *host);
void vti_python_facts_fini(struct vti_python_facts *facts);

#endif
