// SPDX-License-Identifier: Apache-2.0
#include "coverage/coverage.h"

#include "base/own.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "gpurace coverage 1";

void gr_coverage_init(GrCoverage *c) {
    memset(c, 0, sizeof *c);
    gr_arena_init(&c->arena);
}

void gr_coverage_free(GrCoverage *c) {
    for (size_t i = 0; i < c->functions.len; i++) {
        gr_vec_free(&c->functions.data[i]->sites);
        gr_vec_free(&c->functions.data[i]->others);
    }
    gr_vec_free(&c->functions);
    gr_vec_free(&c->conflicts);
    gr_map_free(&c->by_id);
    gr_arena_free(&c->arena);
}

GrCoveredFunction *gr_coverage_function(GrCoverage *c, uint64_t id, const char *name) {
    GrCoveredFunction *f = gr_map_get_u64(&c->by_id, id);
    if (f || !name)
        return f;
    f = gr_arena_alloc(&c->arena, sizeof *f);
    if (!f)
        return NULL;
    *f = (GrCoveredFunction){.id = id, .name = gr_arena_strdup(&c->arena, name)};
    return f->name && gr_map_put_u64(&c->by_id, id, f) && gr_vec_push(&c->functions, f) ? f : NULL;
}

bool gr_coverage_outdated(const GrCoverage *c, const GrCoveredFunction *f) {
    for (size_t i = 0; i < c->functions.len; i++)
        if (c->functions.data[i]->last > f->last && !strcmp(c->functions.data[i]->name, f->name))
            return true;
    return false;
}

// Where site `nth` is, or would be.
static size_t position(const GrCoveredFunction *f, uint32_t nth) {
    size_t low = 0, high = f->sites.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->sites.data[middle].nth < nth)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

GrCoveredSite *gr_coverage_site(const GrCoveredFunction *f, uint32_t nth) {
    size_t at = position(f, nth);
    return at < f->sites.len && f->sites.data[at].nth == nth ? &f->sites.data[at] : NULL;
}

GrCoveredSite *gr_coverage_other(const GrCoveredFunction *f, uint32_t nth) {
    for (size_t k = 0; k < f->others.len; k++)
        if (f->others.data[k].nth == nth)
            return &f->others.data[k];
    return NULL;
}

GrCoveredSite *gr_coverage_add_site(GrCoveredFunction *f, uint32_t nth) {
    size_t at = position(f, nth);
    if (at < f->sites.len && f->sites.data[at].nth == nth)
        return &f->sites.data[at];
    if (!gr_vec_push(&f->sites, (GrCoveredSite){.nth = nth}))
        return NULL;
    GrCoveredSite added = f->sites.data[f->sites.len - 1];
    memmove(&f->sites.data[at + 1], &f->sites.data[at], (f->sites.len - 1 - at) * sizeof added);
    f->sites.data[at] = added;
    return &f->sites.data[at];
}

// ---- Reading -------------------------------------------------------------------------------------------------------

typedef struct Reading {
    GrCoverage *c;
    const char *p, *end, *path; // p: in the line
    uint32_t line;
    uint64_t n_sites;
    GrCoveredFunction *function;
    bool ended;
    gr_error *err;
} Reading;

static gr_status complain(const Reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static gr_status complain(const Reading *r, const char *fmt, ...) {
    GR_FORMATTED(text, 300, fmt);
    return gr_fail_at(r->err, GR_ERR_FORMAT, r->path, r->line, 0, "%s", text);
}

static bool take(Reading *r, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n))
        return false;
    r->p += n;
    return true;
}

// A number, and what must follow it.
static bool number(Reading *r, unsigned base, uint64_t most, char after, uint64_t *out) {
    const char *from = r->p;
    uint64_t v = 0;
    for (; r->p < r->end && isxdigit((unsigned char)*r->p); r->p++) {
        unsigned digit =
            *r->p <= '9' ? (unsigned)(*r->p - '0') : (unsigned)(tolower((unsigned char)*r->p) - 'a') + 10;
        if (digit >= base || digit > most || v > (most - digit) / base)
            return false;
        v = v * base + digit;
    }
    *out = v;
    return r->p > from && (!after ? r->p == r->end : r->p < r->end && *r->p++ == after);
}

