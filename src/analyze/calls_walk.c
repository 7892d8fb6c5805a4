/* calls_walk.c - depth first over a tree of calls of any depth. Uses memory for the links, no stack. */
#include "analyze/calls.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct links {
    uint32_t *child;   /* of each call the first; VT_NONE: none */
    uint32_t *sibling; /* of each call the next */
    uint32_t first_root;
};

static int make_links(struct links *links, const struct vti_calls *calls)
{
    size_t count = calls->call_count;

    links->first_root = VT_NONE;
    links->child = malloc((count + 1) * sizeof *links->child);
    links->sibling = malloc((count + 1) * sizeof *links->sibling);
    if (!links->child || !links->sibling)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    memset(links->child, 0xff, (count + 1) * sizeof *links->child);
    for (size_t i = count; i-- > 0;) {
        uint32_t parent = calls->calls[i].parent;
        uint32_t *head = parent == VT_NONE ? &links->first_root : &links->child[parent];

        links->sibling[i] = *head;
        *head = (uint32_t)i;
    }
    return 0;
}

int vti_calls_walk(const struct vti_calls *calls, int (*enter)(uint32_t call, void *arg),
                   int (*leave)(uint32_t call, void *arg), void *arg)
{
    struct links links;
    int code = make_links(&links, calls);
    uint32_t at = links.first_root;

    while (!code && at != VT_NONE) {
        code = enter(at, arg);
        if (!code && links.child[at] != VT_NONE) {
            at = links.child[at];
            continue;
        }
        while (!code && at != VT_NONE) {
            uint32_t next = links.sibling[at];

            code = leave(at, arg);
            at = next != VT_NONE ? next : calls->calls[at].parent;
            if (next != VT_NONE)
                break;
        }
    }
    free(links.child);
    free(links.sibling);
    return code;
}
