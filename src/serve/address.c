/*
 * address.c - says where the server is: to whoever started it, on standard error, in a browser.
 *
 * The address carries the token. Command lines can be read by every user of the machine, so a browser is given the name of a file, which only
 * ours can read and which leads there.
 */
#include "base/browser.h"
#include "serve/serve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADDRESS_BYTES 500

static char page[300]; /* the file for the browser; "" if there is none */

static void write_ready(int fd, const char *address)
{
    if (fd < 0)
        return;
    if (write(fd, address, strlen(address)) < 0 || write(fd, "\n", 1) < 0)
        errno = 0;
    close(fd);
}

/* Nothing of an address needs to be encoded in HTML: it is made of a number, a name and a token. */
static void open_page(const char *address)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    int fd;

    snprintf(page, sizeof page, "%.200s/venturi-XXXXXX.html",
             folder && *folder == '/' ? folder : "/tmp");
    fd = mkostemps(page, 5, 0);
    if (fd < 0 || dprintf(fd,
                          "<!doctype html><meta charset=utf-8><title>venturi</title>"
                          "<meta http-equiv=refresh content=\"0;url=%s\">\n",
                          address) < 0) {
        fprintf(stderr, "venturi serve: %s: cannot write it (--open): %s\n", page, strerror(errno));
        page[0] = fd < 0 ? 0 : page[0];
    } else if (!vti_browser_open(page)) {
        fprintf(stderr, "venturi serve: --open: no browser here (neither BROWSER nor xdg-open)\n");
    }
    if (fd >= 0)
        close(fd);
}

void vti_address_say(const struct vti_serve *serve)
{
    char address[ADDRESS_BYTES];

    snprintf(address, sizeof address, "%s/status?token=%s", serve->origin, serve->token);
    write_ready(serve->options.ready_fd, address);
    if (serve->options.opens)
        open_page(address);
    if (serve->options.is_quiet)
        return;
    if (serve->options.port && serve->port != serve->options.port)
        fprintf(stderr, "venturi serve: port %u is taken, this is port %u\n", serve->options.port,
                serve->port);
    if (!serve->is_loopback)
        fprintf(stderr,
                "venturi serve: %s is not loopback: others can reach it, and nothing is "
                "encrypted\n",
                serve->options.bind);
    fprintf(stderr, "venturi serve: %s\n", address);
    fflush(stderr);
}

void vti_address_forget(void)
{
    if (page[0])
        unlink(page);
    page[0] = 0;
}
