/*
 * test_write.c - a recording as it lies in its file: whole, abandoned, and written to a disk that is full
 * for a while or for good. Every file is read back block by block.
 */
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "format/decode.h"
#include "format/index.h"
#include "format/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define TRACKS 3

static char folder[] = "/tmp/venturi-write-XXXXXX";
static char path[128];

/* ---- reading back ----------------------------------------------------------------------------------- */

struct found {
    bool is_closed;
    uint64_t events;
    uint64_t lost;      /* by LOSSES entries */
    uint64_t disk_lost; /* of these, to the disk */
    uint64_t lost_first, lost_last;
    uint32_t blocks;
    uint32_t facts;
    uint32_t indexes;
    uint32_t kinds[VTI_KIND_COUNT];
    uint32_t sites[1000]; /* ids of SITES entries, in order */
    uint32_t site_count;
    uint64_t fact_offsets[2000];
    uint64_t end_events, end_lost, end_last;
};

static struct found found;

static void read_losses(const struct vti_block_header *header, const uint8_t *payload)
{
    struct vti_loss_fact loss;
    struct vti_reader in;

    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count; i++) {
        assert_true(vti_loss_read(&in, &loss));
        found.lost += loss.events;
        if (loss.reason != VTI_LOSS_DISK)
            continue;
        found.disk_lost += loss.events;
        assert_true(loss.track_plus_one >= 1 && loss.track_plus_one <= TRACKS);
        assert_true(loss.first <= loss.last);
        if (!found.lost_first || loss.first < found.lost_first)
            found.lost_first = loss.first;
        if (loss.last > found.lost_last)
            found.lost_last = loss.last;
    }
    assert_int_equal(vti_reader_left(&in), 0);
}

static void read_events(const struct vti_block_header *header, const uint8_t *payload)
{
    struct vti_decoder decoder;
    struct vti_event event;
    uint32_t count = 0;

    assert_int_equal(vti_decoder_init(&decoder, header, payload), 0);
    while (vti_decoder_next(&decoder, &event) == 1)
        count++;
    assert_int_equal(count, header->count);
    found.events += count;
}

static void read_sites(const struct vti_block_header *header, const uint8_t *payload)
{
    struct vti_site_fact site;
    struct vti_reader in;

    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count; i++) {
        assert_true(vti_site_read(&in, &site));
        found.sites[found.site_count++] = site.site;
    }
}

/* The index names exactly the event blocks of its track. */
static void read_index(const struct vti_mapping *file, const struct vti_block_header *header,
                       const uint8_t *payload)
{
    struct vti_block_header block;
    struct vti_index_entry entry;
    struct vti_index index;

    assert_int_equal(vti_index_open(&index, header, payload), 0);
    for (uint64_t i = 0; i < index.counts[0]; i++) {
        vti_index_entry_at(&index, i, &entry);
        assert_true(entry.offset < file->size);
        assert_true(
            vti_block_header_parse(file->data + entry.offset, file->size - entry.offset, &block));
        assert_int_equal(block.kind, VTI_EVENTS);
        assert_int_equal(block.owner, header->owner);
        assert_int_equal(block.first, entry.first);
        assert_int_equal(block.last, entry.last);
        assert_int_equal(block.count, entry.events);
        assert_int_equal(block.payload_bytes, entry.payload_bytes);
    }
    found.indexes += (uint32_t)index.counts[0];
}

