// SPDX-License-Identifier: Apache-2.0
#include "report/lines/line_files.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

// DWARF 5, tables 7.27 and 7.5.6.
enum { LNCT_PATH = 1, LNCT_DIRECTORY_INDEX = 2 };
enum {
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_BLOCK = 0x09,
    FORM_DATA1 = 0x0b,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f
};

// Bytes of a section that are still to be read. Behind the end come zeros.
typedef struct Bytes {
    const uint8_t *p, *end;
} Bytes;

static uint64_t take(Bytes *b, unsigned size) {
    uint64_t v = 0;
    if ((size_t)(b->end - b->p) < size) {
        b->p = b->end;
        return 0;
    }
    for (unsigned k = 0; k < size; k++)
        v |= (uint64_t)*b->p++ << (8 * k);
    return v;
}

static uint64_t take_leb(Bytes *b) {
    uint64_t v = 0;
    for (unsigned shift = 0; b->p < b->end; shift += 7) {
        uint8_t byte = *b->p++;
        v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            break;
    }
    return v;
}

// A text that begins at `at`. NULL: none does.
static const char *text_at(Bytes b, uint64_t at) {
    size_t n = (size_t)(b.end - b.p);
    return at < n && memchr(b.p + at, 0, n - at) ? (const char *)b.p + at : NULL;
}

static void skip(Bytes *b, uint64_t n) { b->p = n < (uint64_t)(b->end - b->p) ? b->p + n : b->end; }

typedef struct Tables {
    Bytes lines, line_texts, texts; // .debug_line, .debug_line_str, .debug_str
    unsigned offset;                // size of an offset in this unit
} Tables;

// What an entry of a list of folders or files says.
typedef struct Entry {
    const char *name; // NULL: in a form that is not known
    uint64_t folder;
} Entry;

enum { FORMATS = 8 }; // of an entry, as many as are read

typedef struct List {
    uint64_t types[FORMATS], forms[FORMATS];
    unsigned n_formats;
    uint64_t count;
    Bytes entries;
} List;

// False: the form is not known, and so neither is what comes behind it.
static bool read_entry(const Tables *t, const List *list, Bytes *b, Entry *out) {
    *out = (Entry){0};
    for (unsigned k = 0; k < list->n_formats; k++) {
        const char *text = NULL;
        uint64_t number = 0;
        switch (list->forms[k]) {
        case FORM_LINE_STRP: text = text_at(t->line_texts, take(b, t->offset)); break;
        case FORM_STRP: text = text_at(t->texts, take(b, t->offset)); break;
        case FORM_STRING:
            text = text_at(*b, 0);
            skip(b, text ? strlen(text) + 1 : UINT64_MAX);
            break;
        case FORM_UDATA: number = take_leb(b); break;
        case FORM_DATA1: number = take(b, 1); break;
        case FORM_DATA2: number = take(b, 2); break;
        case FORM_DATA4: number = take(b, 4); break;
        case FORM_DATA8: number = take(b, 8); break;
        case FORM_DATA16: skip(b, 16); break;
        case FORM_BLOCK: skip(b, take_leb(b)); break;
        default: return false;
        }
        if (list->types[k] == LNCT_PATH)
            out->name = text;
        else if (list->types[k] == LNCT_DIRECTORY_INDEX)
            out->folder = number;
    }
    return true;
}

// Begins a list; `b` stays in front of its entries. False: it is none that can be read.
static bool begin_list(Bytes *b, List *out) {
    out->n_formats = (unsigned)take(b, 1);
    if (out->n_formats > FORMATS)
        return false;
    for (unsigned k = 0; k < out->n_formats; k++) {
        out->types[k] = take_leb(b);
        out->forms[k] = take_leb(b);
    }
    out->count = take_leb(b);
    out->entries = *b;
    return out->n_formats ||
           !out->count; // an entry takes a byte at least, so that there are no more than bytes
}

