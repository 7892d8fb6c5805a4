/*
 * machine.c - tries what recording needs on this machine, and reads the settings.
 *
 * Each check does what the recorder would do rather than ask for versions, and leaves nothing
 * behind.
 */
#include "cli/machine.h"

#include "base/beside.h"
#include "cli/quantity.h"
#include "cli/render.h"
#include "drain/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DISK_LEAST (64u << 20) /* what the buffers may hold */
#define CLOCK_READS 2000
#define CLOCK_TRIES 5

static void found(struct vti_check *check, enum vti_check_state state, const char *hint,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

static void found(struct vti_check *check, enum vti_check_state state, const char *hint,
                  const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(check->text, sizeof check->text, format, args);
    va_end(args);
    check->state = state;
    check->hint = hint;
}

/* The first line of a small file; false if it cannot be read. */
static bool read_line(const char *path, char *to, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, to, room - 1);

    if (fd >= 0)
        close(fd);
    to[got > 0 ? got : 0] = 0;
    to[strcspn(to, "\n")] = 0;
    return got > 0;
}

/* ---- clock ----------------------------------------------------------------------------------- */

static double clock_cost_ns(enum vti_clock_type type)
{
    uint64_t best = UINT64_MAX;

    for (int try = 0; try < CLOCK_TRIES; try++) {
        uint64_t begin = vti_clock_now_ns();
        uint64_t took;

        for (int i = 0; i < CLOCK_READS; i++) {
            uint64_t ticks = vti_clock_ticks(type);

            __asm__ volatile("" : : "r"(ticks)); /* the read must happen */
        }
        took = vti_clock_now_ns() - begin;
        best = took < best ? took : best;
    }
    return (double)best / CLOCK_READS;
}

static void check_clock(struct vti_check *check)
{
    enum vti_clock_type type = vti_clock_choose();
    double cost = clock_cost_ns(type);

    if (type == VTI_CLOCK_MONOTONIC_NS)
        found(check, VTI_CHECK_NOTE, "the kernel does not trust the CPU's counter; spans cost more",
              "clock_gettime, %.1f ns a read", cost);
    else
        found(check, VTI_CHECK_OK, NULL, "%s, %.1f ns a read",
              type == VTI_CLOCK_ARM ? "the CPU's counter (cntvct)" : "the CPU's counter (tsc)",
              cost);
}

/* Which of the flags that make a counter usable the CPU has; "" where there are none to have. */
static void list_flags(char *to, size_t room)
{
    static const char *const flags[] = {"constant_tsc", "nonstop_tsc", "tsc_reliable", "rdtscp"};
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[8192];
    size_t used = 0;

    to[0] = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "flags", 5))
            continue;
        line[strcspn(line, "\n")] = ' ';
        for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
            char wanted[32];

            snprintf(wanted, sizeof wanted, " %s ", flags[i]);
            if (strstr(line, wanted))
                used += (size_t)snprintf(to + used, room - used, "%s%s", used ? " " : "", flags[i]);
        }
        break;
    }
    if (file)
        fclose(file);
}

static void check_kernel_clock(struct vti_check *check)
{
    char source[64];
    char flags[128];

    list_flags(flags, sizeof flags);
    if (!read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                   sizeof source))
        found(check, VTI_CHECK_NOTE, NULL, "the kernel does not tell");
    else
        found(check, VTI_CHECK_OK, NULL, "%s%s%s%s", source, *flags ? " (CPU: " : "", flags,
              *flags ? ")" : "");
}

/* ---- kernel ---------------------------------------------------------------------------------- */

static void check_memory(struct vti_check *check)
{
    int fd = memfd_create("venturi-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *at = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, 65536) == 0)
        at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        found(check, VTI_CHECK_BAD, "needs Linux 3.17 or later, and no filter on memfd_create",
              "memfd: %s", strerror(errno));
    else
        found(check, VTI_CHECK_OK, NULL, "memfd");
    if (at != MAP_FAILED)
        munmap(at, 65536);
    if (fd >= 0)
        close(fd);
}

static void check_processes(struct vti_check *check)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    if (fd < 0)
        found(check, VTI_CHECK_NOTE, "the end of a program is noticed by asking now and then",
              "pidfd: %s", strerror(errno));
    else
        found(check, VTI_CHECK_OK, NULL, "pidfd");
    if (fd >= 0)
        close(fd);
}

