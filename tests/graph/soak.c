/*
 * soak.c - soak ROUNDS SEED: random graphs, in every way, in which tasks fail, take too long and kill their workers, runs are cancelled, and
 * workers killed from outside. Each round checks what came of it; at the end a line says how often what happened, and what is left in memory.
 */
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <venturi/graph.h>

#define MOST 1500u

/* What tasks do: `user` of each. */
enum kind { MIX, BYTES, FAILS_FIRST, DIES_FIRST, DOZES, FAILS, HANGS, KINDS };

enum way { SYNC, STEAL, CENTRAL, PROCESSES, WAYS };

struct round {
    enum way way;
    uint32_t count;
    enum kind kinds[MOST];
    uint32_t needs[MOST][3], need_count[MOST];
    int64_t values[MOST]; /* what each gives if all goes well */
    bool goes_wrong;      /* a task fails for good, or hangs */
    bool is_disturbed;    /* from outside */
};

struct disturber {
    pthread_t thread;
    vt_run *run; /* to be cancelled; NULL: its workers are killed */
    pid_t caller;
    long after_us;
    unsigned seed;
    atomic_int is_over;
    unsigned kills;
};

static pid_t program;
static struct round round_;
static uint64_t good, failed, cancelled, timed_out, lost, kills, tasks;

static void stop(const char *what, unsigned long number, const char *why)
{
    printf("round %lu: %s%s%s\n", number, what, why ? ": " : "", why ? why : "");
    exit(1);
}

static void pause_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

/* ---- tasks ------------------------------------------------------------------------------------------ */

static int64_t number_of(const struct vt_datum *value)
{
    int64_t number;

    if (value->type != VT_DATUM_BYTES)
        return value->as.number;
    memcpy(&number, value->as.data, sizeof number);
    return number;
}

static int mix(struct vt_call *call)
{
    int64_t sum = 1;

    for (size_t i = 0; i < call->arg_count; i++)
        sum = (sum * 31 + number_of(call->args[i])) % 1000003;
    call->result = vt_datum_int(sum);
    return 0;
}

static int mix_bytes(struct vt_call *call)
{
    int64_t sum;
    uint8_t *bytes;

    mix(call);
    sum = call->result.as.number;
    bytes = vt_call_bytes(call, 8 + (size_t)(sum % 3000));
    if (bytes == NULL)
        return vt_call_fail(call, "no memory");
    memset(bytes, 1, call->result.size);
    memcpy(bytes, &sum, sizeof sum);
    return 0;
}

static int act(struct vt_call *call)
{
    switch ((enum kind)(uintptr_t)call->user) {
    case BYTES:
        return mix_bytes(call);
    case DIES_FIRST:
        if (call->try_ == 0 && getpid() != program)
            raise(SIGKILL);
        /* fall through */
    case FAILS_FIRST:
        return call->try_ == 0 ? vt_call_fail(call, "not yet") : mix(call);
    case DOZES:
        pause_us(300);
        return mix(call);
    case FAILS:
        return vt_call_fail(call, "never");
    case HANGS:
        while (!vt_call_is_cancelled(call))
            pause_us(500);
        return vt_call_fail(call, "told to stop");
    default:
        return mix(call);
    }
}

/* ---- rounds ------------------------------------------------------------------------------------------ */

static enum kind choose_kind(unsigned *seed, bool is_rough)
{
    int chance = rand_r(seed) % 1000;

    if (is_rough && chance < 4)
        return chance < 2 ? FAILS : HANGS;
    return chance < 10    ? FAILS_FIRST
           : chance < 14  ? DIES_FIRST
           : chance < 40  ? DOZES
           : chance < 300 ? BYTES
                          : MIX;
}

static vt_graph *make_graph(unsigned *seed)
{
    vt_graph *graph = vt_graph_new();
    bool is_rough = rand_r(seed) % 3 == 0;
    uint32_t reach = 1 + (uint32_t)rand_r(seed) % MOST;

    round_.count = 1 + (uint32_t)rand_r(seed) % MOST;
    round_.goes_wrong = false;
    for (uint32_t i = 0; i < round_.count; i++) {
        uint32_t count = i ? (uint32_t)rand_r(seed) % 4 : 0;
        int64_t sum = 1;

        round_.kinds[i] = choose_kind(seed, is_rough);
        round_.goes_wrong |= round_.kinds[i] == FAILS || round_.kinds[i] == HANGS;
        round_.need_count[i] = count;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t need = i - 1 - (uint32_t)rand_r(seed) % (i < reach ? i : reach);

            round_.needs[i][k] = need;
            sum = (sum * 31 + round_.values[need]) % 1000003;
        }
        round_.values[i] = sum;
        vt_graph_call(graph, "act", act, (void *)(uintptr_t)round_.kinds[i], round_.needs[i],
                      count);
        if (round_.kinds[i] == HANGS)
            vt_graph_timeout(graph, i, 0.01);
    }
    return graph;
}

static void kill_one(struct disturber *self)
{
    char path[64], text[4096];
    FILE *file;
    char *at = text;
    long pids[64];
    int count = 0;

    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)self->caller);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    while (count < 64 && (pids[count] = strtol(at, &at, 10)) > 0)
        count++;
    if (count && kill((pid_t)pids[rand_r(&self->seed) % count], SIGKILL) == 0)
        self->kills++;
}