// Entry `at` of the list; its name is NULL if there is none.
static Entry entry_of(const Tables *t, const List *list, uint64_t at) {
    Bytes b = list->entries;
    Entry e = {0};
    for (uint64_t k = 0; k <= at && at < list->count && b.p < b.end; k++)
        if (!read_entry(t, list, &b, &e))
            return (Entry){0};
    return e;
}

static const char *path_of(const Tables *t, const List *folders, const Entry *file, Arena *arena) {
    if (*file->name == '/')
        return gr_arena_strdup(arena, file->name);
    const char *base = entry_of(t, folders, 0).name, *folder = entry_of(t, folders, file->folder).name;
    if (!base || !folder)
        return NULL;
    return *folder == '/' ? gr_arena_printf(arena, "%s/%s", folder, file->name)
                          : gr_arena_printf(arena, "%s/%s/%s", base, folder, file->name);
}

// One unit: file 1, if file 0 has the name.
static const char *look_at_unit(Tables *t, Bytes unit, const char *name, Arena *arena) {
    List folders, files;
    if (take(&unit, 2) != 5)
        return NULL;
    skip(&unit, 2 + t->offset + 5); // sizes of addresses and of the header; what the line program needs
    uint64_t opcodes = take(&unit, 1);
    skip(&unit, opcodes ? opcodes - 1 : 0);
    if (!begin_list(&unit, &folders))
        return NULL;
    Entry e;
    for (uint64_t k = 0; k < folders.count && unit.p < unit.end; k++)
        if (!read_entry(t, &folders, &unit, &e))
            return NULL;
    if (!begin_list(&unit, &files))
        return NULL;
    Entry own = entry_of(t, &files, 0), first = entry_of(t, &files, 1);
    if (!own.name || !first.name)
        return NULL;
    const char *slash = strrchr(own.name, '/');
    return strcmp(slash ? slash + 1 : own.name, name) ? NULL : path_of(t, &folders, &first, arena);
}

static const char *look(Tables *t, const char *name, Arena *arena) {
    for (Bytes b = t->lines; b.p < b.end;) {
        uint64_t length = take(&b, 4);
        t->offset = length == 0xffffffff ? 8 : 4;
        if (t->offset == 8)
            length = take(&b, 8);
        if (!length || length > (uint64_t)(b.end - b.p))
            return NULL;
        const char *found = look_at_unit(t, (Bytes){b.p, b.p + length}, name, arena);
        if (found)
            return found;
        skip(&b, length);
    }
    return NULL;
}

static Bytes bytes_of(Elf_Scn *section) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED)
        elf_compress(section, 0, 0);
    Elf_Data *data = elf_getdata(section, NULL);
    return data && data->d_buf ? (Bytes){data->d_buf, (const uint8_t *)data->d_buf + data->d_size}
                               : (Bytes){0};
}

bool gr_is_nvcc_file(const char *path) {
    static const char end[] = ".cudafe1.cpp";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    return !strncmp(name, "tmpxft_", 7) && n >= sizeof end && !strcmp(name + n - (sizeof end - 1), end);
}

const char *gr_first_line_file(const char *object, const char *path, Arena *arena) {
    static const char *const names[] = {".debug_line", ".debug_line_str", ".debug_str"};
    Tables t = {0};
    Bytes *const to[] = {&t.lines, &t.line_texts, &t.texts};
    const char *slash = strrchr(path, '/'), *found = NULL;
    size_t strings = 0;
    int fd = open(object, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getshdrstrndx(elf, &strings)) {
        GElf_Shdr header;
        for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
            for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
                const char *is = gelf_getshdr(s, &header) ? elf_strptr(elf, strings, header.sh_name) : NULL;
                if (is && !strcmp(is, names[k]))
                    *to[k] = bytes_of(s);
            }
        found = look(&t, slash ? slash + 1 : path, arena);
    }
    elf_end(elf);
    close(fd);
    return found;
}
