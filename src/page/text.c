/* text.c - the texts of a page: each once, as UTF-8, numbered in the order in which they came. */
#include "base/error.h"
#include "base/utf8.h"
#include "export/gzip.h"
#include "page/page_impl.h"

#include <string.h>

int vti_page_texts_init(struct vti_page *page)
{
    int code = vti_map_create(&page->texts);

    if (code)
        return vti_fail(code, "out of memory");
    vti_page_bytes(page, "", 0);
    return page->failure;
}

uint64_t vti_page_bytes(struct vti_page *page, const char *text, size_t len)
{
    int is_new;
    int64_t at = VTI_E_NOMEM;

    if (vti_utf8_good(text, len) < len) {
        vti_buf_clear(&page->repaired);
        vti_utf8_repair(&page->repaired, text, len);
        text = (const char *)page->repaired.data;
        len = page->repaired.len;
    }
    if (!page->repaired.failed && len <= UINT32_MAX)
        at = vti_map_add(page->texts, text, len, &is_new);
    if (at >= 0)
        return (uint64_t)at;
    page->failure = VTI_E_NOMEM;
    return 0;
}

uint64_t vti_page_text(struct vti_page *page, const char *text)
{
    return text ? vti_page_bytes(page, text, strlen(text)) : 0;
}

static int fill(struct vti_page *page, struct vti_gzip *gzip)
{
    uint32_t count = vti_map_count(page->texts);
    size_t len;
    int code = 0;

    for (uint32_t i = 0; i < count && !code; i++) {
        vti_map_key(page->texts, i, &len);
        vti_buf_add_u32(&page->piece, (uint32_t)len);
        code = vti_gzip_offer(gzip, &page->piece);
    }
    for (uint32_t i = 0; i < count && !code; i++) {
        const char *text = vti_map_key(page->texts, i, &len);

        vti_buf_add(&page->piece, text, len);
        code = vti_gzip_offer(gzip, &page->piece);
    }
    return code;
}

int vti_page_texts_write(struct vti_page *page)
{
    struct vti_json *json = &page->directory_json;

    vti_json_key(json, "strings");
    vti_json_object(json);
    vti_json_add_uint(json, "count", vti_map_count(page->texts));
    vti_json_add_uint(json, "block", page->block_count);
    vti_json_object_end(json);
    return vti_page_block(page, fill);
}
