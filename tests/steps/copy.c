/* copy.c - a step that hands on what it gets, for tests: copy FROM TO [PART PARTS]. Says what went wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/step.h>

static int hand_on(vt_step *step, const struct vt_message *messages, size_t count, void *user)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        if (vt_step_produce_keyed(step, messages[i].key, messages[i].key_bytes, messages[i].data,
                                  messages[i].bytes))
            return -1;
    return 0;
}

int main(int argc, char **argv)
{
    struct vt_setting parts[] = {{"part", NULL}, {"parts", NULL}, {NULL, NULL}};
    struct vt_step_options options = {
        .size = sizeof options, .source = "Copy", .batch = 16, .execute = hand_on};
    vt_step *step = NULL;
    int code;

    if (argc < 3)
        return 2;
    parts[0].value = argc > 4 ? argv[3] : NULL;
    parts[1].value = argc > 4 ? argv[4] : NULL;
    code = vt_consumer_open(&options.consumer, argv[1], argc > 4 ? parts : NULL) ||
           vt_producer_open(&options.producer, argv[2], NULL);
    if (!code)
        step = vt_step_new(&options);
    code = step ? vt_step_run(step) : -1;
    if (code)
        fprintf(stderr, "copy: %s\n", vt_step_error());
    fprintf(stderr, "%llu messages\n", step ? (unsigned long long)vt_step_count(step).messages : 0);
    vt_step_free(step);
    return code ? 1 : 0;
}