static void read_end(const struct vti_mapping *file, uint64_t offset, const uint8_t *payload)
{
    struct vti_trailer trailer;

    assert_int_equal(offset + VTI_BLOCK_HEADER_BYTES + 32 +
                         8 * (found.facts + found.kinds[VTI_INDEX]),
                     file->size - VTI_TRAILER_BYTES);
    assert_true(vti_trailer_parse(file->data + file->size - VTI_TRAILER_BYTES, &trailer));
    assert_int_equal(trailer.end_offset, offset);
    assert_int_equal(trailer.block_count, found.blocks);
    found.end_events = vti_get_u64(payload);
    found.end_lost = vti_get_u64(payload + 8);
    found.end_last = vti_get_u64(payload + 16);
    assert_int_equal(vti_get_u32(payload + 24), found.facts);
    assert_int_equal(vti_get_u32(payload + 28), found.kinds[VTI_INDEX]);
    for (uint32_t i = 0; i < found.facts; i++)
        assert_int_equal(vti_get_u64(payload + 32 + 8 * i), found.fact_offsets[i]);
    found.is_closed = true;
}

/* Walks through the file; every byte of it must be accounted for. */
static void read_back(void)
{
    struct vti_file_header file_header;
    struct vti_mapping file;
    uint64_t at = VTI_FILE_HEADER_BYTES;

    memset(&found, 0, sizeof found);
    assert_int_equal(vti_mapping_open(&file, path), 0);
    assert_int_equal(vti_file_header_parse(file.data, file.size, &file_header), 0);
    while (at < file.size && !found.is_closed) {
        const uint8_t *payload = file.data + at + VTI_BLOCK_HEADER_BYTES;
        struct vti_block_header header;

        assert_true(vti_block_header_parse(file.data + at, file.size - at, &header));
        assert_true(at + vti_block_bytes(&header) <= file.size);
        assert_int_equal(vti_crc32c(payload, header.payload_bytes), header.payload_crc);
        found.blocks++;
        found.kinds[header.kind]++;
        if (header.kind != VTI_EVENTS && header.kind != VTI_INDEX && header.kind != VTI_END)
            found.fact_offsets[found.facts++] = at;
        if (header.kind == VTI_LOSSES)
            read_losses(&header, payload);
        else if (header.kind == VTI_EVENTS)
            read_events(&header, payload);
        else if (header.kind == VTI_SITES)
            read_sites(&header, payload);
        else if (header.kind == VTI_INDEX)
            read_index(&file, &header, payload);
        else if (header.kind == VTI_END)
            read_end(&file, at, payload);
        at += vti_block_bytes(&header);
    }
    if (found.is_closed) {
        assert_int_equal(found.end_events, found.events);
        assert_int_equal(found.indexes, found.kinds[VTI_EVENTS]);
    } else {
        assert_int_equal(at, file.size);
    }
    vti_mapping_close(&file);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

struct recording {
    struct vti_writer *writer;
    struct vti_encoder *encoders[TRACKS];
    uint64_t ticks;
    uint64_t events; /* given to the writer */
    uint32_t sites;  /* likewise */
    unsigned seed;
};

static struct recording recording;

static int open_file(void)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    return fd;
}

static void start_on(int fd)
{
    memset(&recording, 0, sizeof recording);
    recording.ticks = 1000000;
    recording.seed = 1;
    assert_int_equal(vti_writer_create(&recording.writer, fd, path), 0);
    for (uint32_t i = 0; i < TRACKS; i++)
        assert_int_equal(vti_encoder_create(&recording.encoders[i], i), 0);
}

static void start(void)
{
    start_on(open_file());
}

static void add_site(void)
{
    struct vti_site_fact site = {.site = ++recording.sites,
                                 .name = vti_bytes_of("a site with a name of some length"),
                                 .file = vti_bytes_of("folder/file.c")};
    struct vti_buf payload = {0};

    site.function = site.unit = vti_bytes_of("");
    vti_site_write(&payload, &site);
    assert_int_equal(vti_writer_facts(recording.writer, VTI_SITES, &payload, 1, 0, 0), 0);
    vti_buf_fini(&payload);
}

