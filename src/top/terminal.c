/*
 * terminal.c - the terminal is as it was before, whatever ends us; and what wants to end us.
 *
 * Orderly ends leave through the main loop, where ncurses restores the terminal. A crash cannot: its handler writes the sequences that
 * were looked up before and sets the modes back, with calls that are safe in a handler, then dies of the signal.
 */
#include "top/terminal.h"

#include "live/shortened.h"

#include <curses.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static volatile sig_atomic_t ending; /* the signal; 0: none */
static struct termios modes;
static bool has_modes;
static char leave[256];
static volatile sig_atomic_t is_kept;

static void on_end(int signal_number)
{
    ending = signal_number;
}

static void on_crash(int signal_number)
{
    if (is_kept) {
        ssize_t written = write(STDOUT_FILENO, leave, strlen(leave));

        (void)written; /* there is nobody to tell */
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    }
    raise(signal_number); /* the handler is gone: SA_RESETHAND */
}

void vti_terminal_catch(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT};
    struct sigaction action = {.sa_handler = on_end};

    has_modes = !tcgetattr(STDIN_FILENO, &modes);
    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &action, NULL);
}

static void add(const char *sequence)
{
    size_t used = strlen(leave);

    if (sequence && sequence != (const char *)-1)
        snprintf(leave + used, sizeof leave - used, "%s", sequence);
}

void vti_terminal_keep(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_NODEFER};

    add(tigetstr("sgr0"));
    add(tigetstr("cnorm"));
    add(tigetstr("rmkx"));
    add(tigetstr("rmcup"));
    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &action, NULL);
    vti_survive_shortening(); /* that is no crash */
    is_kept = has_modes;
}

void vti_terminal_left(void)
{
    is_kept = 0;
}

bool vti_terminal_is_ending(void)
{
    return ending != 0;
}

void vti_terminal_pass_on(void)
{
    int number = ending;

    if (!number || number == SIGINT)
        return;
    signal(number, SIG_DFL);
    raise(number);
}
