/*
 * collapsed.c - folded stacks ("main;load;read 1200") become a tree of calls. Numbers are taken for
 * microseconds; how often a function was called is not in such a file, each place counts as one call.
 */
#include "base/error.h"
#include "format/calls.h"
#include "import/target.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MOST (16u << 20)
#define FRAME_LOOK 4096u /* bytes in which a longer line shows that it is a stack */
#define NS_MOST 1e18     /* more than any clock has */
#define BLOCK_ENTRIES 4096u

struct node {
    uint32_t parent; /* number, from 1; 0: none */
    uint32_t site;
    uint64_t total_ns; /* that of the node alone until all is read */
};

struct collapsed {
    const struct vti_import_input *input;
    struct vti_import_target *target;
    struct vti_map *places; /* (parent, site) to number - 1 */
    struct node *nodes;
    size_t count, room;
    size_t line;
};

/* The text before the last blank and the number behind it. */
static bool split_line(const char *line, size_t len, size_t *stack_len, double *microseconds)
{
    char number[64];
    char *end;
    size_t at = len;

    while (at && line[at - 1] != ' ' && line[at - 1] != '\t')
        at--;
    if (!at || at == len || len - at >= sizeof number)
        return false;
    memcpy(number, line + at, len - at);
    number[len - at] = 0;
    if (strspn(number, "0123456789.") != len - at)
        return false;
    *microseconds = strtod(number, &end);
    *stack_len = at - 1;
    return !*end && at > 1;
}

/* A stack and a number, or the beginning of one that is too long to be looked at. */
static bool is_stack(const uint8_t *line, size_t len)
{
    double microseconds;

    if (len > LINE_MOST)
        return memchr(line, ';', FRAME_LOOK) && !memchr(line, 0, FRAME_LOOK);
    return !memchr(line, 0, len) && split_line((const char *)line, len, &len, &microseconds);
}

static bool fits(const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;

    for (;;) { /* the first line that is not empty and no remark */
        size_t left = (size_t)(end - data);
        const uint8_t *newline = memchr(data, '\n', left < LINE_MOST ? left : LINE_MOST);
        size_t len = newline ? (size_t)(newline - data) : left;

        if (len && data[len - 1] == '\r')
            len--;
        if (len && data[0] != '#')
            return is_stack(data, len);
        if (!newline)
            return false;
        data = newline + 1;
    }
}

/* "name (file:12)" is a name and a place; anything else is a name. */
static uint32_t site_of(struct collapsed *collapsed, const char *frame, size_t len)
{
    struct vti_site_fact site = {
        .type = VTI_SITE_FUNCTION, .name = {frame, len}, .function = {frame, len}};
    size_t open = len;
    size_t colon;
    uint64_t line = 0;

    while (open && (frame[open - 1] != '(' || open < 2 || frame[open - 2] != ' '))
        open--;
    colon = len ? len - 1 : 0;
    while (colon > open && frame[colon - 1] >= '0' && frame[colon - 1] <= '9')
        colon--;
    if (open > 2 && frame[len - 1] == ')' && colon > open && colon < len - 1 &&
        frame[colon - 1] == ':' && len - colon < 10) {
        for (size_t i = colon; i < len - 1; i++)
            line = line * 10 + (uint64_t)(frame[i] - '0');
        site.name = site.function = (struct vti_bytes){frame, open - 2};
        site.file = (struct vti_bytes){frame + open, colon - 1 - open};
        site.line = (uint32_t)line;
        if (site.file.len > 3 && !memcmp(site.file.data + site.file.len - 3, ".py", 3))
            site.unit = vti_bytes_of("python");
    }
    return vti_import_site(collapsed->target, &site);
}

/* The number of the node, negative without memory. */
static int64_t find_node(struct collapsed *collapsed, uint32_t parent, uint32_t site)
{
    uint32_t key[2] = {parent, site};
    int is_new;
    int64_t at;

    if (vti_grow(&collapsed->nodes, collapsed->count, &collapsed->room, sizeof *collapsed->nodes))
        return VTI_E_NOMEM;
    at = vti_map_add(collapsed->places, key, sizeof key, &is_new);
    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (is_new)
        collapsed->nodes[collapsed->count++] = (struct node){parent, site, 0};
    return at + 1;
}

