/* modules.c - a library that is loaded, used and unloaded again and again, while it is sampled. */
#include "busy.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
    for (int i = 0; i < 20; i++) {
        void *library = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW | RTLD_LOCAL);
        void (*work)(void) = library ? (void (*)(void))(uintptr_t)dlsym(library, "work") : NULL;

        if (!work)
            return 1;
        work();
        dlclose(library);
    }
    return 0;
}
