/* pages.c - the dashboard itself: one file, inside of the program, with the policy that it states for itself. */
#include "serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char vti_dashboard_page[], vti_dashboard_page_end[];

static const char mark[] = "http-equiv=\"Content-Security-Policy\" content=\"";

/* The page allows its own script and style by their hashes; a browser is told so before it reads the page, too, and that nobody may frame
 * it, which a page cannot say of itself. */
char *vti_dashboard_policy(void)
{
    const char *begin = strstr(vti_dashboard_page, mark);
    const char *end = begin ? strchr(begin + sizeof mark - 1, '"') : NULL;
    char *policy = NULL;

    if (!end)
        return strdup("default-src 'none'; frame-ancestors 'none'");
    begin += sizeof mark - 1;
    return asprintf(&policy, "%.*s; frame-ancestors 'none'", (int)(end - begin), begin) < 0
               ? NULL
               : policy;
}

enum MHD_Result vti_serve_status(const struct vti_request *request)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        (size_t)(vti_dashboard_page_end - vti_dashboard_page), (void *)vti_dashboard_page,
        MHD_RESPMEM_PERSISTENT);

    if (response)
        MHD_add_response_header(response, "Content-Security-Policy", request->serve->policy);
    return vti_answer(request, MHD_HTTP_OK, response, "text/html; charset=utf-8");
}
