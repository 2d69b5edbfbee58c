// SPDX-License-Identifier: Apache-2.0
#include "fatbin/cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_SECTION ".gpurace.ptx"

// ---- Reading -----------------------------------------------------------------------------------------------

// Whether `n` bytes at `at` are within `len`.
static bool is_within(uint64_t at, uint64_t n, size_t len) { return at <= len && n <= len - at; }

// The header, copied: an image in a fatbin need not be aligned.
static bool read_header(const void *image, size_t len, Elf64_Ehdr *h) {
    if (!image || len < sizeof *h || gr_image_kind(image, len) != IMAGE_CUBIN)
        return false;
    memcpy(h, image, sizeof *h);
    return h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_shnum &&
           h->e_shentsize == sizeof(Elf64_Shdr) &&
           is_within(h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), len);
}

static Elf64_Shdr section(const void *image, const Elf64_Ehdr *h, unsigned k) {
    Elf64_Shdr s;
    memcpy(&s, (const char *)image + h->e_shoff + k * sizeof s, sizeof s);
    return s;
}

size_t gr_cubin_size(const void *image, size_t len) {
    Elf64_Ehdr h;
    if (!read_header(image, len, &h))
        return 0;
    uint64_t size = h.e_shoff + (uint64_t)h.e_shnum * sizeof(Elf64_Shdr);
    uint64_t programs = (uint64_t)h.e_phnum * h.e_phentsize;
    if (programs && !is_within(h.e_phoff, programs, len))
        return 0;
    if (programs && h.e_phoff + programs > size)
        size = h.e_phoff + programs;
    for (unsigned k = 0; k < h.e_shnum; k++) {
        Elf64_Shdr s = section(image, &h, k);
        if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL)
            continue;
        if (!is_within(s.sh_offset, s.sh_size, len))
            return 0;
        if (s.sh_offset + s.sh_size > size)
            size = s.sh_offset + s.sh_size;
    }
    return size;
}

// The names of the sections. False: there are none.
static bool read_names(const void *image, size_t len, const Elf64_Ehdr *h, Elf64_Shdr *names) {
    if (h->e_shstrndx >= h->e_shnum)
        return false;
    *names = section(image, h, h->e_shstrndx);
    return names->sh_type == SHT_STRTAB && is_within(names->sh_offset, names->sh_size, len);
}

const void *gr_cubin_kept(const void *image, size_t len, size_t *size) {
    static const char wanted[] = KEPT_SECTION;
    Elf64_Ehdr h;
    Elf64_Shdr names;
    *size = 0;
    if (!read_header(image, len, &h) || !read_names(image, len, &h, &names))
        return NULL;
    for (unsigned k = 0; k < h.e_shnum; k++) {
        Elf64_Shdr s = section(image, &h, k);
        const char *name = (const char *)image + names.sh_offset + s.sh_name;
        if (s.sh_type != SHT_PROGBITS || s.sh_name > names.sh_size ||
            names.sh_size - s.sh_name < sizeof wanted || memcmp(name, wanted, sizeof wanted) != 0 ||
            !is_within(s.sh_offset, s.sh_size, len))
            continue;
        *size = s.sh_size;
        return (const char *)image + s.sh_offset;
    }
    return NULL;
}

Fatbin *gr_cubin_next_kept(const void **at, size_t *left, Arena *arena) {
    Fatbin *fb;
    if (!*left || gr_fatbin_parse(*at, *left, arena, &fb, NULL) != GR_OK)
        return NULL;
    size_t size = (fb->size + 7) & ~(size_t)7;
    size = size < *left ? size : *left;
    *at = (const char *)*at + size;
    *left -= size;
    return fb;
}

bool gr_cubin_entry_keeps(const FatbinEntry *e) {
    char *code;
    size_t len, size;
    if (e->kind != FATBIN_CUBIN || gr_fatbin_unpack(e, &code, &len, NULL) != GR_OK)
        return false;
    bool keeps = gr_cubin_kept(code, len, &size) != NULL;
    free(code);
    return keeps;
}

// ---- Writing -----------------------------------------------------------------------------------------------

typedef struct Parts {
    char *to;
    size_t at;
} Parts;

static uint64_t append(Parts *p, const void *data, size_t len) {
    p->at = (p->at + 7) & ~(size_t)7;
    uint64_t at = p->at;
    memcpy(p->to + at, data, len);
    p->at += len;
    return at;
}

// Everything stays where it is. Behind it come the sections' names once more, the kept PTX, and the section headers.
gr_status gr_cubin_keep(const void *image, size_t len, const void *containers, size_t size, void **out,
                        size_t *out_len, gr_error *err) {
    Elf64_Ehdr h;
    Elf64_Shdr names, kept = {.sh_type = SHT_PROGBITS, .sh_addralign = 8};
    size_t already;
    if (!read_header(image, len, &h) || !read_names(image, len, &h, &names) || h.e_shnum >= SHN_LORESERVE - 1)
        return gr_fail(err, GR_ERR_FORMAT, "it is no cubin, or a malformed one");
    if (gr_cubin_kept(image, len, &already))
        return gr_fail(err, GR_ERR_ARGUMENT, "it keeps PTX already");
    size_t headers = (size_t)h.e_shnum * sizeof(Elf64_Shdr);
    size_t total = len + names.sh_size + sizeof KEPT_SECTION + size + headers + sizeof kept + (size_t)4 * 8;
    Parts p = {.to = calloc(1, total)};
    if (!p.to)
        return gr_fail(err, GR_ERR_NOMEM, "no memory for a cubin of %zu bytes", total);
    append(&p, image, len);
    kept.sh_name = (Elf64_Word)names.sh_size;
    uint64_t names_at = append(&p, (const char *)image + names.sh_offset, names.sh_size);
    memcpy(p.to + p.at, KEPT_SECTION, sizeof KEPT_SECTION);
    p.at += sizeof KEPT_SECTION;
    names.sh_offset = names_at;
    names.sh_size += sizeof KEPT_SECTION;
    kept.sh_offset = append(&p, containers, size);
    kept.sh_size = size;
    uint64_t headers_at = append(&p, (const char *)image + h.e_shoff, headers);
    memcpy(p.to + p.at, &kept, sizeof kept);
    p.at += sizeof kept;
    memcpy(p.to + headers_at + h.e_shstrndx * sizeof names, &names, sizeof names);
    h.e_shoff = headers_at;
    h.e_shnum++;
    memcpy(p.to, &h, sizeof h);
    *out = p.to;
    *out_len = p.at;
    return GR_OK;
}
