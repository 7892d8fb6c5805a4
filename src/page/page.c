/*
 * page.c - a page from its first byte to its last: the shell, blocks, notes, the directory.
 *
 * What a recording says reaches the file as base64 or in the directory, in which nothing can end the element.
 */
#include "page/page.h"

#include "base/error.h"
#include "base/utf8.h"
#include "export/gzip.h"
#include "page/page_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARKER "<!--venturi:data-->"
#define NOTE_BYTES 1024

int vti_page_write(struct vti_page *page, const void *bytes, size_t count)
{
    return page->sink.write(page->sink.arg, bytes, count);
}

static int write_text(struct vti_page *page, const char *text)
{
    return vti_page_write(page, text, strlen(text));
}

static int start(struct vti_page *page)
{
    size_t size = (size_t)(vti_page_shell_end - vti_page_shell);
    const char *marker = memmem(vti_page_shell, size, MARKER, strlen(MARKER));

    if (!marker)
        return vti_fail(VTI_E_NOT_FOUND, "the page inside of this tool has no place for data");
    page->rest = marker + strlen(MARKER);
    vti_json_init(&page->directory_json, &page->directory);
    vti_json_init(&page->tables_json, &page->tables);
    vti_json_init(&page->notes_json, &page->notes);
    vti_json_object(&page->directory_json);
    vti_json_add_int(&page->directory_json, "page", 1);
    vti_json_add_string(&page->directory_json, "tool", "venturi " VENTURI_VERSION);
    vti_json_array(&page->tables_json);
    vti_json_array(&page->notes_json);
    return vti_page_write(page, vti_page_shell, (size_t)(marker - vti_page_shell));
}

int vti_page_open(struct vti_page **result, const struct vti_sink *sink)
{
    struct vti_page *page = calloc(1, sizeof *page);
    int code;

    *result = NULL;
    if (!page)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    page->sink = *sink;
    page->base64.to = &page->sink;
    code = vti_page_texts_init(page);
    if (!code)
        code = start(page);
    if (code)
        vti_page_abandon(page);
    else
        *result = page;
    return code;
}

void vti_page_abandon(struct vti_page *page)
{
    if (!page)
        return;
    vti_page_table_fini(&page->table);
    vti_map_free(page->texts);
    vti_buf_fini(&page->repaired);
    vti_buf_fini(&page->directory);
    vti_buf_fini(&page->tables);
    vti_buf_fini(&page->notes);
    vti_buf_fini(&page->piece);
    free(page);
}

struct vti_json *vti_page_directory(struct vti_page *page)
{
    return &page->directory_json;
}

void vti_page_note(struct vti_page *page, const char *kind, const char *format, ...)
{
    char text[NOTE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vti_json_object(&page->notes_json);
    vti_json_add_string(&page->notes_json, "kind", kind);
    vti_json_add_string(&page->notes_json, "text", text);
    vti_json_object_end(&page->notes_json);
}

int vti_page_block(struct vti_page *page, int (*fill)(struct vti_page *page, struct vti_gzip *gzip))
{
    const struct vti_sink base64 = {vti_base64_write, &page->base64};
    struct vti_gzip *gzip;
    char begin[96];
    int code = vti_gzip_create(&gzip, &base64);

    if (code)
        return code;
    snprintf(begin, sizeof begin,
             "<script type=\"application/octet-stream\" id=\"venturi-block-%u\">",
             page->block_count++);
    vti_buf_clear(&page->piece);
    code = write_text(page, begin);
    if (!code)
        code = fill(page, gzip);
    if (!code)
        code = vti_gzip_finish(gzip, &page->piece);
    if (!code)
        code = vti_base64_finish(&page->base64);
    if (!code)
        code = write_text(page, "</script>\n");
    vti_gzip_free(gzip);
    return code;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Length of a character that could end the element or, in old browsers, a line of script; 0: it is none. */
static size_t dangerous(const uint8_t *at, size_t left, unsigned *character)
{
    if (*at == '<' || *at == '>' || *at == '&') {
        *character = *at;
        return 1;
    }
    if (left < 3 || at[0] != 0xe2 || at[1] != 0x80 || (at[2] != 0xa8 && at[2] != 0xa9))
        return 0;
    *character = 0x2000u | (at[2] & 0x3fu);
    return 3;
}

/* All of these stand in strings: the directory's own marks are others. */
static void escape(struct vti_buf *to, const struct vti_buf *from)
{
    size_t begin = 0;
    size_t at = 0;

    while (at < from->len) {
        unsigned character;
        size_t len = dangerous(from->data + at, from->len - at, &character);

        if (!len) {
            at++;
            continue;
        }
        vti_buf_add(to, from->data + begin, at - begin);
        vti_buf_printf(to, "\\u%04x", character);
        at += len;
        begin = at;
    }
    vti_buf_add(to, from->data + begin, at - begin);
}

static void add_part(struct vti_page *page, const char *key, struct vti_buf *part)
{
    vti_buf_add_u8(part, 0);
    vti_json_key(&page->directory_json, key);
    vti_json_raw(&page->directory_json, part->failed ? "[]" : (const char *)part->data);
    page->directory.failed |= part->failed;
}

static int write_directory(struct vti_page *page)
{
    struct vti_buf safe = {0};
    int code;

    vti_json_array_end(&page->tables_json);
    vti_json_array_end(&page->notes_json);
    add_part(page, "tables", &page->tables);
    add_part(page, "notes", &page->notes);
    vti_json_object_end(&page->directory_json);
    escape(&safe, &page->directory);
    if (page->directory.failed || safe.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    else
        code = write_text(page, "<script type=\"application/json\" id=\"venturi-directory\">");
    if (!code)
        code = vti_page_write(page, safe.data, safe.len);
    if (!code)
        code = write_text(page, "</script>\n");
    vti_buf_fini(&safe);
    return code;
}

int vti_page_close(struct vti_page *page)
{
    int code = page->failure ? vti_fail(page->failure, "out of memory") : 0;

    if (!code)
        code = vti_page_texts_write(page);
    if (!code)
        code = write_directory(page);
    if (!code)
        code = vti_page_write(page, page->rest, (size_t)(vti_page_shell_end - page->rest));
    vti_page_abandon(page);
    return code;
}
