// SPDX-License-Identifier: Apache-2.0
#include "fatbin/file.h"

#include "base/vec.h"
#include "fatbin/elfscan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What reading one file needs; the places are collected here before they move to the arena.
typedef struct Reader {
    const char *path;
    Arena *arena;
    VEC(FatbinPlace) places;
    gr_error *err;
} Reader;

static gr_status add_place(Reader *r, Fatbin *fb, const char *section, const char *member) {
    FatbinPlace p = {.fatbin = fb, .section = gr_arena_strdup(r->arena, section)};
    p.member = member ? gr_arena_strdup(r->arena, member) : NULL;
    if (!p.section || (member && !p.member) || !gr_vec_push(&r->places, p))
        return gr_fail(r->err, GR_ERR_NOMEM, "%s: out of memory", r->path);
    return GR_OK;
}

// Puts the file's name before what went wrong inside of it.
static gr_status name_file(const Reader *r, gr_status st, const char *section) {
    if (st != GR_OK && r->err) {
        char msg[sizeof r->err->msg];
        memcpy(msg, r->err->msg, sizeof msg);
        gr_fail(r->err, st, "%s: %s%s%.350s", r->path, section, *section ? ": " : "", msg);
    }
    return st;
}

// A section holds containers one after the other, each padded to 8; the linker may leave zeros between them.
static gr_status read_section(Reader *r, const uint8_t *data, size_t len, const char *section,
                              const char *member) {
    gr_status st = GR_OK;
    for (size_t at = 0; at < len;) {
        uint32_t word = 0;
        if (len - at >= sizeof word)
            memcpy(&word, data + at, sizeof word);
        if (word == 0) {
            at += 4;
            continue;
        }
        Fatbin *fb;
        GR_TRY(gr_fatbin_parse(data + at, len - at, r->arena, &fb, r->err));
        GR_TRY(add_place(r, fb, section, member));
        at += (fb->size + 3) & ~(size_t)3;
    }
done:
    return name_file(r, st, section);
}

// A container of one stored entry around a bare cubin or PTX text. Target and version are read from it where that is
// easy: e_flags of a cubin, the first directives of PTX.
static gr_status wrap_image(Reader *r, const char *data, size_t len, FatbinKind kind) {
    Fatbin *fb = GR_NEW(r->arena, Fatbin);
    FatbinEntry *e = GR_NEW(r->arena, FatbinEntry);
    if (!fb || !e)
        return gr_fail(r->err, GR_ERR_NOMEM, "%s: out of memory", r->path);
    *e = (FatbinEntry){.kind = kind, .kind_raw = kind, .payload = data, .packed_size = len, .size = len};
    if (kind == FATBIN_PTX) {
        const char *version = memmem(data, len, ".version", 8), *target = memmem(data, len, ".target", 7);
        unsigned major = 0, minor = 0, sm = 0;
        char suffix = 0;
        if (version)
            sscanf(version, ".version %5u.%5u", &major, &minor);
        if (target)
            sscanf(target, ".target sm_%6u%c", &sm, &suffix);
        e->major = (uint16_t)major;
        e->minor = (uint16_t)minor;
        e->sm = sm;
        e->suffix = suffix == 'a' || suffix == 'f' ? suffix : 0;
    } else {
        Elf64_Ehdr eh;
        if (len < sizeof eh)
            return gr_fail(r->err, GR_ERR_FORMAT, "%s: truncated cubin", r->path);
        memcpy(&eh, data, sizeof eh);
        // CUDA 13 moved the architecture from bits 0-7 to bits 8-15 of e_flags, with the ABI version in EI_ABIVERSION.
        e->sm = eh.e_ident[EI_ABIVERSION] >= 8 ? eh.e_flags >> 8 & 0xff : eh.e_flags & 0xff;
    }
    *fb = (Fatbin){.data = data, .size = len, .entries = e, .count = 1};
    return add_place(r, fb, "", NULL);
}

