/*
 * python_facts.c - keys with dots become objects inside each other again, no key twice in any of them.
 *
 * A tree whose nodes are parts of keys in order of appearance. How many facts there are, and how their keys are made, is the file's to choose: children are
 * looked for in a table, and parts beyond a bound stay together.
 */
#include "export/python_facts.h"

#include "base/error.h"
#include "base/hash.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define PARTS_MOST 64 /* of a key between dots */
#define NODES_FEW 32u /* among which a child is found by looking at all of them */
#define NONE UINT32_MAX
#define HOST "host"

struct vti_python_fact {
    const char *part;
    size_t len;
    const struct vti_trace_attr *attr; /* NULL: only what is inside */
    uint32_t parent, first, last, next;
};

int vti_python_facts_start(struct vti_python_facts *facts)
{
    if (vti_grow(&facts->nodes, 0, &facts->room, sizeof *facts->nodes))
        return VTI_E_NOMEM;
    facts->nodes[0] = (struct vti_python_fact){"", 0, NULL, NONE, NONE, NONE, NONE};
    facts->count = 1;
    facts->slots = 0;
    return 0;
}

void vti_python_facts_fini(struct vti_python_facts *facts)
{
    free(facts->nodes);
    free(facts->table);
}

static bool is_child(const struct vti_python_fact *node, uint32_t parent, const char *part,
                     size_t len)
{
    return node->parent == parent && node->len == len && !memcmp(node->part, part, len);
}

/* Where the child stands in the table, or the free place for it. */
static uint32_t *locate(const struct vti_python_facts *facts, uint32_t parent, const char *part,
                        size_t len)
{
    size_t at = (vti_hash(part, len) ^ parent * UINT64_C(0x9e3779b97f4a7c15)) & (facts->slots - 1);

    while (facts->table[at] && !is_child(&facts->nodes[facts->table[at] - 1], parent, part, len))
        at = (at + 1) & (facts->slots - 1);
    return &facts->table[at];
}

/* So that at least half of the table is free. */
static int grow_table(struct vti_python_facts *facts)
{
    size_t slots = facts->slots ? facts->slots * 2 : 4 * NODES_FEW;

    if (facts->count < NODES_FEW || facts->count * 2 < facts->slots)
        return 0;
    free(facts->table);
    facts->slots = 0;
    facts->table = calloc(slots, sizeof *facts->table);
    if (!facts->table)
        return VTI_E_NOMEM;
    facts->slots = slots;
    for (uint32_t i = 1; i < facts->count; i++) {
        const struct vti_python_fact *node = &facts->nodes[i];

        *locate(facts, node->parent, node->part, node->len) = i + 1;
    }
    return 0;
}

static uint32_t find(const struct vti_python_facts *facts, uint32_t parent, const char *part,
                     size_t len)
{
    if (facts->slots)
        return *locate(facts, parent, part, len) - 1;
    for (uint32_t at = facts->nodes[parent].first; at != NONE; at = facts->nodes[at].next)
        if (is_child(&facts->nodes[at], parent, part, len))
            return at;
    return NONE;
}

/* The child of that name, made if there is none; NONE without memory. */
static uint32_t child_of(struct vti_python_facts *facts, uint32_t parent, const char *part,
                         size_t len)
{
    uint32_t at = find(facts, parent, part, len);
    struct vti_python_fact *above;

    if (at != NONE)
        return at;
    if (vti_grow(&facts->nodes, facts->count, &facts->room, sizeof *facts->nodes))
        return NONE;
    at = (uint32_t)facts->count;
    facts->nodes[facts->count++] = (struct vti_python_fact){part, len,  NULL, parent,
                                                            NONE, NONE, NONE};
    above = &facts->nodes[parent];
    if (above->first == NONE)
        above->first = at;
    else
        facts->nodes[above->last].next = at;
    above->last = at;
    if (facts->slots)
        *locate(facts, parent, part, len) = at + 1;
    return grow_table(facts) ? NONE : at;
}

int vti_python_facts_add(struct vti_python_facts *facts, const struct vti_trace_attr *attr)
{
    const char *key = attr->key;
    uint32_t at = 0;

    for (unsigned parts = 1; at != NONE; parts++) {
        size_t len = parts < PARTS_MOST ? strcspn(key, ".") : strlen(key);

        at = child_of(facts, at, key, len);
        if (!key[len])
            break;
        key += len + 1;
    }
    if (at == NONE)
        return VTI_E_NOMEM;
    facts->nodes[at].attr = attr;
    return 0;
}

/* What is both a value and an object has the value inside, under "". */
static int part_values(struct vti_python_facts *facts)
{
    size_t count = facts->count;

    for (uint32_t i = 1; i < count; i++) {
        uint32_t inside;

        if (!facts->nodes[i].attr || facts->nodes[i].first == NONE)
            continue;
        inside = child_of(facts, i, "", 0);
        if (inside == NONE)
            return VTI_E_NOMEM;
        if (!facts->nodes[inside].attr && facts->nodes[inside].first == NONE)
            facts->nodes[inside].attr = facts->nodes[i].attr;
        facts->nodes[i].attr = NULL;
    }
    return 0;
}

int vti_python_facts_write(struct vti_python_facts *facts, struct vti_python_json *json,
                           const char *host)
{
    uint32_t host_at = child_of(facts, 0, HOST, sizeof HOST - 1);
    bool is_first = true;

    if (host_at == NONE || part_values(facts))
        return VTI_E_NOMEM;
    for (uint32_t at = facts->nodes[0].first; at;) {
        const struct vti_python_fact *node = &facts->nodes[at];

        if (at == host_at) {
            vti_python_json_maybe(json, &is_first, HOST, host);
        } else {
            vti_python_json_key(json, &is_first, node->part, node->len);
            if (node->first != NONE) {
                vti_python_json_open(json, '{');
                is_first = true;
                at = node->first;
                continue;
            }
            vti_python_json_value(json, &node->attr->value);
        }
        while (at && facts->nodes[at].next == NONE) { /* the last of its object */
            at = facts->nodes[at].parent;
            if (at)
                vti_python_json_close(json, '}');
        }
        at = at ? facts->nodes[at].next : 0;
    }
    return 0;
}