// The rest of the line.
static const char *rest(Reading *r) {
    size_t n = (size_t)(r->end - r->p);
    char *text = gr_arena_alloc(&r->c->arena, n + 1);
    if (!text)
        return NULL;
    memcpy(text, r->p, n);
    text[n] = 0;
    r->p = r->end;
    return text;
}

static gr_status read_function(Reading *r) {
    uint64_t id, launched, last;
    bool ok = number(r, 16, UINT64_MAX, ' ', &id), kernel = false;
    ok = ok && ((kernel = take(r, "kernel ")) || take(r, "device "));
    ok = ok && number(r, 10, r->c->runs, ' ', &launched) && number(r, 10, r->c->runs, ' ', &last) &&
         r->p < r->end;
    if (!ok)
        return complain(r, "no function as gpurace writes them");
    if (gr_coverage_function(r->c, id, NULL))
        return complain(r, "the function %016llx a second time", (unsigned long long)id);
    const char *name = rest(r);
    r->function = name ? gr_coverage_function(r->c, id, name) : NULL;
    GR_NEED(r->function, r->err);
    r->function->is_kernel = kernel;
    r->function->launched = launched;
    r->function->last = last;
    return GR_OK;
}

static const char *read_kind(Reading *r) {
    static const char *const kinds[] = {"load", "store", "atomic"};
    for (unsigned k = 0; k < 3; k++)
        if (take(r, kinds[k]) && take(r, " "))
            return kinds[k];
    return NULL;
}

// What an access is, and where: the end of its line. The caller looks for the file.
static bool read_place(Reading *r, GrCoveredSite *s) {
    uint64_t size = 0, line = 0, col = 0;
    bool ok = (s->kind = read_kind(r)) && number(r, 10, UINT32_MAX, ' ', &size) &&
              number(r, 10, UINT32_MAX, ':', &line) &&
              number(r, 10, UINT32_MAX, r->p < r->end && memchr(r->p, ' ', (size_t)(r->end - r->p)) ? ' ' : 0,
                     &col);
    s->size = (uint32_t)size;
    s->line = (uint32_t)line;
    s->col = (uint32_t)col;
    return ok;
}

static gr_status read_other(Reading *r) {
    uint64_t nth = 0;
    GrCoveredSite s = {.kind = NULL};
    if (!number(r, 10, UINT32_MAX, ' ', &nth) || !nth || !read_place(r, &s))
        return complain(r, "no access as gpurace writes them");
    s.nth = (uint32_t)nth;
    if (!r->function)
        return complain(r, "an access before any function");
    if (gr_coverage_other(r->function, s.nth))
        return complain(r, "the function's access %u a second time", s.nth);
    if (r->p < r->end && !(s.file = rest(r)))
        return gr_no_memory(r->err);
    return gr_vec_push(&r->function->others, s) ? GR_OK : gr_no_memory(r->err);
}

static gr_status read_site(Reading *r) {
    uint64_t nth, chosen, watched;
    GrCoveredSite s = {.kind = NULL};
    bool ok = number(r, 10, UINT32_MAX, ' ', &nth) && number(r, 10, UINT32_MAX, ' ', &chosen) &&
              number(r, 10, UINT32_MAX, ' ', &watched) && read_place(r, &s);
    if (!ok)
        return complain(r, "no access as gpurace writes them");
    if (!r->function)
        return complain(r, "an access before any function");
    const GrCoveredFunction *f = r->function;
    if (!nth || (f->sites.len && nth <= f->sites.data[f->sites.len - 1].nth))
        return complain(r, "the function's accesses are not in order");
    if (watched > chosen || chosen > r->c->runs)
        return complain(r, "watched more often than chosen, or chosen more often than there were runs");
    s.nth = (uint32_t)nth;
    s.chosen = (uint32_t)chosen;
    s.watched = (uint32_t)watched;
    if (r->p < r->end && !(s.file = rest(r)))
        return gr_no_memory(r->err);
    r->n_sites++;
    return gr_vec_push(&r->function->sites, s) ? GR_OK : gr_no_memory(r->err);
}

