/*
 * symtab.c - the name of a function from its module's file: .symtab, else .dynsym.
 *
 * Only where a filter asks for names; whatever needs lines or source files is done after the run, by venturi-symbols.
 * The file is read, not mapped: somebody may be writing a new one in its place.
 */
#include "collect/symtab.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define SECTIONS_MAX 4096
#define SYMBOLS_AT_ONCE 64

PLAIN static bool read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
    return offset < INT64_MAX && pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

PLAIN static bool read_section(int fd, const ElfW(Ehdr) * head, unsigned at, ElfW(Shdr) * section)
{
    return at < head->e_shnum &&
           read_at(fd, section, sizeof *section, head->e_shoff + at * sizeof *section);
}

PLAIN static bool read_name(int fd, const ElfW(Shdr) * strings, uint32_t at, char *name,
                            size_t room)
{
    size_t bytes = room;

    if (at >= strings->sh_size)
        return false;
    if (strings->sh_size - at < bytes)
        bytes = strings->sh_size - at;
    return read_at(fd, name, bytes, strings->sh_offset + at) && name[0] && memchr(name, 0, bytes);
}

PLAIN static bool find_symbol(int fd, const ElfW(Shdr) * table, uintptr_t offset, ElfW(Sym) * found)
{
    ElfW(Sym) symbols[SYMBOLS_AT_ONCE];
    uint64_t count = table->sh_size / sizeof *symbols;

    for (uint64_t at = 0; at < count; at += SYMBOLS_AT_ONCE) {
        uint64_t some = count - at < SYMBOLS_AT_ONCE ? count - at : SYMBOLS_AT_ONCE;

        if (!read_at(fd, symbols, some * sizeof *symbols, table->sh_offset + at * sizeof *symbols))
            return false;
        for (unsigned i = 0; i < some; i++)
            if (symbols[i].st_value == offset && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC) {
                *found = symbols[i];
                return true;
            }
    }
    return false;
}

PLAIN static bool find_in(int fd, const ElfW(Ehdr) * head, uint32_t type, uintptr_t offset,
                          char *name, size_t room)
{
    ElfW(Shdr) table;
    ElfW(Shdr) strings;
    ElfW(Sym) symbol;

    for (unsigned i = 0; i < head->e_shnum && i < SECTIONS_MAX; i++)
        if (read_section(fd, head, i, &table) && table.sh_type == type)
            return read_section(fd, head, table.sh_link, &strings) &&
                   find_symbol(fd, &table, offset, &symbol) &&
                   read_name(fd, &strings, symbol.st_name, name, room);
    return false;
}

PLAIN bool vti_symtab_name(const struct vti_module *module, uintptr_t address, char *name,
                           size_t room)
{
    int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uintptr_t offset = address - module->base;
    bool is_found = false;
    ElfW(Ehdr) head;

    if (fd < 0)
        return false;
    if (read_at(fd, &head, sizeof head, 0) && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
        head.e_shentsize == sizeof(ElfW(Shdr)))
        is_found = find_in(fd, &head, SHT_SYMTAB, offset, name, room) ||
                   find_in(fd, &head, SHT_DYNSYM, offset, name, room);
    close(fd);
    return is_found;
}
