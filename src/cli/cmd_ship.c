/*
 * cmd_ship.c - venturi ship: what it takes; the work is another program's, venturi-ship, because the tool itself knows no
 * network.
 */
#include "cli/ship.h"

#include "base/beside.h"
#include "base/error.h"
#include "base/secret.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct vti_option options[] = {
    [VTI_SHIP_TO] = {0, "to", "URL", "the store: elasticsearch://HOST:9200 (VENTURI_STORE)"},
    [VTI_SHIP_ONCE] = {0, "once", NULL, "send what is there now, and end"},
    [VTI_SHIP_ONLY] = {0, "only", "steps|traces", "only these documents"},
    [VTI_SHIP_PREFIX] = {0, "prefix", "NAME", "of indices, instead of each step's own"},
    [VTI_SHIP_SETUP] = {0, "setup", NULL, "make index template and life cycle, send nothing"},
    [VTI_SHIP_DRY_RUN] = {0, "dry-run", NULL, "with --setup: only show the requests"},
    [VTI_SHIP_KEEP_DAYS] = {0, "keep-days", "N", "with --setup: age of deletion, 0 never (30)"},
    [VTI_SHIP_DIALECT] = {0, "dialect", "elasticsearch|opensearch",
                          "instead of asking the server, for --setup"},
    [VTI_SHIP_REPLAY] = {0, "replay", "FILE", "send the dead letters of FILE again"},
    [VTI_SHIP_CREDENTIALS] = {0, "credentials", "FILE", "lines `name = value`; chmod 600"},
    [VTI_SHIP_CA] = {0, "ca", "FILE", "certificates of authorities to trust"},
    [VTI_SHIP_FINGERPRINT] = {0, "fingerprint", "HEX", "SHA-256 of a certificate to trust"},
    [VTI_SHIP_INSECURE] = {0, "insecure", NULL, "trust any certificate"},
    [VTI_SHIP_GZIP] = {0, "gzip", "on|off", "compress; else only what leaves this machine"},
    [VTI_SHIP_BATCH] = {0, "batch", "N", "documents in a request (2000)"},
    [VTI_SHIP_EVERY] = {0, "every", "S", "seconds between looks for news (1)"},
    [VTI_SHIP_RETRY] = {0, "retry-max", "S", "longest wait between tries (60)"},
    [VTI_SHIP_GIVE_UP] = {0, "give-up", "S", "with --once: without progress for so long (30)"},
    [VTI_SHIP_STATE] = {0, "state", "DIR", "where to keep state and dead letters"},
    [VTI_SHIP_KEEP] = {0, "keep", NULL, "do not delete files of a spool that are sent"},
    [VTI_SHIP_QUIET] = {'q', "quiet", NULL, "only say what needs somebody to act"},
    [VTI_SHIP_OPTIONS] = {0},
};

/* A URL with a login goes on by a descriptor: --to URL, and --to=URL. */
static int pass_on(char **argument)
{
    char *url = strncmp(*argument, "--", 2) ? *argument : strchr(*argument, '=');
    char word[VTI_SECRET_MOST + 16];
    int code;

    if (!url || !strstr(url, "://") || !strchr(strstr(url, "://"), '@'))
        return 0;
    url += *url == '=';
    code = vti_secret_send(url, word, sizeof word);
    if (code < 0)
        return vti_cmd_error("ship", code);
    code = asprintf(argument, "%.*s%s", (int)(url - *argument), *argument, word);
    vti_secret_hide_login(url);
    return code < 0 ? vti_cmd_error("ship", VTI_E_NOMEM) : 0;
}

static int run(int argc, char **argv)
{
    static const char *const places[] = {"venturi-ship", "../libexec/venturi/venturi-ship"};
    char program[PATH_MAX];
    int code = 0;

    for (int i = 1; i < argc && !code; i++)
        code = pass_on(&argv[i]);
    if (code)
        return code;
    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program))
        return vti_cmd_fail("ship", "venturi-ship is not there (it is built with libcurl)");
    argv[0] = program;
    execv(program, argv);
    return vti_cmd_error("ship", vti_fail_errno(VTI_E_SYSTEM, "%s: cannot start it", program));
}

const struct vti_command vti_cmd_ship = {
    .name = "ship",
    .summary = "send steps and traces to Elasticsearch and other stores",
    .usage = "[options] FILE|DIR --to URL",
    .about = "Follows a recording, or a spool (venturi run --spool), and sends what is in it.\n"
             "Nothing is lost or doubled if it, or the store, is stopped in between; what a\n"
             "store refuses is kept with the reason. User and password may stand in the URL;\n"
             "VENTURI_STORE_USER, _PASSWORD, _API_KEY, _TOKEN and a file keep them out of it.\n"
             "Exit code: 0 all is sent, 1 something is left or dead, 2 it could not begin.",
    .options = options,
    .run = run,
};
