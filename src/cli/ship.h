/* ship.h - the words of `venturi ship`, which the tool explains and venturi-ship obeys. */
#ifndef VENTURI_CLI_SHIP_H
#define VENTURI_CLI_SHIP_H

#include "cli/cmd.h"

enum vti_ship_option {
    VTI_SHIP_TO,
    VTI_SHIP_ONCE,
    VTI_SHIP_ONLY,
    VTI_SHIP_PREFIX,
    VTI_SHIP_SETUP,
    VTI_SHIP_DRY_RUN,
    VTI_SHIP_KEEP_DAYS,
    VTI_SHIP_DIALECT,
    VTI_SHIP_REPLAY,
    VTI_SHIP_CREDENTIALS,
    VTI_SHIP_CA,
    VTI_SHIP_FINGERPRINT,
    VTI_SHIP_INSECURE,
    VTI_SHIP_GZIP,
    VTI_SHIP_BATCH,
    VTI_SHIP_EVERY,
    VTI_SHIP_RETRY,
    VTI_SHIP_GIVE_UP,
    VTI_SHIP_STATE,
    VTI_SHIP_KEEP,
    VTI_SHIP_QUIET,
    VTI_SHIP_OPTIONS
};

extern const struct vti_command vti_cmd_ship;

#endif