/* About 1,100 bytes for each track. */
static void add_events(void)
{
    for (uint32_t track = 0; track < TRACKS; track++) {
        struct vti_encoder *encoder = recording.encoders[track];

        for (unsigned i = 0; i < 400; i++) {
            recording.seed = recording.seed * 1664525 + 1013904223;
            recording.ticks += 50 + (recording.seed >> 20);
            if (vti_encoder_depth(encoder) == 0 ||
                (vti_encoder_depth(encoder) < 10 && recording.seed >> 31))
                vti_encoder_begin(encoder, recording.ticks, 1 + (recording.seed >> 8) % 200);
            else
                vti_encoder_end(encoder, recording.ticks);
        }
        recording.events += 400;
        assert_int_equal(vti_writer_events(recording.writer, encoder), 0);
    }
}

static int finish(struct vti_writer_stats *stats)
{
    int code = vti_writer_close(recording.writer, stats);

    for (uint32_t i = 0; i < TRACKS; i++)
        vti_encoder_free(recording.encoders[i]);
    return code;
}

/* Nothing is unaccounted for: events are in the file or among the losses, all facts are there in order. */
static void assert_nothing_missing(const struct vti_writer_stats *stats)
{
    assert_int_equal(stats->events, found.events);
    assert_int_equal(found.events + found.disk_lost, recording.events);
    assert_int_equal(stats->disk_lost, found.disk_lost);
    assert_int_equal(stats->lost_events, found.lost);
    assert_int_equal(found.end_lost, found.lost);
    assert_int_equal(found.site_count, recording.sites);
    for (uint32_t i = 0; i < found.site_count; i++)
        assert_int_equal(found.sites[i], i + 1);
    assert_int_equal(stats->blocks, found.blocks);
    if (found.disk_lost)
        assert_true(found.lost_first >= 1000000 && found.lost_last <= recording.ticks);
}

/* ---- a disk with room ----------------------------------------------------------------------------------- */

static void whole_recording(void **state)
{
    struct vti_loss_fact loss = {.reason = VTI_LOSS_BUFFERS, .events = 7, .first = 1, .last = 2};
    struct vti_writer_stats stats;

    (void)state;
    start();
    for (unsigned i = 0; i < 60; i++) {
        add_site();
        add_events();
        if (i % 3 == 0)
            assert_int_equal(vti_writer_flush(recording.writer), 0);
        if (i % 3 == 0)
            assert_int_equal(vti_writer_buffered(recording.writer), 0);
    }
    assert_true(vti_writer_buffered(recording.writer) > 0);
    assert_int_equal(vti_writer_loss(recording.writer, &loss), 0);
    assert_int_equal(finish(&stats), 0);
    read_back();
    assert_true(found.is_closed);
    assert_int_equal(found.events, recording.events);
    assert_int_equal(found.kinds[VTI_INDEX], TRACKS);
    assert_int_equal(found.kinds[VTI_END], 1);
    assert_int_equal(found.site_count, 60);
    assert_int_equal(found.lost, 7);
    assert_int_equal(found.end_lost, 7);
    assert_int_equal(found.end_last, recording.ticks);
    assert_int_equal(stats.lost_events, 7);
    assert_int_equal(stats.disk_lost, 0);
    assert_int_equal(stats.blocks, found.blocks);
    assert_int_equal(stats.disk_error, 0);
}

static void empty_recording(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    start();
    read_back(); /* the header is there at once */
    assert_int_equal(finish(&stats), 0);
    read_back();
    assert_true(found.is_closed);
    assert_int_equal(found.blocks, 1);
    assert_int_equal(stats.bytes,
                     VTI_FILE_HEADER_BYTES + VTI_BLOCK_HEADER_BYTES + 32 + VTI_TRAILER_BYTES);
}

static void abandoned_recording(void **state)
{
    (void)state;
    start();
    add_site();
    add_events();
    assert_int_equal(vti_writer_flush(recording.writer), 0);
    add_events();
    vti_writer_abandon(recording.writer);
    for (uint32_t i = 0; i < TRACKS; i++)
        vti_encoder_free(recording.encoders[i]);
    read_back();
    assert_false(found.is_closed);
    assert_int_equal(found.events, recording.events / 2);
}

