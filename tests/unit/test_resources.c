/* test_resources.c - the processes of a tree, read from trees of files that no healthy kernel would show. */
#include "watch/family.h"

#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS 1000000u
#define PIDS 2000

static char root[64];
static uint64_t clocks[PIDS]; /* CPU time + 1 of each process; 0: there is none */

static bool fake_clock(pid_t pid, uint64_t *ns)
{
    if (pid <= 0 || pid >= PIDS || !clocks[pid])
        return false;
    *ns = clocks[pid] - 1;
    return true;
}

static const struct vti_proc_source source = {root, fake_clock, 100, 4096, false};

static void put(pid_t pid, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%d", root, (int)pid);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%d/%s", root, (int)pid, name);
    unlink(path); /* a kept file stays that of the process that it was opened for */
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

struct fake {
    pid_t pid, parent;
    const char *name;
    char state;
    uint64_t cpu_ms, reaped_ms, start, pages, io;
};

/* Rewritten in place, so that files that are open see it. */
static void set(const struct fake *fake)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%d", root, (int)fake->pid);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%d/stat", root, (int)fake->pid);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%d (%s) %c %d 1 1 0 -1 0 0 0 0 0 %llu 0 %llu 0 20 0 3 0 %llu 0 %llu 0 0\n",
            (int)fake->pid, fake->name ? fake->name : "x", fake->state ? fake->state : 'S',
            (int)fake->parent, (unsigned long long)fake->cpu_ms / 10,
            (unsigned long long)fake->reaped_ms / 10, (unsigned long long)fake->start,
            (unsigned long long)fake->pages);
    fclose(file);
    snprintf(path, sizeof path, "%s/%d/io", root, (int)fake->pid);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "rchar: %llu\nwchar: %llu\nsyscr: 1\nsyscw: 1\nread_bytes: 0\nwrite_bytes: 0\n"
            "cancelled_write_bytes: 9\n",
            (unsigned long long)fake->io, (unsigned long long)fake->io / 2);
    fclose(file);
    clocks[fake->pid] = fake->cpu_ms * MS + 1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Also for files that are still open: they have nothing any more. */
static void end(pid_t pid)
{
    static const char *const names[] = {"stat", "io"};
    char path[256];

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%d/%s", root, (int)pid, names[i]);
        assert_int_equal(truncate(path, 0), 0);
    }
    snprintf(path, sizeof path, "%s/%d", root, (int)pid);
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    clocks[pid] = 0;
}

static int set_up(void **state)
{
    struct vti_family *family = calloc(1, sizeof *family);

    snprintf(root, sizeof root, "/tmp/venturi-proc-XXXXXX");
    assert_non_null(mkdtemp(root));
    memset(clocks, 0, sizeof clocks);
    vti_family_init(family, &source, "us");
    family->begin_clock = 1000;
    *state = family;
    return 0;
}

static int tear_down(void **state)
{
    vti_family_fini(*state);
    free(*state);
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}

static struct vti_family_total round_of(struct vti_family *family, pid_t last_pid)
{
    static uint64_t now_ns = 1;
    struct vti_family_total total;

    now_ns += 2000000000u;
    vti_family_round(family, last_pid, now_ns);
    vti_family_total(family, &total);
    return total;
}

static void start(struct vti_family *family, pid_t root_pid)
{
    vti_family_round(family, root_pid - 1, 1);
    set(&(struct fake){.pid = root_pid, .start = 2000});
    assert_non_null(vti_family_add(family, root_pid));
}

/* ---- who belongs to it ------------------------------------------------------------------------- */

