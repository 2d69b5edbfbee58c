// SPDX-License-Identifier: Apache-2.0
// fatbin — the directory of a container, wrappers, and the choice of the PTX that fits a device.
#include "fatbin/fatbin.h"

#include "fatbin/layout.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

// A text of `len` bytes at `offset` of an entry, between the fixed header and the payload. NULL if `len` is 0.
static gr_status read_string(const uint8_t *entry, uint32_t header_size, uint32_t offset, uint32_t len,
                             Arena *arena, const char **out, gr_error *err) {
    if (offset < sizeof(RawEntry) || offset > header_size || len > header_size - offset)
        return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: a string lies outside of its entry's header");
    if (len == 0)
        return GR_OK;
    *out = gr_arena_strndup(arena, (const char *)entry + offset, len);
    return *out ? GR_OK : gr_fail(err, GR_ERR_NOMEM, "out of memory reading a fatbin");
}

static gr_status read_options(const uint8_t *entry, const RawEntry *raw, Arena *arena, FatbinEntry *e,
                              gr_error *err) {
    RawString s;
    if (raw->options < sizeof *raw || raw->options > raw->header_size ||
        raw->header_size - raw->options < sizeof s)
        return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: the options lie outside of their entry's header");
    memcpy(&s, entry + raw->options, sizeof s);
    return read_string(entry, raw->header_size, s.offset, s.len, arena, &e->options, err);
}

static FatbinKind entry_kind(uint16_t raw) {
    return raw == FATBIN_PTX || raw == FATBIN_CUBIN ? (FatbinKind)raw : FATBIN_OTHER;
}

// Reads the entry at `entry`, of which `left` bytes are there; *step is where the next one starts.
static gr_status read_entry(const uint8_t *entry, size_t left, Arena *arena, FatbinEntry *e, size_t *step,
                            gr_error *err) {
    RawEntry raw;
    if (left < sizeof raw)
        return gr_fail(err, GR_ERR_FORMAT, "truncated fatbin: %zu bytes left where an entry starts", left);
    memcpy(&raw, entry, sizeof raw);
    if (raw.header_size < sizeof raw || raw.header_size > left || raw.padded_size > left - raw.header_size)
        return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: an entry of %u + %llu bytes where %zu are left",
                       raw.header_size, (unsigned long long)raw.padded_size, left);

    *e = (FatbinEntry){
        .kind = entry_kind(raw.kind),
        .kind_raw = raw.kind,
        .sm = raw.sm,
        .suffix = raw.flags & FATBIN_F_ARCH     ? 'a'
                  : raw.flags & FATBIN_F_FAMILY ? 'f'
                                                : 0,
        .major = raw.major,
        .minor = raw.minor,
        .flags = raw.flags,
        .packing = raw.flags & FATBIN_F_ZSTD  ? FATBIN_ZSTD
                   : raw.flags & FATBIN_F_LZ4 ? FATBIN_LZ4
                                              : FATBIN_STORED,
        .payload = entry + raw.header_size,
        .packed_size = raw.padded_size,
        .size = raw.padded_size,
    };
    if (e->packing != FATBIN_STORED) {
        if (raw.packed_size == 0 || raw.packed_size > raw.padded_size)
            return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: %u packed bytes in a payload of %llu",
                           raw.packed_size, (unsigned long long)raw.padded_size);
        e->packed_size = raw.packed_size;
        e->size = raw.unpacked_size;
    }
    if (raw.source_len)
        GR_MUST(read_string(entry, raw.header_size, raw.source, raw.source_len, arena, &e->source, err));
    if (raw.options && e->kind == FATBIN_PTX)
        GR_MUST(read_options(entry, &raw, arena, e, err));
    *step = raw.header_size + raw.padded_size;
    return GR_OK;
}

