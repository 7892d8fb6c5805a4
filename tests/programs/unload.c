/* unload.c PLUGIN [times] - loads the plugin, lets it record, unloads it, again and again. */
#include "program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <venturi/span.h>

int main(int argc, char **argv)
{
    long times = number(argc, argv, 2, 20);

    VT_SPAN("main");
    for (long i = 0; i < times; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW);
        void (*work)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_work") : NULL;

        if (!work) {
            fprintf(stderr, "%s\n", dlerror());
            return 3;
        }
        work();
        dlclose(plugin);
    }
    say("spans", times + 1, (char *)0);
    return 0;
}