static void test_children_and_their_children(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .name = "a ) S 7 (b", .pages = 2});
    set(&(struct fake){.pid = 102, .parent = 101, .start = 2001, .pages = 3});
    set(&(struct fake){.pid = 103, .parent = 7, .start = 2001, .pages = 50});
    assert_int_equal(round_of(family, 103).processes, 3);
    assert_int_equal(round_of(family, 103).memory_bytes, 5 * 4096);
    assert_string_equal(vti_family_find(family, 101)->now.name, "a ) S 7 (b");
    assert_ptr_equal(vti_family_find(family, 102)->parent, vti_family_find(family, 101));
    set(&(struct fake){.pid = 104, .parent = 102, .start = 2002});
    assert_int_equal(round_of(family, 104).processes, 4);
}

/* A thread has a number too, and no clock of a process. */
static void test_threads_are_none(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001});
    clocks[101] = 0;
    assert_int_equal(round_of(family, 101).processes, 1);
}

static void test_numbers_that_jump(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    set(&(struct fake){.pid = 1500, .parent = 100, .start = 2001});
    assert_int_equal(round_of(family, 1501).processes, 2); /* too far: all were looked at */
    set(&(struct fake){.pid = 50, .parent = 1500, .start = 2001});
    assert_int_equal(round_of(family, 51).processes, 3); /* numbers begin anew */
    set(&(struct fake){.pid = 60, .parent = 50, .start = 2001});
    assert_int_equal(round_of(family, 0).processes, 4); /* nobody tells */
}

static void test_orphans(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 1, .start = 2001});
    put(101, "environ", "A=1");
    set(&(struct fake){.pid = 102, .parent = 1, .start = 2001});
    put(102, "environ", "XVENTURI_SESSION=us");
    set(&(struct fake){.pid = 103, .parent = 1, .start = 2001, .pages = 4});
    put(103, "environ", "VENTURI_SESSION=us");
    assert_int_equal(round_of(family, 103).processes, 2);
    assert_non_null(vti_family_find(family, 103));
    end(100); /* and one that was seen stays, whoever its parent is */
    assert_int_equal(round_of(family, 103).processes, 1);
}

/* ---- what they use ----------------------------------------------------------------------------- */

static void test_waited_for_once(void **state)
{
    struct vti_family *family = *state;
    struct vti_family_total total;

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .cpu_ms = 400, .io = 1000});
    total = round_of(family, 101);
    assert_int_equal(total.cpu.all_ns, 400 * MS);
    assert_int_equal(total.io[VTI_IO_READ], 1000);
    end(101); /* 100 ms more until its end, which only its parent knows */
    set(&(struct fake){.pid = 100, .start = 2000, .cpu_ms = 30, .reaped_ms = 500, .io = 1300});
    total = round_of(family, 101);
    assert_int_equal(total.cpu.all_ns, 530 * MS);
    assert_int_equal(total.io[VTI_IO_READ], 1300);
    assert_int_equal(vti_watched_io(vti_family_find(family, 100), VTI_IO_READ), 300);
    end(100);
    assert_int_equal(round_of(family, 101).cpu.all_ns, 530 * MS);
    assert_int_equal(round_of(family, 101).io[VTI_IO_READ], 1300);
}

/* The child is read, waited for, and then its parent is read: in both, until the next round. */
static void test_waited_for_between_readings(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    set(&(struct fake){.pid = 100, .start = 2000, .io = 300});
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .io = 1000});
    assert_int_equal(round_of(family, 101).io[VTI_IO_READ], 1300);
    set(&(struct fake){.pid = 100, .start = 2000, .io = 1300});
    round_of(family, 101);
    end(101);
    assert_int_equal(round_of(family, 101).io[VTI_IO_READ], 1300);
}

/* Its parent ignores SIGCHLD: the kernel adds nothing to it. */
static void test_waited_for_by_nobody(void **state)
{
    struct vti_family *family = *state;
    struct vti_family_total total;

    start(family, 100);
    for (pid_t pid = 101; pid < 111; pid++) {
        set(&(struct fake){.pid = pid, .parent = 100, .start = 2001, .cpu_ms = 100, .io = 1000});
        round_of(family, pid);
        end(pid);
        total = round_of(family, pid);
        assert_int_equal(total.cpu.all_ns, (uint64_t)(pid - 100) * 100 * MS);
        assert_int_equal(total.io[VTI_IO_READ], (uint64_t)(pid - 100) * 1000);
    }
}

