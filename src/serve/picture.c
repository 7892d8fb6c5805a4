/* picture.c - the newest state as JSON, made once for everybody who wants it. */
#include "serve/serve.h"

#include <stdlib.h>

static struct vti_picture *make(struct vti_serve *serve)
{
    struct vti_picture *picture = calloc(1, sizeof *picture);
    struct vti_json json;

    if (!picture)
        return NULL;
    picture->seq = serve->seq;
    picture->refs = 1; /* the server's own */
    vti_json_init(&json, &picture->text);
    vti_state_json(serve, &json);
    if (!picture->text.failed)
        return picture;
    vti_buf_fini(&picture->text);
    free(picture);
    return NULL;
}

struct vti_picture *vti_picture_get(struct vti_serve *serve)
{
    if (!serve->picture || serve->picture->seq != serve->seq) {
        struct vti_picture *picture = make(serve);

        if (!picture)
            return NULL;
        if (serve->picture)
            vti_picture_put(serve, serve->picture);
        serve->picture = picture;
    }
    serve->picture->refs++;
    return serve->picture;
}

void vti_picture_put(struct vti_serve *serve, struct vti_picture *picture)
{
    (void)serve;
    if (--picture->refs)
        return;
    vti_buf_fini(&picture->text);
    free(picture);
}