/* Blocks that were cut earlier, as the flight recorder keeps them. */
static void blocks_from_elsewhere(void **state)
{
    struct vti_writer_stats stats;
    struct vti_block_header header;
    struct vti_summary summary;
    struct vti_buf block = {0};

    (void)state;
    start();
    for (unsigned i = 0; i < 40; i++) {
        vti_encoder_begin(recording.encoders[0], 100 + 10 * i, 1);
        vti_encoder_end(recording.encoders[0], 105 + 10 * i);
        vti_buf_clear(&block);
        assert_int_equal(vti_encoder_cut(recording.encoders[0], &block, &header, &summary), 1);
        assert_int_equal(vti_writer_block(recording.writer, &header, block.data), 0);
    }
    vti_buf_fini(&block);
    assert_int_equal(finish(&stats), 0);
    read_back();
    assert_int_equal(found.events, 80);
    assert_int_equal(found.kinds[VTI_EVENTS], 40);
}

/* What an encoder could not keep becomes a loss of its track. */
static void dropped_by_the_encoder(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    start();
    for (uint32_t i = 0; i < VTI_STACK_MAX + 3; i++)
        vti_encoder_begin(recording.encoders[1], 1000 + i, 1);
    assert_int_equal(vti_writer_events(recording.writer, recording.encoders[1]), 0);
    assert_int_equal(finish(&stats), 0);
    read_back();
    assert_int_equal(found.events, VTI_STACK_MAX);
    assert_int_equal(found.lost, 3);
    assert_int_equal(found.disk_lost, 0);
    assert_int_equal(found.end_lost, 3);
}

static void unwritable(void **state)
{
    struct vti_writer *writer;
    int fd;

    (void)state;
    close(open_file());
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(vti_writer_create(&writer, fd, path), VTI_E_WRITE);
    assert_non_null(strstr(vti_error_message(VTI_E_WRITE), path));
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed */
}

/* ---- a full disk ------------------------------------------------------------------------------------------ */

/* The kernel refuses what goes beyond: EFBIG, after a short write. */
static void limit_file(uint64_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The writer leaves a disk that was full alone for a while. */
static void flush_until_it_works(void)
{
    struct vti_writer_stats stats;

    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(vti_writer_flush(recording.writer), 0);
        vti_writer_stats(recording.writer, &stats);
        if (stats.disk_error == 0)
            return;
        usleep(10000);
    }
    fail();
}

static void full_for_a_while(void **state)
{
    struct vti_writer_stats stats;
    uint64_t lost;

    (void)state;
    start();
    for (unsigned i = 0; i < 10; i++) {
        add_site();
        add_events();
    }
    assert_int_equal(vti_writer_flush(recording.writer), 0);
    limit_file(60001);
    for (unsigned i = 0; i < 20; i++) {
        add_site();
        add_events();
    }
    assert_int_equal(vti_writer_flush(recording.writer), 0);
    vti_writer_stats(recording.writer, &stats);
    assert_int_equal(stats.disk_error, EFBIG);
    assert_true(stats.disk_lost > 0 && stats.disk_lost < recording.events);
    assert_true(stats.bytes > 55000 && stats.bytes <= 60001);
    assert_true(vti_writer_buffered(recording.writer) > 0); /* the sites wait */
    read_back();                                            /* and nothing half-written is there */
    assert_int_equal(found.events, stats.events);
    lost = stats.disk_lost;
    assert_int_equal(found.events + lost, recording.events);

    add_site();
    assert_int_equal(vti_writer_flush(recording.writer), 0); /* too early to try again */
    vti_writer_stats(recording.writer, &stats);
    assert_int_equal(stats.disk_error, EFBIG);
    limit_file(0);
    flush_until_it_works();
    add_site();
    add_events();
    assert_int_equal(finish(&stats), 0);
    read_back();
    assert_true(found.is_closed);
    assert_int_equal(found.disk_lost, lost);
    assert_int_equal(found.kinds[VTI_LOSSES], 1);
    assert_nothing_missing(&stats);
}