static void test_parent_and_child_go_together(void **state)
{
    struct vti_family *family = *state;
    struct vti_family_total total;

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .cpu_ms = 100, .io = 10});
    set(&(struct fake){.pid = 102, .parent = 101, .start = 2001, .cpu_ms = 200, .io = 20});
    round_of(family, 102);
    round_of(family, 102);
    end(102);
    end(101);
    set(&(struct fake){.pid = 100, .start = 2000, .reaped_ms = 310, .io = 31});
    total = round_of(family, 102);
    assert_int_equal(total.cpu.all_ns, 310 * MS);
    assert_int_equal(total.io[VTI_IO_READ], 31);
    assert_int_equal(total.processes, 1);
}

/* The kernel tells of both together less than what was seen of the second and told of the first: that is not taken back. */
static void test_steps_do_not_go_back(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .cpu_ms = 95});
    round_of(family, 101);
    end(101);
    set(&(struct fake){.pid = 100, .start = 2000, .reaped_ms = 100});
    assert_int_equal(round_of(family, 101).cpu.all_ns, 100 * MS);
    set(&(struct fake){.pid = 102, .parent = 100, .start = 2001, .cpu_ms = 105});
    assert_int_equal(round_of(family, 102).cpu.all_ns, 205 * MS);
    end(102);
    set(&(struct fake){.pid = 100, .start = 2000, .reaped_ms = 200});
    assert_int_equal(round_of(family, 102).cpu.all_ns, 205 * MS);
    set(&(struct fake){.pid = 100, .start = 2000, .cpu_ms = 30, .reaped_ms = 200});
    assert_int_equal(round_of(family, 102).cpu.all_ns, 230 * MS);
}

/* The kernel's steps are of 10 ms: what it cuts off is not taken for one that nobody waited for, again and again. */
static void test_steps_do_not_add_up(void **state)
{
    struct vti_family *family = *state;
    struct vti_family_total total = {.processes = 0};

    start(family, 100);
    for (pid_t pid = 101; pid < 201; pid++) {
        set(&(struct fake){.pid = pid, .parent = 100, .start = 2001});
        clocks[pid] = 19 * MS + 1;
        round_of(family, pid);
        end(pid);
        set(&(struct fake){
            .pid = 100, .start = 2000, .reaped_ms = (uint64_t)(pid - 100) * 19 / 10 * 10});
        total = round_of(family, pid);
    }
    assert_in_range(total.cpu.all_ns, 1890 * MS, 1910 * MS);
}

static void test_the_truth_of_wait4(void **state)
{
    struct vti_family *family = *state;
    struct vti_watched *watched;

    start(family, 100);
    set(&(struct fake){.pid = 100, .start = 2000, .cpu_ms = 70, .reaped_ms = 40, .state = 'Z'});
    assert_int_equal(round_of(family, 100).processes, 0); /* it has ended */
    watched = vti_family_find(family, 100);
    watched->has_waited = true;
    watched->waited = (struct vti_cpu_time){119 * MS, 60 * MS};
    end(100);
    assert_int_equal(round_of(family, 100).cpu.all_ns, 119 * MS);
}

/* One that attaches has a life behind it. */
static void test_what_was_before_is_not_ours(void **state)
{
    struct vti_family *family = *state;
    struct vti_family_total total;

    vti_family_round(family, 99, 1);
    set(&(struct fake){
        .pid = 100, .start = 10, .cpu_ms = 5000, .reaped_ms = 700, .pages = 9, .io = 100});
    set(&(struct fake){.pid = 90, .parent = 100, .start = 20, .cpu_ms = 300, .io = 10});
    assert_non_null(vti_family_add(family, 100));
    total = round_of(family, 99);
    assert_int_equal(total.cpu.all_ns, 0);
    assert_int_equal(total.processes, 2);
    set(&(struct fake){
        .pid = 100, .start = 10, .cpu_ms = 5200, .reaped_ms = 700, .pages = 9, .io = 150});
    total = round_of(family, 99);
    assert_int_equal(total.cpu.all_ns, 200 * MS);
    assert_int_equal(total.io[VTI_IO_READ], 50);
    assert_int_equal(total.memory_bytes, 9 * 4096);
}