static void *disturb(void *arg)
{
    struct disturber *self = arg;

    do {
        pause_us(self->after_us);
        if (atomic_load(&self->is_over))
            break;
        if (self->run)
            vt_run_cancel(self->run);
        else
            kill_one(self);
    } while (!self->run);
    return NULL;
}

/* No task is done before what it needs, all have an end, and what is there is right. */
static void check(vt_run *run, int code, unsigned long number)
{
    const struct vt_run_failure *failure = vt_run_error(run);
    struct vt_task known, need;
    int is_estimated;
    size_t place = 0;

    if ((code == 0) != (failure == NULL) || (failure && !*failure->message))
        stop("an error without a message", number, NULL);
    if (code == 0 && round_.goes_wrong)
        stop("no error", number, NULL);
    if (code != 0 && !round_.goes_wrong && !round_.is_disturbed)
        stop("it failed", number, failure->message);
    for (uint32_t i = 0; i < round_.count; i++) {
        const struct vt_datum *value;
        bool is_used = false;

        if (!vt_run_task(run, i, &known, &is_estimated) || known.state < VT_TASK_DONE ||
            known.state > VT_TASK_LOST)
            stop("a task without an end", number, failure ? failure->message : NULL);
        tasks++;
        for (uint32_t k = 0; k < round_.need_count[i] && known.state == VT_TASK_DONE; k++)
            if (!vt_run_task(run, round_.needs[i][k], &need, &is_estimated) ||
                need.state != VT_TASK_DONE || need.end > known.start)
                stop("a task was done before what it needs", number, NULL);
        for (uint32_t j = i + 1; j < round_.count && !is_used; j++)
            for (uint32_t k = 0; k < round_.need_count[j]; k++)
                is_used |= round_.needs[j][k] == i;
        if (is_used)
            continue;
        value = vt_run_result(run, place++); /* wanted, as nothing needs it */
        if ((value != NULL) != (known.state == VT_TASK_DONE))
            stop("a result that should not be there, or is missing", number, NULL);
        if (value && number_of(value) != round_.values[i])
            stop("a wrong result", number, NULL);
    }
    good += code == 0;
    failed += code != 0 && failure->task != VT_NO_TASK;
    cancelled += code != 0 && failure->task == VT_NO_TASK;
    timed_out += failure && strstr(failure->message, "took longer than") != NULL;
    lost += failure && strstr(failure->message, "was lost with its worker") != NULL;
}

static void go(unsigned *seed, unsigned long number)
{
    static const struct vt_callbacks none;
    static const struct vt_callbacks *const all[] = {&none};
    struct vt_run_options options = {.size = sizeof options,
                                     .workers = 1 + (unsigned)rand_r(seed) % 4,
                                     .retries = 1 + (unsigned)rand_r(seed) % 3,
                                     .keep_going = rand_r(seed) % 2,
                                     .shared_bytes = (size_t)16 << 20};
    struct disturber disturber = {.caller = (pid_t)syscall(SYS_gettid),
                                  .after_us = 200 + rand_r(seed) % 5000,
                                  .seed = (unsigned)rand_r(seed)};
    vt_graph *graph = make_graph(seed);
    vt_run *run;

    round_.way = (enum way)(rand_r(seed) % WAYS);
    round_.is_disturbed = rand_r(seed) % 3 == 0;
    options.scheduler = round_.way == SYNC        ? VT_SYNC
                        : round_.way == PROCESSES ? VT_PROCESSES
                                                  : VT_THREADS;
    if (round_.way == CENTRAL) {
        options.callbacks = all;
        options.callback_count = 1;
    }
    run = vt_run_new(graph, &options);
    disturber.run = round_.way == PROCESSES && rand_r(seed) % 2 ? NULL : run;
    if (round_.is_disturbed)
        pthread_create(&disturber.thread, NULL, disturb, &disturber);
    check(run, vt_run_go(run), number);
    atomic_store(&disturber.is_over, 1);
    if (round_.is_disturbed)
        pthread_join(disturber.thread, NULL);
    kills += disturber.kills;
    vt_run_free(run);
    vt_graph_free(graph);
    if (waitpid(-1, NULL, WNOHANG) >= 0)
        stop("a process is left", number, NULL);
}

/* ---- what is left ------------------------------------------------------------------------------------ */

static long resident_kb(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long size = 0, resident = 0;

    if (file == NULL || fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static long entries(const char *path)
{
    DIR *folder = opendir(path);
    long count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned seed = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    long early_kb = 0, early_fds = 0;

    if (rounds == 0) {
        fprintf(stderr, "usage: soak ROUNDS SEED\n");
        return 2;
    }
    program = getpid();
    for (unsigned long i = 0; i < rounds; i++) {
        go(&seed, i);
        if (i == rounds / 4) {
            early_kb = resident_kb();
            early_fds = entries("/proc/self/fd");
        }
    }
    printf("{\"rounds\": %lu, \"good\": %" PRIu64 ", \"failed\": %" PRIu64
           ", \"cancelled\": %" PRIu64 ", \"timed_out\": %" PRIu64 ", \"lost\": %" PRIu64
           ", \"kills\": %" PRIu64 ", \"tasks\": %" PRIu64
           ", \"early_kb\": %ld, \"late_kb\": %ld, \"early_fds\": %ld, "
           "\"late_fds\": %ld, \"threads\": %ld}\n",
           rounds, good, failed, cancelled, timed_out, lost, kills, tasks, early_kb, resident_kb(),
           early_fds, entries("/proc/self/fd"), entries("/proc/self/task") - 2);
    return 0;
}