/* Again and again, with losses each time. */
static void full_at_every_turn(void **state)
{
    struct vti_writer_stats stats;
    uint64_t limit = 5000;

    (void)state;
    start();
    for (unsigned i = 0; i < 8; i++) {
        limit_file(limit);
        for (unsigned k = 0; k < 5; k++) {
            add_site();
            add_events();
        }
        assert_int_equal(vti_writer_flush(recording.writer), 0);
        limit += 9000 + 100 * i;
        limit_file(limit);
        flush_until_it_works();
        read_back();
    }
    limit_file(0);
    assert_int_equal(finish(&stats), 0);
    read_back();
    assert_true(found.is_closed);
    assert_true(found.kinds[VTI_LOSSES] >= 8);
    assert_nothing_missing(&stats);
}

/* No room for the end: the last event blocks give way, the facts among them do not. */
static void full_at_the_end(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    for (unsigned extra = 0; extra < 9000; extra += 1237) {
        start();
        limit_file(0);
        for (unsigned i = 0; i < 200; i++) {
            add_site();
            add_events();
        }
        assert_int_equal(vti_writer_flush(recording.writer), 0);
        vti_writer_stats(recording.writer, &stats);
        assert_int_equal(stats.disk_lost, 0);
        limit_file(stats.bytes + extra);
        assert_int_equal(finish(&stats), 0);
        limit_file(0);
        read_back();
        assert_true(found.is_closed);
        assert_true(found.disk_lost > 0 && found.disk_lost < recording.events / 5);
        assert_nothing_missing(&stats);
    }
}

/* The same with blocks that still wait when the recording is closed. */
static void full_before_the_end(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    for (uint64_t limit = 20000; limit < 60000; limit += 7777) {
        start();
        limit_file(limit);
        for (unsigned i = 0; i < 30; i++) {
            add_site();
            add_events();
        }
        assert_int_equal(finish(&stats), 0);
        limit_file(0);
        assert_true(stats.bytes <= limit);
        read_back();
        assert_true(found.is_closed);
        assert_true(found.disk_lost > 0);
        assert_nothing_missing(&stats);
    }
}

/* Facts alone do not fit: the file stays without an end. */
static void no_room_at_all(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    start();
    add_site();
    add_events();
    assert_int_equal(vti_writer_flush(recording.writer), 0);
    vti_writer_stats(recording.writer, &stats);
    limit_file(stats.bytes + 100);
    for (unsigned i = 0; i < 900; i++)
        add_site();
    assert_int_equal(finish(&stats), VTI_E_DISK_FULL);
    assert_non_null(strstr(vti_error_message(VTI_E_DISK_FULL), path));
    limit_file(0);
    read_back();
    assert_false(found.is_closed);
}

static void device_that_is_always_full(void **state)
{
    struct vti_writer_stats stats;
    int fd = open("/dev/full", O_RDWR | O_CLOEXEC);

    (void)state;
    if (fd < 0)
        skip();
    start_on(fd);
    add_site();
    add_events();
    assert_int_equal(vti_writer_flush(recording.writer), 0);
    vti_writer_stats(recording.writer, &stats);
    assert_int_equal(stats.disk_error, ENOSPC);
    assert_int_equal(stats.bytes, 0);
    assert_int_equal(finish(&stats), VTI_E_DISK_FULL);
    assert_int_equal(stats.events, 0);
    assert_int_equal(stats.disk_lost, recording.events);
}

static bool write_text(const char *file, const char *text)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return is_written;
}