static void put_children(pid_t pid, pid_t thread, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%d/task", root, (int)pid);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%d/task/%d", root, (int)pid, (int)thread);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "task/%d/children", (int)thread);
    put(pid, path, text);
}

/* The kernel lists who was there before us: nobody else of the machine is looked at, unless a list is missing. */
static void test_children_are_listed(void **state)
{
    struct vti_family *family = *state;

    family->session = NULL;
    vti_family_round(family, 99, 1);
    set(&(struct fake){.pid = 100, .start = 10});
    set(&(struct fake){.pid = 50, .parent = 100, .start = 20});
    set(&(struct fake){.pid = 51, .parent = 50, .start = 20});
    set(&(struct fake){.pid = 52, .parent = 100, .start = 20});
    put_children(100, 100, "");
    put_children(100, 105, "50 \n");
    put_children(50, 50, "51 7777777 x");
    put_children(51, 51, "");
    assert_non_null(vti_family_add(family, 100));
    assert_int_equal(round_of(family, 99).processes, 3); /* 52 is in no list */
    assert_int_equal(round_of(family, 99).processes, 3);
    set(&(struct fake){.pid = 60, .parent = 7, .start = 20});
    assert_non_null(vti_family_add(family, 60));
    assert_int_equal(round_of(family, 99).processes, 5); /* 60 has no list */
}

#define MANY 1000 /* whose numbers are more than the kernel tells at once */

static void test_many_children_of_this_process(void **state)
{
    struct vti_proc_source real;
    struct vti_family family;
    char *words[] = {"/bin/sleep", "60",
                     NULL}; /* to fork a sanitizer's process so often takes long */
    pid_t pids[MANY];
    uint32_t found;
    int count = 0;

    (void)state;
    while (count < MANY && !posix_spawn(&pids[count], words[0], NULL, NULL, words, NULL))
        count++;
    vti_proc_source_init(&real);
    vti_family_init(&family, &real, NULL);
    family.begin_clock = UINT64_MAX; /* all of them were there before */
    vti_family_round(&family, 1, 1); /* no number is new */
    vti_family_add(&family, getpid());
    found = round_of(&family, 1).processes;
    for (int i = 0; i < count; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    vti_family_fini(&family);
    assert_int_equal(found, count + 1);
}

/* ---- what a healthy kernel does not do ---------------------------------------------------------- */

static void test_numbers_are_used_again(void **state)
{
    struct vti_family *family = *state;

    family->kept_most = 0; /* kept files would tell at once */
    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .cpu_ms = 100});
    round_of(family, 101);
    set(&(struct fake){.pid = 101, .parent = 7, .start = 2500, .cpu_ms = 900, .pages = 77});
    assert_int_equal(round_of(family, 101).processes, 1);
    assert_null(vti_family_find(family, 101));
    assert_int_equal(round_of(family, 101).cpu.all_ns, 100 * MS);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2600, .cpu_ms = 50});
    vti_family_add(family, 101);
    assert_int_equal(round_of(family, 101).cpu.all_ns, 150 * MS);
    assert_int_equal(vti_family_find(family, 101)->number, 3);
}

static void test_kept_files_know_whose_they_are(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .cpu_ms = 100});
    round_of(family, 101);
    end(101);
    set(&(struct fake){.pid = 101, .parent = 7, .start = 2001, .cpu_ms = 900}); /* even as old */
    assert_int_equal(round_of(family, 101).processes, 1);
}