static bool read_side(Reading *r, char after, ConflictSide *s) {
    uint64_t aimed = 0, launch = 0, block = 0, warp = 0;
    bool known = (take(r, "w") && (s->waits = true)) || take(r, "-");
    known = known && ((take(r, "f") && (s->first = true)) || take(r, "-")) && take(r, ":");
    known = known && number(r, 10, r->c->runs, ':', &aimed) && number(r, 10, UINT64_MAX, '.', &launch) &&
            number(r, 10, UINT64_MAX, '.', &block) && number(r, 10, UINT32_MAX, after, &warp);
    s->aimed = (uint32_t)aimed;
    s->launch = launch;
    s->block = block;
    s->warp = (uint32_t)warp;
    return known;
}

static gr_status read_conflict(Reading *r) {
    Conflict c = {.met = false};
    uint64_t nth[2] = {0, 0};
    bool ok = true;
    for (unsigned k = 0; ok && k < 2; k++) {
        ok = number(r, 16, UINT64_MAX, ':', &c.side[k].function) && number(r, 10, UINT32_MAX, ' ', &nth[k]);
        c.side[k].nth = (uint32_t)nth[k];
    }
    ok = ok && ((take(r, "likely ") && (c.likely = true)) || take(r, "ordered "));
    ok = ok && ((take(r, "met ") && (c.met = true)) || take(r, "open "));
    if (!ok || !nth[0] || !nth[1] || !read_side(r, ' ', &c.side[0]) || !read_side(r, 0, &c.side[1]))
        return complain(r, "no conflict as gpurace writes them");
    if (r->c->conflicts.len == GR_CONFLICTS)
        return complain(r, "more conflicts than gpurace writes");
    return gr_vec_push(&r->c->conflicts, c) ? GR_OK : gr_no_memory(r->err);
}

static gr_status read_line(Reading *r) {
    if (r->line == 1)
        return take(r, magic) && r->p == r->end ? GR_OK
                                                : complain(r, "no coverage file of this version of gpurace");
    for (const char *p = r->p; p < r->end; p++)
        if ((unsigned char)*p < ' ')
            return complain(r, "a control character");
    if (r->ended)
        return complain(r, "something behind the end");
    uint64_t n, conflicts;
    if (r->line == 2)
        return take(r, "runs ") && number(r, 10, UINT32_MAX, 0, &r->c->runs)
                   ? GR_OK
                   : complain(r, "no number of runs");
    if (take(r, "function "))
        return read_function(r);
    if (take(r, "other "))
        return read_other(r);
    if (take(r, "conflict "))
        return read_conflict(r);
    if (!take(r, "end "))
        return read_site(r);
    if (!number(r, 10, UINT64_MAX, ' ', &n) || n != r->n_sites || !number(r, 10, UINT64_MAX, 0, &conflicts) ||
        conflicts != r->c->conflicts.len)
        return complain(r, "the end counts other accesses or conflicts than there are: something is missing");
    r->ended = true;
    return GR_OK;
}

gr_status gr_coverage_parse(const char *text, size_t len, const char *path, GrCoverage *c, gr_error *err) {
    Reading r = {.c = c, .path = path, .err = err};
    for (const char *at = text, *stop = text + len; at < stop; at = r.end + 1) {
        r.end = memchr(at, '\n', (size_t)(stop - at));
        r.line++;
        if (!r.end)
            return complain(&r, "the file is cut short here");
        r.p = at;
        GR_MUST(read_line(&r));
    }
    return r.ended || !len ? GR_OK : complain(&r, "the file is cut short here");
}

static gr_status no_file(const char *path, gr_error *err) {
    return gr_fail(err, GR_ERR_IO, "cannot open the coverage file %s: %s", path, strerror(errno));
}

// Devices and pipes are no coverage files, and reading them might never end.
static gr_status read_open(int fd, const char *path, GrCoverage *c, gr_error *err) {
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return gr_fail(err, GR_ERR_IO, "the coverage file %s is no ordinary file", path);
    char *text = malloc((size_t)st.st_size + 1);
    GR_NEED(text, err);
    size_t len = 0;
    for (ssize_t n; len < (size_t)st.st_size; len += (size_t)n) {
        n = pread(fd, text + len, (size_t)st.st_size - len, (off_t)len);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            break;
    }
    gr_status result = len < (size_t)st.st_size
                           ? gr_fail(err, GR_ERR_IO, "cannot read the coverage file %s", path)
                           : gr_coverage_parse(text, len, path, c, err);
    free(text);
    return result;
}

