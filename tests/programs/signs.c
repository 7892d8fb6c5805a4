/*
 * signs.c - packs and unpacks trace headers, a line each, texts in hex so that they may be anything:
 *
 *     signs pack      KEY BASE PARENT (or -)   gives   INFO SIGNATURE
 *     signs unpack    INFO                     gives   BASE PARENT (or -), or "bad"
 */
#include "net/sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 20000

static size_t from_hex(char *to, const char *hex)
{
    size_t len = 0;
    unsigned byte;

    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
        to[len++] = (char)byte;
    return len;
}

static void say_hex(const struct vti_buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        printf("%02x", text->data[i]);
}

static void pack(const char *line)
{
    static char words[3][ROOM];
    static char texts[3][ROOM];
    static char info[ROOM];
    char signature[VTI_SIGNATURE];
    size_t lens[3];
    size_t len;

    if (sscanf(line, "%19999s %19999s %19999s", words[0], words[1], words[2]) != 3)
        return;
    for (int i = 0; i < 3; i++)
        lens[i] = from_hex(texts[i], words[i]);
    len = vti_trace_info_pack(info, sizeof info, texts[1], lens[1],
                              strcmp(words[2], "-") ? texts[2] : NULL, lens[2]);
    if (len && vti_sign(signature, texts[0], lens[0], info, len))
        printf("%s %s\n", info, signature);
}

static void unpack(const char *line)
{
    struct vti_trace_info info = {0};

    if (!vti_trace_info_unpack(&info, line, strcspn(line, "\n"))) {
        printf("bad\n");
    } else {
        say_hex(&info.base);
        printf(" ");
        if (info.has_parent)
            say_hex(&info.parent);
        printf("%s\n", info.has_parent ? "" : "-");
    }
    vti_trace_info_fini(&info);
}

int main(int argc, char **argv)
{
    static char line[3 * ROOM];

    while (argc == 2 && fgets(line, sizeof line, stdin))
        (strcmp(argv[1], "pack") ? unpack : pack)(line);
    return 0;
}