static void test_hidden(void **state)
{
    struct vti_family *family = *state;
    struct vti_family_total total;
    char path[256];

    family->kept_most = 0;
    start(family, 100);
    set(&(struct fake){.pid = 100, .start = 2000, .cpu_ms = 20, .pages = 6, .io = 1});
    round_of(family, 100);
    snprintf(path, sizeof path, "%s/100/stat", root);
    assert_int_equal(unlink(path), 0);
    clocks[100] = 50 * MS + 1;
    total = round_of(family, 100);
    assert_int_equal(total.processes, 1); /* its clock goes on */
    assert_int_equal(total.cpu.all_ns, 50 * MS);
    assert_int_equal(total.memory_bytes, 6 * 4096);
    clocks[100] = 1; /* another one: clocks do not go back */
    assert_int_equal(round_of(family, 100).processes, 0);
}

static void test_hidden_from_the_start(void **state)
{
    struct vti_family *family = *state;
    struct vti_family_total total;

    clocks[100] = 5 * MS + 1;
    assert_non_null(vti_family_add(family, 100));
    total = round_of(family, 100);
    assert_true(total.has_cpu);
    assert_false(total.has_stat);
    assert_false(total.has_io);
    assert_null(vti_family_add(family, 101)); /* not there */
}

static void test_io_of_others(void **state)
{
    struct vti_family *family = *state;
    struct vti_family_total total;
    char path[256];

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .io = 10});
    snprintf(path, sizeof path, "%s/101/io", root);
    unlink(path);
    total = round_of(family, 101);
    assert_false(vti_family_find(family, 101)->now.has_io);
    assert_true(total.has_io); /* of the other one */
}

static void test_nonsense(void **state)
{
    static const char *const lines[] = {"",
                                        "100",
                                        "100 (x",
                                        "100 x) S 1",
                                        "100 (x)",
                                        "100 (x) ",
                                        "100 (x) S",
                                        "100 (x) S 1 2 3",
                                        "100 )x( S 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3",
                                        "100 (x) S a b c d e f g h i j k l m n o p q r s t u v"};
    struct vti_proc_files files = {-1, -1};
    struct vti_proc_reading reading;

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        put(100, "stat", lines[i]);
        clocks[100] = 0;
        assert_false(vti_proc_take(&source, 100, &files, false, &reading));
        clocks[100] = 2;
        assert_true(vti_proc_take(&source, 100, &files, false, &reading));
        assert_false(reading.has_stat);
    }
    put(100, "status", "Name:\tVmHWM:\nVmHWM:\t  12 kB\n");
    assert_int_equal(vti_proc_peak(&source, 100), 12 * 1024);
    put(100, "status", "Name:\tz\nState:\tZ\n");
    assert_int_equal(vti_proc_peak(&source, 100), 0);
}

