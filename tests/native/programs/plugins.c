/* plugins.c - loads libraries in turn, each into the place of the one before it, and calls their function.
 *
 *     plugins ROUNDS LIBRARY…
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    void *first = NULL;
    int same = 0;

    for (int i = 0; i < rounds; i++)
        for (int at = 2; at < argc; at++) {
            void *library = dlopen(argv[at], RTLD_NOW);
            int (*entry)(int) = library ? (int (*)(int))dlsym(library, "entry") : NULL;

            if (!entry) {
                fprintf(stderr, "%s\n", dlerror());
                return 1;
            }
            if (!first)
                first = (void *)entry;
            same += first == (void *)entry;
            entry(at);
            dlclose(library);
        }
    printf("{\"same\": %d}\n", same);
    return 0;
}
