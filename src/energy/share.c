/* share.c - the part of a machine's energy that belongs to a program, by CPU time. */
#include "energy/share.h"

#define CARRY_MOST_S 0.1
#define NOISE 1e-9        /* of a difference that should be nothing */
#define WINDOW_S 0.95     /* shares are settled so often … */
#define WINDOW_BUSY_S 0.1 /* … or when steps of 10 ms do not matter any more */

double vti_share_take(struct vti_share *share, double own_s, double busy_s, double wall_s)
{
    double least_s = VTI_SHARE_REST_CPUS * wall_s;

    if (own_s < 0 || busy_s < 0)
        return 0;
    own_s += share->carry_s;
    share->carry_s = 0;
    if (busy_s < least_s)
        busy_s = least_s;
    if (own_s <= busy_s)
        return busy_s > 0 ? own_s / busy_s : 0;
    share->carry_s = own_s - busy_s < CARRY_MOST_S ? own_s - busy_s : CARRY_MOST_S;
    return 1;
}

double vti_share_apart(double apart_s, double busy_s, double wall_s)
{
    struct vti_share share = {0};

    return vti_share_take(&share, apart_s, busy_s, wall_s);
}

bool vti_share_is_rest(double busy_s, double wall_s)
{
    return busy_s <= VTI_SHARE_REST_CPUS * wall_s;
}

bool vti_share_is_settled(double busy_s, double wall_s)
{
    return wall_s >= WINDOW_S || busy_s >= WINDOW_BUSY_S;
}

double vti_share_dynamic(double share_j, double share_s, double rest_watts)
{
    double beyond = share_j - rest_watts * share_s;

    return beyond > NOISE * share_j ? beyond : 0;
}
