/* Loads a library several times, and forks while it is loaded and after. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int call(void *library, int n)
{
    int (*work)(int) = (int (*)(int))dlsym(library, "plugin_work");

    return work ? work(n) : -1;
}

static void in_child(void *library, int n)
{
    pid_t child = fork();

    if (child == 0) {
        if (library)
            call(library, n);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < strtol(argv[argc - 1], NULL, 10); i++) {
        void *library = dlopen(argv[1], RTLD_NOW);

        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        call(library, 10);
        in_child(library, 100);
        dlclose(library);
        in_child(NULL, 0);
    }
    return 0;
}
