/* Functions that fit on a line, and a child that goes on where its parent was. */
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
void nap(int ms) { usleep((unsigned)ms * 1000); } // nap
int one(void) { nap(30); return 1; } // one
void two(void) { nap(20); nap(20); } // two
/* clang-format on */

int main(void)
{
    one();
    two();
    if (fork() == 0) {
        usleep(50000); // child
        _exit(0);
    }
    wait(0);
    return 0;
} // end
