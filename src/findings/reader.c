// SPDX-License-Identifier: Apache-2.0
#include "findings/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }

// The record at `at`, if one is there whole; *next is where the following one starts, which may be past the end.
static bool read_record(GrResultsView *v, size_t at, GrRecord *out, uint64_t *next) {
    GrRecordHeader h;
    if (v->len - at < sizeof h)
        return false;
    memcpy(&h, v->data + at, sizeof h);
    const uint8_t *payload = v->data + at + sizeof h;
    if (h.magic != GR_RECORD_MAGIC || h.size > v->len - at - sizeof h ||
        h.hash != gr_record_hash(&h, payload))
        return false;
    *out = (GrRecord){(GrRecordKind)h.kind, h.process, payload, (size_t)h.size};
    *next = at + align_up(sizeof h + h.size, GR_RESULTS_GRID);
    if (h.kind == GR_RECORD_AREA) {
        uint64_t place[3]; // offset, reserved bytes, used bytes
        if (h.size != sizeof place)
            return false;
        memcpy(place, payload, sizeof place);
        if (place[0] < *next || place[1] > UINT64_MAX / 4 || place[0] > UINT64_MAX / 4 || place[2] > place[1])
            return false;
        *next = place[0] + place[1];
        if (place[0] + place[2] > v->len)
            v->damaged += place[0] + place[2] - (place[0] < v->len ? v->len : place[0]);
    }
    return true;
}

gr_status gr_results_parse(const void *data, size_t len, GrResultsView *out, gr_error *err) {
    *out = (GrResultsView){.data = data, .len = len};
    GrResultsHeader h;
    if (len < GR_RESULTS_HEADER)
        return gr_fail(err, GR_ERR_FORMAT, "the results file is cut short");
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, GR_RESULTS_MAGIC, sizeof h.magic) || h.version != GR_RESULTS_VERSION)
        return gr_fail(err, GR_ERR_FORMAT, "not a results file of this gpurace");
    out->dropped = h.dropped;
    out->hidden_more = h.hidden_more;
    out->acquired = h.acquired;
    out->lost_to = h.lost_to;
    uint64_t at = GR_RESULTS_HEADER;
    while (at < len && at < h.end) {
        GrRecord r;
        uint64_t next;
        if (!read_record(out, (size_t)at, &r, &next)) {
            out->damaged += GR_RESULTS_GRID;
            at += GR_RESULTS_GRID;
            continue;
        }
        if (r.kind != GR_RECORD_AREA && !gr_vec_push(&out->records, r)) {
            gr_results_release(out);
            return gr_no_memory(err);
        }
        at = next;
    }
    if (at < h.end) // reserved, and not in the file
        out->damaged += h.end - at;
    return GR_OK;
}

// Whether the disk has no room for the holes of the file: a look at one in a mapping would end this process.
static bool has_dangerous_holes(int fd, const struct stat *st) {
    struct statvfs disk;
    uint64_t holes = (uint64_t)st->st_size - (uint64_t)st->st_blocks * 512;
    return (uint64_t)st->st_blocks * 512 < (uint64_t)st->st_size && !fstatvfs(fd, &disk) && disk.f_blocks &&
           disk.f_bfree * disk.f_frsize < holes + (UINT64_C(1) << 20); // others write there, too
}

// All of the file, to be unmapped; MAP_FAILED.
static void *bytes_of(int fd, const struct stat *st) {
    size_t size = (size_t)st->st_size, at = 0;
    if (!has_dangerous_holes(fd, st))
        return mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    char *to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (to != MAP_FAILED && at < size) {
        ssize_t n = pread(fd, to + at, size - at, (off_t)at);
        if (n == 0 || (n < 0 && errno != EINTR))
            break; // the rest stays zero
        at += n > 0 ? (size_t)n : 0;
    }
    return to;
}

gr_status gr_results_open(const char *path, GrResultsView *out, gr_error *err) {
    *out = (GrResultsView){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return gr_fail(err, GR_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    struct stat st;
    void *data = MAP_FAILED;
    if (!fstat(fd, &st) && st.st_size > 0)
        data = bytes_of(fd, &st);
    close(fd);
    if (data == MAP_FAILED)
        return gr_fail(err, GR_ERR_IO, "cannot read %s", path);
    gr_status s = gr_results_parse(data, (size_t)st.st_size, out, err);
    if (s != GR_OK)
        munmap(data, (size_t)st.st_size);
    return s;
}

void gr_results_release(GrResultsView *v) { gr_vec_free(&v->records); }

void gr_results_close(GrResultsView *v) {
    gr_results_release(v);
    if (v->data)
        munmap((void *)v->data, v->len);
    *v = (GrResultsView){0};
}

bool gr_results_hidden(const GrResultsView *v, unsigned k, GrHidden *out) {
    if (k >= GR_HIDDEN_ENTRIES)
        return false;
    memcpy(out, v->data + offsetof(GrResultsHeader, hidden) + k * sizeof *out, sizeof *out);
    out->program[sizeof out->program - 1] = 0;
    return out->state != 0; // 1: the process was killed while it wrote
}

const void *gr_results_at(const GrResultsView *v, uint64_t offset, uint64_t size) {
    return offset <= v->len && size <= v->len - offset ? v->data + offset : NULL;
}

GrCursor gr_cursor(const GrRecord *r) { return (GrCursor){r->payload, r->payload + r->size, false}; }

static bool take(GrCursor *c, void *to, size_t n) {
    if ((size_t)(c->end - c->p) < n) {
        c->bad = true;
        c->p = c->end;
        memset(to, 0, n);
        return false;
    }
    memcpy(to, c->p, n);
    c->p += n;
    return true;
}

uint32_t gr_get_u32(GrCursor *c) {
    uint32_t v;
    take(c, &v, sizeof v);
    return v;
}

uint64_t gr_get_u64(GrCursor *c) {
    uint64_t v;
    take(c, &v, sizeof v);
    return v;
}

const char *gr_get_str(GrCursor *c, Arena *arena) {
    uint32_t n = gr_get_u32(c);
    if (n > (size_t)(c->end - c->p)) {
        c->bad = true;
        c->p = c->end;
        return "";
    }
    char *s = gr_arena_strndup(arena, (const char *)c->p, n);
    c->p += n;
    if (!s) {
        c->bad = true;
        return "";
    }
    for (char *q = s; q < s + n; q++)
        if (!*q)
            *q = '?';
    return s;
}