static void check_perf(struct vti_check *check)
{
    char level[32];

    if (!read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level))
        found(check, VTI_CHECK_NOTE, NULL, "this kernel has none");
    else
        found(check, VTI_CHECK_OK, NULL, "perf_event_paranoid is %s", level);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* PATH of `name` seen from the folder of this program; true if it exists. */
static bool beside_tool(const char *name, int mode, char *to, size_t room)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (len <= 0)
        return false;
    self[len] = 0;
    slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    if (snprintf(to, room, "%s/%s", self, name) >= (int)room)
        return false;
    return access(to, mode) == 0;
}

static void check_drainer(struct vti_check *check)
{
    static const char *const places[] = {"venturi-drain", "../libexec/venturi/venturi-drain"};
    const char *named = getenv("VENTURI_DRAIN");
    char path[PATH_MAX];

    if (named && *named) {
        if (access(named, X_OK))
            found(check, VTI_CHECK_BAD, "VENTURI_DRAIN names it", "%s: %s", named, strerror(errno));
        else
            found(check, VTI_CHECK_OK, NULL, "%s (VENTURI_DRAIN)", named);
        return;
    }
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        if (beside_tool(places[i], X_OK, path, sizeof path)) {
            found(check, VTI_CHECK_OK, NULL, "%.900s", path);
            return;
        }
    found(check, VTI_CHECK_BAD, "set VENTURI_DRAIN; until then only venturi run records",
          "venturi-drain is not where the tool is, nor in ../libexec/venturi");
}

static void check_library(struct vti_check *check)
{
    static const char *const places[] = {"libventuri.so.1", "../lib/libventuri.so.1",
                                         "../lib64/libventuri.so.1", "../lib/*/libventuri.so.1",
                                         "../libventuri.so.1"};
    char path[PATH_MAX] = "";

    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        glob_t matches = {0};

        beside_tool(places[i], R_OK, path, sizeof path);
        if (glob(path, 0, NULL, &matches) == 0 && matches.gl_pathc)
            found(check, VTI_CHECK_OK, NULL, "%.900s", matches.gl_pathv[0]);
        globfree(&matches);
        if (check->text[0])
            return;
    }
    found(check, VTI_CHECK_NOTE, "programs that link it must find it by themselves",
          "libventuri.so.1 is not where the tool is, nor in ../lib");
}

/* Makes a file in the folder and takes it away again; only that tells. */
static bool can_write(const char *folder)
{
    char path[PATH_MAX];
    int fd = -1;

    if (snprintf(path, sizeof path, "%s/.venturi-doctor-XXXXXX", folder) < (int)sizeof path)
        fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return false;
    unlink(path);
    close(fd);
    return true;
}

static void check_space(struct vti_check *check, const char *folder, const char *shown)
{
    struct statvfs disk;
    char free_bytes[VTI_NUMBER_BYTES];

    if (!can_write(folder)) {
        found(check, VTI_CHECK_BAD, "change to another folder, or name one with -o", "%.900s: %s",
              shown, strerror(errno));
        return;
    }
    if (statvfs(folder, &disk)) {
        found(check, VTI_CHECK_NOTE, NULL, "%.900s: %s", shown, strerror(errno));
        return;
    }
    vti_text_bytes(free_bytes, (uint64_t)disk.f_bavail * disk.f_frsize);
    if ((uint64_t)disk.f_bavail * disk.f_frsize < DISK_LEAST)
        found(check, VTI_CHECK_BAD, "free some space, or name another folder with -o",
              "%s free in %.900s", free_bytes, shown);
    else
        found(check, VTI_CHECK_OK, NULL, "%s free in %.900s", free_bytes, shown);
}

static void check_here(struct vti_check *check)
{
    char here[PATH_MAX];

    check_space(check, ".", getcwd(here, sizeof here) ? here : "the current folder");
}