static void test_too_many(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    family->count = VTI_WATCHED_MOST;
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001});
    assert_null(vti_family_add(family, 101));
    family->count = 1;
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_machine(void **state)
{
    struct vti_machine machine;
    char path[256];
    FILE *file;

    (void)state;
    vti_machine_init(&machine, &source, false);
    vti_machine_take(&machine, true);
    assert_false(machine.has_busy);
    assert_false(machine.has_available);
    assert_int_equal(machine.last_pid, 0);
    vti_machine_fini(&machine);
    snprintf(path, sizeof path, "%s/uptime", root);
    file = fopen(path, "w");
    fputs("100.50 0.25\n", file);
    fclose(file);
    snprintf(path, sizeof path, "%s/loadavg", root);
    file = fopen(path, "w");
    fputs("0.10 0.20 0.30 1/99 4711\n", file);
    fclose(file);
    snprintf(path, sizeof path, "%s/meminfo", root);
    file = fopen(path, "w");
    fputs("MemTotal: 9 kB\nMemFree: 8 kB\nMemAvailable:    7 kB\n", file);
    fclose(file);
    vti_machine_init(&machine, &source, true);
    machine.cpu_count = 2;
    vti_machine_take(&machine, true);
    assert_true(machine.has_busy && machine.has_available);
    assert_int_equal(machine.last_pid, 4711);
    assert_int_equal(machine.available_bytes, 7 * 1024);
    assert_int_equal(machine.busy_ns / MS, 200750);
    vti_machine_fini(&machine);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Neither waiting for a disk nor a machine that is given to others is work. */
static void test_busy_machine(void **state)
{
    static const char *const broken[] = {"", "cpu", "cpu  1 2 3", "cpu0 1 2 3 4 5 6 7 8\n"};
    struct vti_machine machine;
    char path[256];

    (void)state;
    snprintf(path, sizeof path, "%s/stat", root);
    put_text(path, "cpu  100 20 3 9999 5000 4 5 7000 60 0\ncpu0 1 1\ncpu1 1 1\ncpu2 1 1\nintr 1\n");
    vti_machine_init(&machine, &source, false);
    assert_int_equal(machine.cpu_count, 3);
    vti_machine_take(&machine, false);
    assert_true(machine.has_busy);
    assert_int_equal(machine.busy_ns / MS, 1320);
    snprintf(path, sizeof path, "%s/uptime", root);
    put_text(path, "100.50 0.25\n");
    snprintf(path, sizeof path, "%s/stat", root);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        put_text(path, broken[i]);
        vti_machine_take(&machine, false);
        assert_false(machine.has_busy); /* the other file counts from another time */
    }
    vti_machine_fini(&machine);
}

/* A tree without clocks: the files say it all. */
static void test_files_alone(void **state)
{
    const struct vti_proc_source files = {root, NULL, 100, 4096, true};
    struct vti_family *family = *state;
    struct vti_family_total total;

    family->source = &files;
    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 100, .start = 2001, .cpu_ms = 70, .io = 9});
    total = round_of(family, 101);
    assert_int_equal(total.processes, 2);
    assert_int_equal(total.cpu.all_ns, 70 * MS);
    assert_false(total.has_io);
}

/* One that was others' when its number was new, and is a child of who is watched now. */
static void test_parent_that_comes_late(void **state)
{
    struct vti_family *family = *state;

    start(family, 100);
    set(&(struct fake){.pid = 101, .parent = 7, .start = 2001});
    set(&(struct fake){.pid = 102, .parent = 101, .start = 2001});
    assert_int_equal(round_of(family, 102).processes, 1);
    assert_non_null(vti_family_add(family, 101));
    assert_int_equal(round_of(family, 102).processes, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_children_and_their_children),
        ON_A_TREE(test_threads_are_none),
        ON_A_TREE(test_numbers_that_jump),
        ON_A_TREE(test_orphans),
        ON_A_TREE(test_waited_for_once),
        ON_A_TREE(test_waited_for_between_readings),
        ON_A_TREE(test_waited_for_by_nobody),
        ON_A_TREE(test_parent_and_child_go_together),
        ON_A_TREE(test_steps_do_not_add_up),
        ON_A_TREE(test_steps_do_not_go_back),
        ON_A_TREE(test_the_truth_of_wait4),
        ON_A_TREE(test_what_was_before_is_not_ours),
        ON_A_TREE(test_children_are_listed),
        ON_A_TREE(test_many_children_of_this_process),
        ON_A_TREE(test_numbers_are_used_again),
        ON_A_TREE(test_kept_files_know_whose_they_are),
        ON_A_TREE(test_hidden),
        ON_A_TREE(test_hidden_from_the_start),
        ON_A_TREE(test_io_of_others),
        ON_A_TREE(test_nonsense),
        ON_A_TREE(test_too_many),
        ON_A_TREE(test_machine),
        ON_A_TREE(test_busy_machine),
        ON_A_TREE(test_files_alone),
        ON_A_TREE(test_parent_that_comes_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
