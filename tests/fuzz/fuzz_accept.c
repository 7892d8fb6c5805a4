/* fuzz_accept.c - a header Accept chooses one of two formats, and any text becomes a label of bounded length that is UTF-8. */
#include "base/utf8.h"
#include "live/accept.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char label[VTI_LABEL_MOST + 1];

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    vti_accept_choose(text);
    vti_label_text(label, text);
    if (strlen(label) > VTI_LABEL_MOST || vti_utf8_good(label, strlen(label)) != strlen(label))
        abort();
    free(text);
    return 0;
}
