/*
 * module.c - which module an address belongs to, from the loader's own list.
 *
 * Slow path only. Asks each time: modules come and go, and the loader knows best.
 */
#include "collect/module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define LINE_BYTES (VTI_MODULE_PATH + 128)

static char program_path[VTI_MODULE_PATH];

struct search {
    uintptr_t address;
    struct vti_module *module;
};

PLAIN static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

PLAIN static void write_hex(char *to, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = 0;
}

PLAIN static void read_notes(struct vti_module *module, uintptr_t at, size_t bytes)
{
    uintptr_t end = at + bytes;

    while (end - at > sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        uintptr_t name = at + sizeof *note;
        uintptr_t data = name + ((note->n_namesz + 3u) & ~3u);
        uintptr_t next = data + ((note->n_descsz + 3u) & ~3u);

        if (data < name || next < data || next > end)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            !memcmp((const char *)name, "GNU", 4) && note->n_descsz <= VTI_BUILD_ID_BYTES) {
            write_hex(module->build_id, (const unsigned char *)data, note->n_descsz);
            return;
        }
        at = next;
    }
}

PLAIN static bool covers(const struct dl_phdr_info *info, uintptr_t address)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && address - info->dlpi_addr - part->p_vaddr < part->p_memsz)
            return true;
    }
    return false;
}

PLAIN static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *search = arg;
    struct vti_module *module = search->module;
    const char *path = info->dlpi_name ? info->dlpi_name : "";

    (void)size;
    if (!covers(info, search->address))
        return 0;
    module->base = info->dlpi_addr;
    module->is_program = !path[0];
    module->path[0] = 0;
    if (strlen(path) < sizeof module->path)
        memcpy(module->path, path, strlen(path) + 1);
    module->build_id[0] = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE && !module->build_id[0])
            read_notes(module, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                       info->dlpi_phdr[i].p_memsz);
    module->identity = mix(0xcbf29ce484222325u, info->dlpi_phdr,
                           info->dlpi_phnum * sizeof *info->dlpi_phdr);
    return 1;
}

struct reader {
    int fd;
    size_t at, len;
    char bytes[512];
};

/* The next line, cut to `room`; false at the end. */
PLAIN static bool read_line(struct reader *reader, char *line, size_t room)
{
    size_t used = 0;

    for (;;) {
        if (reader->at == reader->len) {
            ssize_t got = read(reader->fd, reader->bytes, sizeof reader->bytes);

            if (got <= 0)
                return false;
            reader->at = 0;
            reader->len = (size_t)got;
        }
        line[used] = reader->bytes[reader->at++];
        if (line[used] == '\n')
            break;
        used += used < room - 1;
    }
    line[used] = 0;
    return true;
}

PLAIN static void copy_path(char *to, const char *from)
{
    static const char deleted[] = " (deleted)";
    size_t len = from ? strlen(from) : 0;

    if (len > sizeof deleted && !strcmp(from + len - (sizeof deleted - 1), deleted))
        len -= sizeof deleted - 1;
    if (!len || len >= VTI_MODULE_PATH)
        return;
    memcpy(to, from, len);
    to[len] = 0;
}

/* The loader has no name for the program, and for a library the one it was asked for, which may be
 * relative to a folder that is no longer the current one. The kernel knows the real one. */
PLAIN static void find_path(char *path, uintptr_t address)
{
    struct reader reader = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    char line[LINE_BYTES];

    while (reader.fd >= 0 && read_line(&reader, line, sizeof line)) {
        char *end;
        uintptr_t first = strtoul(line, &end, 16);
        uintptr_t last = *end == '-' ? strtoul(end + 1, &end, 16) : 0;

        if (address < first || address >= last)
            continue;
        copy_path(path, strchr(end, '/'));
        break;
    }
    if (reader.fd >= 0)
        close(reader.fd);
}

/* Once: every function of the program would read the whole list otherwise. */
__attribute__((constructor)) PLAIN static void find_program(void)
{
    find_path(program_path, getauxval(AT_PHDR));
}

PLAIN static void complete(struct vti_module *module, uintptr_t address)
{
    if (module->is_program)
        memcpy(module->path, program_path, sizeof program_path);
    else if (module->path[0] != '/')
        find_path(module->path, address);
    module->identity = mix(module->identity, module->build_id, strlen(module->build_id));
    module->identity = mix(module->identity, module->path, strlen(module->path));
}

PLAIN bool vti_module_find(struct vti_module *module, uintptr_t address)
{
    struct search search = {address, module};

    if (!dl_iterate_phdr(look_at, &search))
        return false;
    complete(module, address);
    return true;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 */
PLAIN bool vti_module_of(struct vti_module *module, const struct dl_find_object *found,
                         uintptr_t address)
{
    const ElfW(Ehdr) *head = found->dlfo_map_start;
    size_t bytes = (size_t)((char *)found->dlfo_map_end - (char *)found->dlfo_map_start);
    struct search search = {address, module};
    struct dl_phdr_info info = {.dlpi_addr = found->dlfo_link_map->l_addr,
                                .dlpi_name = found->dlfo_link_map->l_name};

    if (bytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phoff > bytes ||
        head->e_phnum > (bytes - head->e_phoff) / sizeof *info.dlpi_phdr)
        return false;
    info.dlpi_phdr = (const ElfW(Phdr) *)((const char *)head + head->e_phoff);
    info.dlpi_phnum = head->e_phnum;
    if (!look_at(&info, sizeof info, &search))
        return false;
    complete(module, address);
    return true;
}
#endif

PLAIN static int count_unloaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(unsigned long long *)arg = info->dlpi_subs;
    return 1;
}

PLAIN unsigned long long vti_modules_unloaded(void)
{
    unsigned long long count = 0;

    dl_iterate_phdr(count_unloaded, &count);
    return count;
}