static gr_status read_elf(Reader *r, Elf *elf, const char *member) {
    GElf_Ehdr eh;
    size_t sections = 0, size = 0;
    elf_rawfile(elf, &size);
    if (!gelf_getehdr(elf, &eh) || elf_getshdrnum(elf, &sections) != 0)
        return gr_fail(r->err, GR_ERR_FORMAT, "%s: truncated ELF file", r->path);
    if (sections == 0 && eh.e_shoff != 0)
        return gr_fail(r->err, GR_ERR_FORMAT, "%s: truncated ELF file: its section headers are missing",
                       r->path);
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        const char *name = gr_elf_section_name(elf, s);
        if (!gr_elf_is_fatbin_section(name))
            continue;
        GElf_Shdr sh;
        size_t len;
        const void *data = gr_elf_bytes(s, &len);
        if (!gelf_getshdr(s, &sh) || (len < sh.sh_size && sh.sh_type != SHT_NOBITS))
            return gr_fail(r->err, GR_ERR_FORMAT, "%s: truncated ELF file: %s is cut short", r->path, name);
        GR_MUST(read_section(r, data, len, name, member));
    }
    return GR_OK;
}

static gr_status read_archive(Reader *r, ElfFile *f) {
    gr_status st = GR_OK;
    Elf *m;
    for (Elf_Cmd cmd = ELF_C_READ_MMAP; st == GR_OK && (m = elf_begin(f->fd, cmd, f->elf)); elf_end(m)) {
        const Elf_Arhdr *ar = elf_getarhdr(m);
        if (elf_kind(m) == ELF_K_ELF)
            st = read_elf(r, m, ar && ar->ar_name ? ar->ar_name : "?");
        cmd = elf_next(m);
    }
    return st;
}

static gr_status read_other(Reader *r, const char *data, size_t len, ImageKind image) {
    switch (image) {
    case IMAGE_CUBIN: return wrap_image(r, data, len, FATBIN_CUBIN);
    case IMAGE_PTX: return wrap_image(r, data, len, FATBIN_PTX);
    case IMAGE_FATBIN: return read_section(r, (const uint8_t *)data, len, "", NULL);
    default:
        return gr_fail(r->err, GR_ERR_FORMAT,
                       "%s: neither an ELF file, an archive, a fatbin, a cubin nor PTX", r->path);
    }
}

gr_status gr_fatbin_open(const char *path, Arena *arena, FatbinFile *out, gr_error *err) {
    Reader r = {.path = path, .arena = arena, .err = err};
    gr_status st = GR_OK;
    *out = (FatbinFile){0};
    ElfFile *f = malloc(sizeof *f);
    if (!f)
        return gr_fail(err, GR_ERR_NOMEM, "%s: out of memory", path);
    GR_TRY(gr_elf_open(path, f, err));
    size_t len = 0;
    const char *data = elf_rawfile(f->elf, &len);
    out->image = gr_image_kind(data, len);
    if (elf_kind(f->elf) == ELF_K_AR)
        GR_TRY(read_archive(&r, f));
    else if (elf_kind(f->elf) == ELF_K_ELF && out->image == IMAGE_ELF)
        GR_TRY(read_elf(&r, f->elf, NULL));
    else
        GR_TRY(read_other(&r, data, len, out->image));
    out->places = GR_NEW_ARRAY(arena, FatbinPlace, r.places.len + 1);
    if (!out->places)
        GR_TRY(gr_fail(err, GR_ERR_NOMEM, "%s: out of memory", path));
    if (r.places.len)
        memcpy(out->places, r.places.data, r.places.len * sizeof *r.places.data);
    out->count = r.places.len;
    out->priv = f;
done:
    gr_vec_free(&r.places);
    if (st != GR_OK) {
        gr_elf_close(f);
        free(f);
    }
    return st;
}

void gr_fatbin_close(FatbinFile *f) {
    if (f->priv) {
        gr_elf_close(f->priv);
        free(f->priv);
    }
    *f = (FatbinFile){0};
}