static int refuse(const struct collapsed *collapsed, const char *what)
{
    return vti_fail(VTI_E_DAMAGED, "%s: line %zu: %s", collapsed->input->path, collapsed->line,
                    what);
}

static int take_line(struct collapsed *collapsed, const char *line, size_t len)
{
    double microseconds;
    int64_t node = 0;
    size_t at = 0;

    if (len && line[len - 1] == '\r')
        len--;
    if (!len || line[0] == '#')
        return 0;
    if (len > LINE_MOST)
        return refuse(collapsed, "too long");
    if (!split_line(line, len, &len, &microseconds))
        return refuse(collapsed, "not a stack and a number");
    if (!(microseconds * 1000 < NS_MOST))
        return refuse(collapsed, "a number too large");
    while (at <= len) {
        const char *semicolon = memchr(line + at, ';', len - at);
        size_t frame = semicolon ? (size_t)(semicolon - line) - at : len - at;
        uint32_t site = site_of(collapsed, line + at, frame);

        node = site ? find_node(collapsed, (uint32_t)node, site) : VTI_E_NOMEM;
        if (node < 0)
            return (int)node;
        at += frame + 1;
    }
    collapsed->nodes[node - 1].total_ns += (uint64_t)(microseconds * 1000 + 0.5);
    return 0;
}

static int take_lines(struct collapsed *collapsed)
{
    const char *at = (const char *)collapsed->input->data;
    size_t left = collapsed->input->size;
    int code = 0;

    while (left && !code) {
        const char *newline = memchr(at, '\n', left);
        size_t len = newline ? (size_t)(newline - at) : left;

        collapsed->line++;
        code = take_line(collapsed, at, len);
        at += len + (newline != NULL);
        left -= len + (newline != NULL);
        if (collapsed->line % 4096 == 0 && collapsed->input->is_stopped &&
            collapsed->input->is_stopped())
            return vti_fail(VTI_E_TIMEOUT, "interrupted, nothing written");
    }
    if (!code && !collapsed->count)
        return vti_fail(VTI_E_EMPTY, "%s: holds no stacks", collapsed->input->path);
    return code;
}

static int write_nodes(struct collapsed *collapsed, uint64_t end)
{
    struct vti_import_target *target = collapsed->target;
    uint32_t count = 0;
    int code = vti_import_write_sites(target);

    for (size_t i = 0; i < collapsed->count && !code; i++) {
        const struct node *node = &collapsed->nodes[i];

        vti_call_write(&target->entry, &(struct vti_call_fact){.node = (uint32_t)i + 1,
                                                               .parent = node->parent,
                                                               .site = node->site,
                                                               .calls = 1,
                                                               .total = node->total_ns});
        if (++count == BLOCK_ENTRIES || i + 1 == collapsed->count) {
            code = vti_import_block(target, VTI_CALL_TREE, 0, count, end);
            count = 0;
        }
    }
    return code;
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    struct collapsed collapsed = {.input = input, .target = target};
    uint64_t end = 0;
    int code = vti_map_create(&collapsed.places);

    if (!code)
        code = take_lines(&collapsed);
    for (size_t i = collapsed.count; i-- > 0 && !code;) {
        struct node *node = &collapsed.nodes[i];
        uint64_t *sum = node->parent ? &collapsed.nodes[node->parent - 1].total_ns : &end;

        if (__builtin_add_overflow(*sum, node->total_ns, sum))
            code = vti_fail(VTI_E_DAMAGED, "%s: the sum is too large", input->path);
    }
    if (!code)
        code = vti_import_process(target, 0, 0, "imported", end);
    if (!code)
        code = vti_import_track(target, 0, 0, 0, "imported", end, false);
    if (!code)
        code = write_nodes(&collapsed, end);
    vti_map_free(collapsed.places);
    free(collapsed.nodes);
    return code;
}

const struct vti_importer vti_import_collapsed = {
    .name = "collapsed",
    .summary = "stacks of flame graphs, in microseconds",
    .fits = fits,
    .run = run,
};