gr_status gr_fatbin_parse(const void *data, size_t len, Arena *arena, Fatbin **out, gr_error *err) {
    const uint8_t *p = data;
    RawHeader h;
    if (len < sizeof h)
        return gr_fail(err, GR_ERR_FORMAT, "truncated fatbin: %zu bytes", len);
    memcpy(&h, p, sizeof h);
    if (h.magic != GR_FATBIN_MAGIC)
        return gr_fail(err, GR_ERR_FORMAT, "not a fatbin: it starts with 0x%08x", h.magic);
    if (h.version != 1)
        return gr_fail(err, GR_ERR_UNSUPPORTED, "fatbin of version %u, known is 1", h.version);
    if (h.header_size < sizeof h || h.header_size > len || h.size > len - h.header_size)
        return gr_fail(err, GR_ERR_FORMAT, "truncated fatbin: it says %llu bytes, there are %zu",
                       (unsigned long long)h.size, len - sizeof h);

    Fatbin *fb = GR_NEW(arena, Fatbin);
    // The smallest entry is a header alone, so this many are enough; the directory is a small part of the container.
    size_t most = h.size / sizeof(RawEntry);
    FatbinEntry *entries = fb ? GR_NEW_ARRAY(arena, FatbinEntry, most < 16 ? most : 16) : NULL;
    if (!entries && most)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory reading a fatbin");
    size_t cap = most < 16 ? most : 16, count = 0, step = 0;
    for (size_t at = 0; at < h.size; at += step) {
        if (count == cap && cap < most) { // the arena has no realloc: double and leave the old one behind
            FatbinEntry *more = GR_NEW_ARRAY(arena, FatbinEntry, cap * 2);
            if (!more)
                return gr_fail(err, GR_ERR_NOMEM, "out of memory reading a fatbin");
            memcpy(more, entries, count * sizeof *more);
            entries = more;
            cap *= 2;
        }
        FatbinEntry e;
        GR_MUST(read_entry(p + h.header_size + at, h.size - at, arena, &e, &step, err));
        entries[count++] = e;
    }
    *fb = (Fatbin){.data = data, .size = h.header_size + h.size, .entries = entries, .count = count};
    *out = fb;
    return GR_OK;
}

const char *gr_fatbin_target(const FatbinEntry *e, char buf[GR_FATBIN_TARGET_LEN]) {
    snprintf(buf, GR_FATBIN_TARGET_LEN, "sm_%u%s", e->sm,
             e->suffix == 'a'   ? "a"
             : e->suffix == 'f' ? "f"
                                : "");
    return buf;
}

const char *gr_fatbin_packing_name(FatbinPacking p) {
    return p == FATBIN_ZSTD ? "zstd" : p == FATBIN_LZ4 ? "LZ4" : "stored";
}

// ---- Choosing ----------------------------------------------------------------------------------------------

bool gr_fatbin_ptx_fits(uint32_t sm, char suffix, uint32_t cc) {
    switch (suffix) {
    case 'a': return sm == cc;
    case 'f': return sm <= cc && sm / 10 == cc / 10;
    default: return sm <= cc;
    }
}

// How specific a target is: nothing, family, architecture.
static int specificity(const FatbinEntry *e) { return e->suffix == 'a' ? 2 : e->suffix == 'f' ? 1 : 0; }

const FatbinEntry *gr_fatbin_best_ptx(const Fatbin *fb, uint32_t cc, FatbinPrefer prefer) {
    const FatbinEntry *best = NULL;
    for (size_t i = 0; i < fb->count; i++) {
        const FatbinEntry *e = &fb->entries[i];
        if (e->kind != FATBIN_PTX || !gr_fatbin_ptx_fits(e->sm, e->suffix, cc))
            continue;
        if (best && best->sm >= e->sm) {
            int more = specificity(e) - specificity(best);
            if (best->sm > e->sm || (prefer == FATBIN_PREFER_SPECIFIC ? more <= 0 : more >= 0))
                continue;
        }
        best = e;
    }
    return best;
}

// ---- Wrappers and other images -----------------------------------------------------------------------------

gr_status gr_fatbin_wrapper(const FatbinWrapper *w, Arena *arena, const void ***out, size_t *count,
                            gr_error *err) {
    if (w->magic != GR_FATBIN_WRAPPER_MAGIC)
        return gr_fail(err, GR_ERR_FORMAT, "not a fatbin wrapper: it starts with 0x%08x", w->magic);
    if (w->version != 1 && w->version != 2)
        return gr_fail(err, GR_ERR_UNSUPPORTED, "fatbin wrapper of version %u, known are 1 and 2",
                       w->version);
    const void *const *extra = w->version == 2 ? w->extra : NULL;
    size_t n = 0;
    while (extra && extra[n])
        n++;
    const void **all = GR_NEW_ARRAY(arena, const void *, n + 1);
    if (!all)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory reading a fatbin wrapper");
    if (n)
        memcpy(all, extra, n * sizeof *all);
    if (w->data)
        all[n++] = w->data;
    *out = all;
    *count = n;
    return GR_OK;
}