/* Become root in a user namespace of our own, where mounting is allowed. */
static bool become_root(void)
{
    char users[32];
    char groups[32];

    snprintf(users, sizeof users, "0 %u 1", getuid());
    snprintf(groups, sizeof groups, "0 %u 1", getgid());
    return unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny") &&
           write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

/* A file system of 256 KiB that only this process sees; false where that is not allowed. */
static bool mount_tiny(void)
{
    if (getuid() != 0 && !become_root())
        return false;
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tiny", folder, "tmpfs", 0, "size=256k") == 0;
}

/* ENOSPC of a real file system, filled up by somebody else as well. Last: it hides the folder. */
static void tiny_file_system(void **state)
{
    static const char zeros[16384];
    char other[160];
    struct vti_writer_stats stats;
    int fd;

    (void)state;
    if (!mount_tiny())
        skip();
    start();
    snprintf(other, sizeof other, "%s.other", path);
    for (unsigned i = 0; i < 90; i++) {
        if (i == 20) {
            fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            while (write(fd, zeros, sizeof zeros) > 0)
                continue;
            close(fd);
        }
        if (i == 60)
            unlink(other);
        add_site();
        add_events();
        if (i == 62)
            flush_until_it_works();
        else
            assert_int_equal(vti_writer_flush(recording.writer), 0);
    }
    assert_int_equal(finish(&stats), 0);
    read_back();
    assert_true(found.is_closed);
    assert_true(found.disk_lost > 0);
    assert_nothing_missing(&stats);
    unlink(path);
    umount2(folder, MNT_DETACH);
}

/* A limit of our own: as a full disk, but the end of the recording finds room behind it. */
static void limited(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    start();
    vti_writer_limit(recording.writer, 20000);
    for (unsigned i = 0; i < 20; i++) {
        add_site();
        add_events();
        assert_int_equal(vti_writer_flush(recording.writer), 0);
    }
    vti_writer_stats(recording.writer, &stats);
    assert_true(stats.bytes > 10000 && stats.bytes <= 20000 && stats.disk_lost > 0);
    assert_int_equal(finish(&stats), 0);
    read_back();
    assert_true(found.is_closed);
    assert_nothing_missing(&stats);
}

/* Nobody can read it any more: it takes no room, and all that it had or would have had is counted. */
static void removed(void **state)
{
    struct vti_writer_stats stats;
    struct stat info;
    int fd = open_file();
    int other = dup(fd);

    (void)state;
    start_on(fd);
    add_events();
    assert_int_equal(vti_writer_flush(recording.writer), 0);
    assert_false(vti_writer_is_removed(recording.writer));
    unlink(path);
    assert_true(vti_writer_is_removed(recording.writer));
    add_events();
    vti_writer_let_go(recording.writer);
    for (unsigned i = 0; i < 20; i++) {
        add_site();
        add_events();
        assert_int_equal(vti_writer_flush(recording.writer), 0);
        assert_int_equal(vti_writer_buffered(recording.writer), 0);
    }
    add_events();
    assert_int_equal(finish(&stats), VTI_E_WRITE);
    assert_int_equal(fstat(other, &info), 0);
    assert_int_equal(info.st_size, 0);
    close(other);
    assert_int_equal(stats.gone, recording.events);
    assert_int_equal(stats.disk_lost, 0);
}

static int make_folder(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/r.vt", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_recording),
        cmocka_unit_test(empty_recording),
        cmocka_unit_test(abandoned_recording),
        cmocka_unit_test(blocks_from_elsewhere),
        cmocka_unit_test(dropped_by_the_encoder),
        cmocka_unit_test(unwritable),
        cmocka_unit_test(full_for_a_while),
        cmocka_unit_test(full_at_every_turn),
        cmocka_unit_test(full_at_the_end),
        cmocka_unit_test(full_before_the_end),
        cmocka_unit_test(no_room_at_all),
        cmocka_unit_test(device_that_is_always_full),
        cmocka_unit_test(tiny_file_system),
        cmocka_unit_test(limited),
        cmocka_unit_test(removed),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
