/*
 * coverage.c - the counters that compilers put at the arcs of functions become memory that the drainer shares.
 *
 * When a module is loaded, a file in memory takes the place of the pages that its counters lie in, and is given to
 * the drainer together with what they mean. From then on nothing has to be done, and a program that is killed loses no
 * count. A forked child gets pages of its own, all zero. Without a session the counters stay what they are.
 */
#include "collect/coverage.h"

#include "collect/coverage_describe.h"
#include "collect/sample.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <venturi/line.h>
#include <venturi/span.h>

/* A module whose counters are shared. */
struct open_module {
    const void *module; /* NULL: a place that is free */
    char *start;
    size_t bytes;
    void *described; /* the first pages of its file */
    size_t described_bytes;
};

static struct vti_coverage_list objects; /* of modules that are being loaded */
static struct vti_coverage_list opened;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The sampler, where it is in the process. */
#pragma weak vt_sample_lines_start
#pragma weak vt_sample_lines_stop

static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

/* A limit on file sizes holds for files in memory too, and its signal would end the program. */
static int make_file(size_t bytes)
{
    struct rlimit limit;
    int fd;

    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
        return -1;
    fd = memfd_create("venturi-coverage", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Whether somebody wants lines, or may want them later. */
static bool is_wanted(void)
{
    uint32_t word;

    vt_ticks(); /* attaches */
    word = __atomic_load_n(__atomic_load_n(&vt_control_word, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
    return word ? (word & VT_ON_LINES) != 0 : secure_getenv("VENTURI_SESSION") != NULL;
}

/* What was counted so far. Word by word, and not by libc: a sanitizer that the program has knows gaps between counters. */
static bool copy_counters(const struct open_module *one, int fd)
{
    const uint64_t *from = (const uint64_t *)one->start;
    uint64_t *to = mmap(NULL, one->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                        (off_t)one->described_bytes);

    if (to == MAP_FAILED)
        return false;
    for (size_t i = 0; i < one->bytes / sizeof *to; i++) {
        uint64_t count = __atomic_load_n(&from[i], __ATOMIC_RELAXED);

        if (count)
            __atomic_store_n(&to[i], count, __ATOMIC_RELAXED);
    }
    munmap(to, one->bytes);
    return true;
}

/* The file takes the place of the counters; false: they stay what they are. */
static bool share(const struct open_module *one, int fd)
{
    if (vt_session_give(VT_GIFT_COVERAGE, "", fd))
        return false;
    return mmap(one->start, one->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                (off_t)one->described_bytes) != MAP_FAILED;
}

static void open_locked(const void *module, char *start, size_t bytes)
{
    struct vti_coverage_source source = {&objects, module, start, bytes};
    size_t described = whole_pages(vti_coverage_describe(&source, NULL, 0));
    struct open_module one = {module, start, bytes, MAP_FAILED, described};
    struct open_module *kept = vti_coverage_list_add(&opened, sizeof one);
    int fd = kept ? make_file(described + bytes) : -1;

    if (fd >= 0)
        one.described = mmap(NULL, described, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (one.described != MAP_FAILED) {
        vti_coverage_describe(&source, one.described, described);
        if (copy_counters(&one, fd) && share(&one, fd))
            *kept = one;
        else
            munmap(one.described, described);
    }
    if (fd >= 0)
        close(fd);
}

VT_API void vt_coverage_open(const void *module, void *start, void *end)
{
    pthread_mutex_lock(&lock);
    if (end > start && is_wanted()) {
        open_locked(module, start, (size_t)((char *)end - (char *)start));
        if (vt_sample_lines_start)
            vt_sample_lines_start(module);
    }
    vti_coverage_forget(&objects, module);
    pthread_mutex_unlock(&lock);
}

VT_API void vt_coverage_close(const void *module)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < opened.count; i++) {
        struct open_module *one = vti_coverage_list_get(&opened, sizeof *one, i);

        if (one->module != module)
            continue;
        munmap(one->described, one->described_bytes);
        memset(one, 0, sizeof *one);
        if (vt_sample_lines_stop)
            vt_sample_lines_stop(module);
    }
    pthread_mutex_unlock(&lock);
}

VT_API void vt_coverage_add_gcc(const void *module, const void *description)
{
    pthread_mutex_lock(&lock);
    vti_coverage_remember(&objects, module, description, NULL);
    pthread_mutex_unlock(&lock);
}

VT_API void vt_coverage_add_clang(const void *module, vt_coverage_writer writer)
{
    pthread_mutex_lock(&lock);
    vti_coverage_remember(&objects, module, NULL, writer);
    pthread_mutex_unlock(&lock);
}

/* ---- fork --------------------------------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* Until here the child has counted for its parent: nothing of the program has run. */
static void part(struct open_module *one)
{
    int fd = make_file(one->described_bytes + one->bytes);
    bool is_shared = false;

    /* In any case not for the parent any more. */
    if (mmap(one->start, one->bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return;
    if (fd >= 0)
        is_shared = pwrite(fd, one->described, one->described_bytes, 0) ==
                        (ssize_t)one->described_bytes &&
                    share(one, fd);
    if (fd >= 0)
        close(fd);
    if (!is_shared)
        one->module = NULL;
}

static void in_child(void)
{
    for (size_t i = 0; i < opened.count; i++) {
        struct open_module *one = vti_coverage_list_get(&opened, sizeof *one, i);

        if (one->module)
            part(one);
    }
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}