#define AT(k) ((k) < len ? s[k] : '\0')
// The first place from `i` on that is neither blank nor comment.
static size_t skip_blanks(const char *s, size_t len, size_t i) {
    while (AT(i)) {
        if (isspace((unsigned char)s[i])) {
            i++;
        } else if (s[i] == '/' && AT(i + 1) == '/') {
            while (AT(i) && s[i] != '\n')
                i++;
        } else if (s[i] == '/' && AT(i + 1) == '*') {
            for (i += 2; AT(i) && !(s[i] == '*' && AT(i + 1) == '/'); i++)
                ;
            i += AT(i) ? 2 : 0;
        } else {
            break;
        }
    }
    return i;
}

// The place behind `word` and the blanks that follow it. 0: there is another word.
static size_t skip_word(const char *s, size_t len, size_t i, const char *word) {
    for (size_t k = 0; word[k]; k++)
        if (AT(i + k) != word[k])
            return 0;
    return skip_blanks(s, len, i + strlen(word));
}

static size_t read_number(const char *s, size_t len, size_t i, uint32_t *out) {
    for (*out = 0; isdigit((unsigned char)AT(i)) && *out < 100000; i++)
        *out = *out * 10 + (uint32_t)(s[i] - '0');
    return i;
}

// PTX text starts, after blanks and comments, with the directive .version (PTX ISA 5.1, table of module directives).
static bool is_ptx_text(const char *s, size_t len) {
    return skip_word(s, len, skip_blanks(s, len, 0), ".version") != 0;
}

bool gr_fatbin_describe(const char *text, size_t len, FatbinPtx *out) {
    const char *s = text;
    uint32_t major, minor;
    size_t i = skip_word(s, len, skip_blanks(s, len, 0), ".version");
    *out = (FatbinPtx){.text = text, .len = len, .flags = FATBIN_F_64BIT | FATBIN_F_LINUX};
    if (!i)
        return false;
    i = read_number(s, len, i, &major);
    if (AT(i) != '.')
        return false;
    i = read_number(s, len, i + 1, &minor);
    i = skip_word(s, len, skip_blanks(s, len, i), ".target");
    i = i ? skip_word(s, len, i, "sm_") : 0;
    if (!i)
        return false;
    i = read_number(s, len, i, &out->sm);
    out->major = (uint16_t)major;
    out->minor = (uint16_t)minor;
    out->suffix = AT(i) == 'a' || AT(i) == 'f' ? s[i] : 0;
    return true;
}
#undef AT

ImageKind gr_image_kind(const void *image, size_t len) {
    const char *s = image;
    if (!image || len < 1 || s[0] == '\0')
        return IMAGE_UNKNOWN;
    // Four bytes are read one by one: a text without a length may end after any of them.
    uint8_t b[4] = {0};
    for (size_t i = 0; i < sizeof b && i < len; i++) {
        b[i] = (uint8_t)s[i];
        if (b[i] == 0)
            break;
    }
    uint32_t magic;
    memcpy(&magic, b, sizeof magic);
    if (magic == GR_FATBIN_WRAPPER_MAGIC)
        return len >= sizeof(FatbinWrapper) ? IMAGE_WRAPPER : IMAGE_UNKNOWN;
    if (magic == GR_FATBIN_MAGIC)
        return IMAGE_FATBIN;
    if (memcmp(b, ELFMAG, SELFMAG) == 0) {
        uint16_t machine;
        if (len < offsetof(Elf64_Ehdr, e_machine) + sizeof machine)
            return IMAGE_UNKNOWN;
        memcpy(&machine, s + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
        return machine == EM_CUDA ? IMAGE_CUBIN : IMAGE_ELF;
    }
    return is_ptx_text(s, len) ? IMAGE_PTX : IMAGE_UNKNOWN;
}
