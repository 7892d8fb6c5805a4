/*
 * ship_deliver.c - one batch goes to the store, again and again, until each document of it is there or dead.
 */
#include "store/ship_impl.h"

#include "base/error.h"
#include "base/realtime.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STOP_NS INT64_C(10000000000)
#define SLICE_MS 100

static volatile sig_atomic_t soft_stops, hard_stops, last_stops;
static volatile int64_t soft_ns; /* when the first one came */
static int64_t taken_ns;         /* when the last document was taken */

void vti_ship_stop(bool is_hard)
{
    if (soft_stops)
        last_stops = 1;
    if (is_hard || soft_stops)
        hard_stops = 1;
    if (!soft_stops)
        soft_ns = vti_ship_now();
    soft_stops = 1;
}

bool vti_ship_is_stopped(void)
{
    return soft_stops != 0;
}

bool vti_ship_is_stopped_hard(void)
{
    return hard_stops != 0;
}

bool vti_ship_gives_up(void)
{
    int64_t now = vti_ship_now();

    return last_stops || (soft_stops && now - soft_ns > STOP_NS && now - taken_ns > STOP_NS);
}

int64_t vti_ship_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool vti_ship_must_end(struct vti_ship *ship)
{
    if (vti_ship_is_stopped_hard() || vti_ship_gives_up())
        return true;
    return ship->options->is_once &&
           vti_ship_now() - ship->progress_ns > (int64_t)ship->options->give_up_ms * 1000000;
}

bool vti_ship_wait(struct vti_ship *ship, unsigned ms)
{
    int64_t until = vti_ship_now() + (int64_t)ms * 1000000;

    for (;;) {
        int64_t left = until - vti_ship_now();
        struct timespec slice = {.tv_nsec = SLICE_MS * 1000000};
        bool was_stopped = vti_ship_is_stopped();

        if (vti_ship_must_end(ship))
            return false;
        if (left <= 0)
            return true;
        if (left < slice.tv_nsec)
            slice.tv_nsec = left;
        nanosleep(&slice, NULL);
        vti_ship_status(ship, false);
        if (!was_stopped && vti_ship_is_stopped())
            return true; /* whatever it waited for: now is the time */
    }
}

/* ---- moods ----------------------------------------------------------------------------------- */

