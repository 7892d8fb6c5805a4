/*
 * elf.c - looks into a program's file: how it is linked, and whether it was compiled for hooks.
 *
 * The file may be anything: every offset is checked.
 */
#include "cli/elf.h"

#include "base/file.h"

#include <elf.h>
#include <string.h>

#define HOOK "__cyg_profile_func_enter"
#define LINES_HOOK "vt_coverage_open"

static bool has(const struct vti_mapping *file, uint64_t offset, uint64_t bytes)
{
    return offset <= file->size && bytes <= file->size - offset;
}

/* A copy: nothing says that what lies in a file is aligned. */
static bool get(const struct vti_mapping *file, uint64_t offset, void *to, size_t bytes)
{
    if (!has(file, offset, bytes))
        return false;
    memcpy(to, file->data + offset, bytes);
    return true;
}

static bool get_section(const struct vti_mapping *file, const Elf64_Ehdr *head, unsigned at,
                        Elf64_Shdr *section)
{
    return at < head->e_shnum &&
           get(file, head->e_shoff + (uint64_t)at * sizeof *section, section, sizeof *section);
}

static bool is_text(const struct vti_mapping *file, const Elf64_Shdr *strings, uint64_t at,
                    const char *text)
{
    size_t len = strlen(text) + 1;

    return has(file, strings->sh_offset, strings->sh_size) && at < strings->sh_size &&
           strings->sh_size - at >= len && !memcmp(file->data + strings->sh_offset + at, text, len);
}

static bool has_symbol(const struct vti_mapping *file, const Elf64_Shdr *table,
                       const Elf64_Shdr *strings, const char *name)
{
    Elf64_Sym symbol;

    for (uint64_t at = 0; at + sizeof symbol <= table->sh_size; at += sizeof symbol) {
        if (!get(file, table->sh_offset + at, &symbol, sizeof symbol))
            return false;
        if (is_text(file, strings, symbol.st_name, name))
            return true;
    }
    return false;
}

/* Whether a library's name begins so. */
static bool begins(const struct vti_mapping *file, const Elf64_Shdr *strings, uint64_t at,
                   const char *text)
{
    size_t len = strlen(text);

    return has(file, strings->sh_offset, strings->sh_size) && at < strings->sh_size &&
           strings->sh_size - at >= len && !memcmp(file->data + strings->sh_offset + at, text, len);
}

static void look_at_needed(struct vti_elf_facts *facts, const struct vti_mapping *file,
                           const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
    Elf64_Dyn entry;

    for (uint64_t at = 0; at + sizeof entry <= table->sh_size; at += sizeof entry) {
        if (!get(file, table->sh_offset + at, &entry, sizeof entry))
            return;
        if (entry.d_tag != DT_NEEDED)
            continue;
        facts->brings_collector |= begins(file, strings, entry.d_un.d_val, "libventuri-functions.");
        facts->brings_sampler |= begins(file, strings, entry.d_un.d_val, "libventuri-sample.");
        facts->needs_to_be_first |= begins(file, strings, entry.d_un.d_val, "libasan.") ||
                                    begins(file, strings, entry.d_un.d_val, "libtsan.");
    }
}

static void look(struct vti_elf_facts *facts, const struct vti_mapping *file)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    Elf64_Shdr section;
    Elf64_Shdr strings;

    if (!get(file, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_shentsize != sizeof section || head.e_phentsize != sizeof part)
        return;
    facts->is_elf = true;
    facts->is_static = true;
    for (unsigned i = 0; i < head.e_phnum; i++)
        if (get(file, head.e_phoff + (uint64_t)i * sizeof part, &part, sizeof part) &&
            part.p_type == PT_INTERP) {
            facts->is_static = false;
            if (part.p_filesz <= sizeof facts->loader &&
                get(file, part.p_offset, facts->loader, part.p_filesz) && part.p_filesz)
                facts->loader[part.p_filesz - 1] = 0;
        }
    for (unsigned i = 0; get_section(file, &head, i, &section); i++) {
        if (!get_section(file, &head, section.sh_link, &strings))
            continue;
        if (section.sh_type == SHT_DYNSYM || (section.sh_type == SHT_SYMTAB && facts->is_static)) {
            facts->has_hooks |= has_symbol(file, &section, &strings, HOOK);
            facts->has_lines |= has_symbol(file, &section, &strings, LINES_HOOK);
        }
        if (section.sh_type == SHT_DYNAMIC)
            look_at_needed(facts, file, &section, &strings);
    }
}

void vti_elf_look(struct vti_elf_facts *facts, const char *path)
{
    struct vti_mapping file;

    memset(facts, 0, sizeof *facts);
    if (vti_mapping_open(&file, path))
        return;
    look(facts, &file);
    vti_mapping_close(&file);
}