static void check_temp(struct vti_check *check)
{
    const char *folder = getenv("TMPDIR");

    if (!folder || !*folder)
        folder = "/tmp";
    check_space(check, folder, folder);
    if (check->state == VTI_CHECK_BAD) { /* nothing of a recording goes there */
        check->state = VTI_CHECK_NOTE;
        check->hint = "set TMPDIR";
    }
}

void vti_machine_check(struct vti_check checks[VTI_CHECK_COUNT])
{
    static const struct {
        const char *name;
        void (*make)(struct vti_check *check);
    } all[VTI_CHECK_COUNT] = {
        {"clock", check_clock},          {"kernel clock", check_kernel_clock},
        {"shared memory", check_memory}, {"process ends", check_processes},
        {"perf events", check_perf},     {"drainer", check_drainer},
        {"library", check_library},      {"this folder", check_here},
        {"temp folder", check_temp},     {"energy", vti_machine_check_energy},
    };

    for (unsigned i = 0; i < VTI_CHECK_COUNT; i++) {
        memset(&checks[i], 0, sizeof checks[i]);
        checks[i].name = all[i].name;
        all[i].make(&checks[i]);
    }
}

/* ---- settings -------------------------------------------------------------------------------- */

static const char *not_bytes(const char *value)
{
    uint64_t bytes;

    return vti_parse_bytes(value, &bytes) ? NULL : "not a size";
}

static const char *not_policy(const char *value)
{
    char *end;

    if (!strcmp(value, "drop"))
        return NULL;
    if (strncmp(value, "block:", 6))
        return "neither drop nor block:MS";
    strtoul(value + 6, &end, 10);
    return value[6] < '0' || value[6] > '9' || *end ? "not a number of milliseconds" : NULL;
}

static const char *not_number(const char *value)
{
    char *end;

    strtoul(value, &end, 10);
    return *value < '0' || *value > '9' || *end ? "not a number" : NULL;
}

/* The command of a Python package says which Python it is of, whatever the environment had. */
static bool is_set_by_package(const char *name)
{
    static const char *const places[] = {"../__main__.py"};
    char path[PATH_MAX];

    return !strcmp(name, "VENTURI_INTERPRETER") && vti_beside_find(places, 1, path, sizeof path);
}

void vti_machine_settings(struct vti_setting settings[VTI_SETTING_COUNT])
{
    static const struct {
        const char *name, *fallback, *meaning;
        const char *(*trouble)(const char *value);
    } all[VTI_SETTING_COUNT] = {
        {"VENTURI_OUTPUT", "", "record into this file without venturi run", NULL},
        {"VENTURI_FORCE", "0", "1: replace that file if it exists", not_number},
        {"VENTURI_SPOOL", "", "record into this folder, file after file", NULL},
        {"VENTURI_SPOOL_LIMIT", "1G", "of all in it: the oldest give way", not_bytes},
        {"VENTURI_SESSION", "", "the session to join; venturi run sets it", NULL},
        {"VENTURI_BUFFER", "64M", "memory for events that are not yet written", not_bytes},
        {"VENTURI_POLICY", "drop", "when that is full: drop, or block:MS", not_policy},
        {"VENTURI_RING", "0", "keep only the last so many seconds; 0: all", not_number},
        {"VENTURI_DRAIN", "", "the drainer, if not beside the tool", NULL},
        {"VENTURI_INTERPRETER", "python3", "the Python that venturi run uses", NULL},
    };

    for (unsigned i = 0; i < VTI_SETTING_COUNT; i++) {
        const char *given = getenv(all[i].name);
        const char *trouble = given && *given && all[i].trouble ? all[i].trouble(given) : NULL;
        bool is_given = given && *given && !trouble;

        settings[i] = (struct vti_setting){
            .name = all[i].name,
            .value = is_given ? given : all[i].fallback,
            .from = !is_given                        ? "default"
                    : is_set_by_package(all[i].name) ? "Python package"
                                                     : "environment",
            .trouble = trouble,
            .meaning = all[i].meaning,
        };
    }
}