/* But for numbers: how long a try took is no news. */
static bool is_same_reason(const char *a, const char *b)
{
    const char *const digits = "0123456789";

    for (;; a++, b++) {
        a += strspn(a, digits);
        b += strspn(b, digits);
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

void vti_ship_set_mood(struct vti_ship *ship, enum vti_ship_mood mood, const char *why)
{
    bool was_bad = ship->mood == VTI_SHIP_AWAY || ship->mood == VTI_SHIP_HELD;
    bool is_bad = mood == VTI_SHIP_AWAY || mood == VTI_SHIP_HELD;
    bool is_news = mood != ship->mood;
    char line[600];
    char again[80] = ", trying again";

    if (mood == VTI_SHIP_HELD)
        snprintf(again, sizeof again, " until somebody repairs it");
    else if (ship->options->is_once)
        snprintf(again, sizeof again, ", trying again for %g s (--give-up)",
                 ship->options->give_up_ms / 1e3);
    if (is_bad && (!was_bad || !is_same_reason(ship->why, why))) {
        snprintf(line, sizeof line, "%s; everything is kept%s%s", why,
                 ship->is_folder ? " up to the limit of the spool" : "", again);
        if (!ship->options->is_once || mood == VTI_SHIP_AWAY)
            ship->options->say(line);
        is_news = true;
    } else if (was_bad && mood == VTI_SHIP_SENDING) {
        snprintf(line, sizeof line, "%s: takes documents again", ship->options->settings->shown);
        ship->options->say(line);
    }
    ship->mood = mood;
    if (is_bad || !was_bad || mood != VTI_SHIP_ENDED)
        snprintf(ship->why, sizeof ship->why, "%s", is_bad ? why : "");
    vti_ship_status(ship, is_news);
}

/* ---- delivering ------------------------------------------------------------------------------ */

/* What could never be sent. */
static void check_documents(struct vti_ship *ship)
{
    struct vti_batch *batch = &ship->batch;
    int64_t latest = vti_realtime_ns() + INT64_C(86400) * 1000000000;
    int64_t earliest = INT64_C(946684800) * 1000000000; /* 2000 */

    for (size_t i = 0; i < batch->count; i++) {
        struct vti_document *document = &batch->documents[i];

        if (document->body_len > VTI_DOCUMENT_MOST)
            vti_batch_dead(batch, document, 0, "more than 1 MiB");
        if ((document->time_ns > latest || document->time_ns < earliest) && !ship->has_said_clock) {
            char when[VTI_TIME_TEXT], line[300];

            vti_time_text(when, document->time_ns);
            snprintf(line, sizeof line,
                     "%.100s: a document is dated %.10s, today is not: a clock was wrong; it goes "
                     "to the index of its own date",
                     document->index, when);
            ship->options->say(line);
            ship->has_said_clock = true;
        }
    }
}

static void count_answer(struct vti_ship *ship, const struct vti_answer *answer, size_t before,
                         size_t after)
{
    struct vti_ship_counts *all = &ship->state.counts, *now = &ship->result->now;

    all->requests += answer->requests;
    now->requests += answer->requests;
    all->bytes += answer->bytes;
    now->bytes += answer->bytes;
    all->repeated += answer->repeated;
    now->repeated += answer->repeated;
    all->retried += after;
    now->retried += after;
    if (after < before)
        taken_ns = ship->progress_ns = vti_ship_now();
}

/* The dead are on the disk before the batch counts as dealt with. */
static int write_dead(struct vti_ship *ship)
{
    uint64_t dead = 0, passed = 0;
    uint64_t all_bytes =
        0; /* written down when it is certain that none of the known ones comes again */
    uint64_t *bytes = ship->dead_known ? &all_bytes : &ship->state.dead_bytes;

    for (unsigned try = 0;; try++) {
        int code = vti_dead_write(ship->dead_path, &ship->batch, ship->dead_known, bytes, &dead);

        if (!code)
            break;
        if (code != VTI_E_DISK_FULL)
            return code;
        vti_ship_set_mood(ship, VTI_SHIP_AWAY, vti_error_message(code));
        if (!vti_ship_wait(ship, vti_ship_backoff(try, ship->options->retry_ms)))
            return code;
    }
    for (size_t i = 0; i < ship->batch.count; i++)
        passed += ship->batch.documents[i].fate == VTI_FATE_PASSED;
    ship->state.counts.dead += dead;
    ship->result->now.dead += dead;
    ship->state.counts.shipped += ship->batch.count - dead - passed;
    ship->result->now.shipped += ship->batch.count - dead - passed;
    return 0;
}

/* How long until the next try; 0: at once. */
static unsigned next_wait(struct vti_ship *ship, const struct vti_answer *answer, unsigned try)
{
    unsigned most = ship->options->retry_ms;
    unsigned wait;

    if (answer->outcome == VTI_OUTCOME_HELD)
        wait = most / 2 + vti_ship_backoff(20, most / 2);
    else
        wait = vti_ship_backoff(try, most);
    if (vti_ship_is_stopped() && wait > 2 * VTI_SHIP_FIRST_MS)
        wait = 2 * VTI_SHIP_FIRST_MS;
    return answer->wait_ms > (long)wait ? (unsigned)answer->wait_ms : wait;
}

static enum vti_ship_mood mood_of(const struct vti_answer *answer)
{
    return answer->outcome == VTI_OUTCOME_HELD ? VTI_SHIP_HELD : VTI_SHIP_AWAY;
}

int vti_ship_deliver(struct vti_ship *ship)
{
    struct vti_batch *batch = &ship->batch;
    size_t waiting;
    unsigned try = 0;

    batch->may_repeat = ship->has_repeat;
    ship->has_repeat = false;
    ship->progress_ns = vti_ship_now(); /* to make it may have taken long */
    check_documents(ship);
    while ((waiting = vti_batch_waiting(batch))) {
        struct vti_answer answer = {.outcome = VTI_OUTCOME_OK};
        size_t left;
        int code = ship->options->type->send(ship->store, batch, &answer);

        if (code)
            return code;
        left = vti_batch_waiting(batch);
        count_answer(ship, &answer, waiting, left);
        batch->may_repeat |= answer.may_have_arrived;
        if (!left)
            break;
        if (vti_ship_is_stopped_hard())
            return 1;
        try = left < waiting ? 0 : try;
        vti_ship_set_mood(ship, mood_of(&answer),
                          *answer.why ? answer.why : "the store wants some of it later");
        ship->result->is_held = answer.outcome == VTI_OUTCOME_HELD;
        snprintf(ship->result->why, sizeof ship->result->why, "%s", answer.why);
        if (ship->result->is_held && ship->options->is_once)
            return 1;
        if (!vti_ship_wait(ship, next_wait(ship, &answer, try++)))
            return 1;
    }
    ship->result->is_held = false;
    *ship->result->why = 0;
    vti_ship_set_mood(ship, VTI_SHIP_SENDING, "");
    return write_dead(ship);
}
