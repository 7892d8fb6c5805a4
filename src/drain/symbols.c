/*
 * symbols.c - names and lines for C functions, from venturi-symbols.
 *
 * That is a program of its own: debug info is untrusted and its reader is large.
 */
#include "drain/symbols.h"

#include "base/bytes.h"
#include "drain/c_lines.h"

#include <string.h>

/* What is asked, and for which sites. */
struct questions {
    struct vti_buf text;
    struct vti_buf ids; /* u32 each, in order */
};

static bool is_plain(struct vti_bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ')
            return false;
    return true;
}

/* The collector's own way to say that it knows no name: "module+0xoffset" and no line. */
static bool is_unresolved(const struct vti_site_fact *site, const char **offset)
{
    *offset = memrchr(site->name.data, '+', site->name.len);
    return site->type == VTI_SITE_FUNCTION && site->line == 0 && site->unit.len == 1 &&
           site->unit.data[0] == 'c' && *offset && site->name.data + site->name.len - *offset > 3 &&
           !memcmp(*offset, "+0x", 3) && is_plain(site->file) && is_plain(site->function) &&
           is_plain(site->name);
}

static void gather(struct vti_recorder *recorder, struct questions *all)
{
    struct vti_site_fact site;
    const char *offset;

    for (uint32_t id = 1; id <= vti_recorder_site_count(recorder); id++) {
        if (vti_recorder_is_named(recorder, id) || !vti_recorder_get_site(recorder, id, &site) ||
            !is_unresolved(&site, &offset))
            continue;
        vti_buf_add(&all->text, site.file.data, site.file.len);
        vti_buf_add_u8(&all->text, '\t');
        vti_buf_add(&all->text, site.function.data, site.function.len);
        vti_buf_add_u8(&all->text, '\t');
        vti_buf_add(&all->text, offset + 1, (size_t)(site.name.data + site.name.len - offset - 1));
        vti_buf_printf(&all->text, "\t%u\n", vti_weights_share(vti_recorder_weights(recorder), id));
        vti_buf_add_u32(&all->ids, id);
    }
}

/* One answer: name, plain name, file, line. False if it says nothing. */
static bool take_answer(struct vti_recorder *recorder, uint32_t id, const char *line, size_t len)
{
    struct vti_site_fact site;
    struct vti_bytes parts[4];

    for (int i = 0; i < 4; i++) {
        const char *tab = i < 3 ? memchr(line, '\t', len) : line + len;

        if (!tab)
            return false;
        parts[i] = (struct vti_bytes){line, (size_t)(tab - line)};
        len -= parts[i].len + (i < 3);
        line = tab + 1;
    }
    if (!parts[0].len || !vti_recorder_get_site(recorder, id, &site))
        return false;
    site.name = parts[0];
    site.function = parts[1];
    if (parts[2].len)
        site.file = parts[2];
    for (size_t i = 0; i < parts[3].len && parts[3].data[i] >= '0' && parts[3].data[i] <= '9'; i++)
        site.line = site.line * 10 + (uint32_t)(parts[3].data[i] - '0');
    vti_recorder_put_site(recorder, &site);
    return true;
}

/* It stays an address; who reads the recording shows that, not the build id. */
static void give_up(struct vti_recorder *recorder, uint32_t id)
{
    struct vti_site_fact site;

    if (!vti_recorder_get_site(recorder, id, &site))
        return;
    site.function = site.name;
    vti_recorder_put_site(recorder, &site);
}

static void take_answers(struct vti_recorder *recorder, const struct questions *all,
                         const struct vti_buf *answers)
{
    const char *at = (const char *)answers->data;
    const char *limit = at ? at + answers->len : NULL;

    for (size_t i = 0; i < all->ids.len / sizeof(uint32_t); i++) {
        uint32_t id = vti_get_u32(all->ids.data + i * sizeof(uint32_t));
        const char *end = at ? memchr(at, '\n', (size_t)(limit - at)) : NULL;

        if (!end || !take_answer(recorder, id, at, (size_t)(end - at)))
            give_up(recorder, id);
        at = end ? end + 1 : NULL;
    }
}

/* Whether there was anybody to ask. */
static bool ask(struct vti_recorder *recorder, const struct questions *all)
{
    struct vti_buf answers = {0};
    bool is_asked = vti_symbols_ask(NULL, &all->text, NULL, &answers);

    take_answers(recorder, all, &answers);
    vti_buf_fini(&answers);
    return is_asked;
}

uint32_t vti_symbols_name(struct vti_recorder *recorder)
{
    struct questions all = {0};
    uint32_t nameless = 0;

    gather(recorder, &all);
    if (all.ids.len && !all.text.failed && !all.ids.failed && !ask(recorder, &all))
        nameless = (uint32_t)(all.ids.len / sizeof(uint32_t));
    vti_buf_fini(&all.text);
    vti_buf_fini(&all.ids);
    return nameless;
}

uint32_t vti_symbols_resolve(struct vti_recorder *recorder)
{
    uint32_t nameless = vti_symbols_name(recorder);

    vti_c_lines_write(vti_recorder_c_lines(recorder), recorder);
    return nameless;
}