gr_status gr_coverage_read(const char *path, GrCoverage *c, gr_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? GR_OK : no_file(path, err);
    gr_status st = read_open(fd, path, c, err);
    close(fd);
    return st;
}

// ---- Writing -------------------------------------------------------------------------------------------------------

static void print_place(const GrCoveredSite *s, StrBuf *out) {
    gr_str_addf(out, "%s %u %u:%u%s%s\n", s->kind, s->size, s->line, s->col, s->file ? " " : "",
                s->file ? s->file : "");
}

void gr_coverage_print(const GrCoverage *c, StrBuf *out) {
    unsigned long long n = 0;
    gr_str_addf(out, "%s\nruns %llu\n", magic, (unsigned long long)c->runs);
    for (size_t i = 0; i < c->functions.len; i++) {
        const GrCoveredFunction *f = c->functions.data[i];
        gr_str_addf(out, "function %016llx %s %llu %llu %s\n", (unsigned long long)f->id,
                    f->is_kernel ? "kernel" : "device", (unsigned long long)f->launched,
                    (unsigned long long)f->last, f->name);
        for (size_t k = 0; k < f->sites.len; k++) {
            const GrCoveredSite *s = &f->sites.data[k];
            gr_str_addf(out, "%u %u %u ", s->nth, s->chosen, s->watched);
            print_place(s, out);
        }
        for (size_t k = 0; k < f->others.len; k++) {
            gr_str_addf(out, "other %u ", f->others.data[k].nth);
            print_place(&f->others.data[k], out);
        }
        n += f->sites.len;
    }
    for (size_t i = 0; i < c->conflicts.len; i++) {
        const Conflict *f = &c->conflicts.data[i];
        gr_str_addf(out, "conflict %016llx:%u %016llx:%u %s %s", (unsigned long long)f->side[0].function,
                    f->side[0].nth, (unsigned long long)f->side[1].function, f->side[1].nth,
                    f->likely ? "likely" : "ordered", f->met ? "met" : "open");
        for (unsigned k = 0; k < 2; k++) {
            const ConflictSide *s = &f->side[k];
            gr_str_addf(out, " %c%c:%u:%llu.%llu.%u", s->waits ? 'w' : '-', s->first ? 'f' : '-', s->aimed,
                        (unsigned long long)s->launch, (unsigned long long)s->block, s->warp);
        }
        gr_str_addc(out, '\n');
    }
    gr_str_addf(out, "end %llu %zu\n", n, c->conflicts.len);
}

// Opens and locks the file, made if need be. It must still have the name: another run may have replaced it meanwhile.
static gr_status open_locked(const char *path, int *out, gr_error *err) {
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
        if (fd < 0)
            return no_file(path, err);
        int rc;
        while ((rc = flock(fd, LOCK_EX)) && errno == EINTR) {
        }
        struct stat mine, named;
        if (rc || fstat(fd, &mine)) {
            gr_status st =
                gr_fail(err, GR_ERR_IO, "cannot lock the coverage file %s: %s", path, strerror(errno));
            close(fd);
            return st;
        }
        if (!stat(path, &named) && named.st_dev == mine.st_dev && named.st_ino == mine.st_ino) {
            *out = fd;
            return GR_OK;
        }
        close(fd);
    }
}

gr_status gr_coverage_update(const char *path, gr_status (*add)(void *user, GrCoverage *c, gr_error *err),
                             void *user, gr_error *err) {
    int fd = -1;
    GrCoverage c;
    StrBuf text = {0};
    gr_coverage_init(&c);
    gr_status st;
    GR_TRY(open_locked(path, &fd, err));
    GR_TRY(read_open(fd, path, &c, err));
    c.runs += c.runs < UINT32_MAX;
    GR_TRY(add(user, &c, err));
    gr_coverage_print(&c, &text);
    st = text.oom ? gr_no_memory(err) : gr_own_write(path, GR_OWN_COVERAGE, text.data, text.len, err);
done:
    if (fd >= 0)
        close(fd); // and unlocks
    gr_str_free(&text);
    gr_coverage_free(&c);
    return st;
}
