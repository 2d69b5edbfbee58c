// SPDX-License-Identifier: Apache-2.0
// cache — one file for each question, in 256 folders of bounded size.
#include "engines/verifier/solve/cache.h"

#include "base/own.h"
#include "base/vec.h"
#include "engines/verifier/solve/model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_ENTRY = 256 << 10, // bytes of one file
    MOST_FOLDER = 1 << 20,  // bytes of all files of one of the 256 folders
};
static const char magic[16] = "gpurace answer 2"; // without a 0

struct GrCache {
    char *folder, *version;
};

// ---- The question as bytes ------------------------------------------------------------------------------------------

typedef struct Writer {
    StrBuf out;
    uint32_t *terms, *symbols; // number + 1 of what was written, by id
    uint32_t n_terms, n_symbols;
    const GrSymbol **order; // the symbols by number
    const GrTerm **written; // the terms by number
} Writer;

static void number(StrBuf *out, uint64_t v) { gr_str_addn(out, (const char *)&v, sizeof v); }

static bool writer_init(Writer *w, const GrTerms *t) {
    *w = (Writer){.terms = calloc(t->n_terms + 1, sizeof *w->terms),
                  .symbols = calloc(t->n_symbols + 1u, sizeof *w->symbols),
                  .order = calloc(t->n_symbols + 1u, sizeof *w->order),
                  .written = calloc(t->n_terms + 1, sizeof *w->written)};
    return w->terms && w->symbols && w->order && w->written;
}

static void writer_free(Writer *w) {
    free(w->terms);
    free(w->symbols);
    free(w->order);
    free(w->written);
    gr_str_free(&w->out);
}

// Puts what is known of a symbol, and not its name.
static uint32_t put_symbol(Writer *w, const GrSymbol *s) {
    if (!s)
        return 0;
    if (w->symbols[s->id])
        return w->symbols[s->id];
    uint32_t of = put_symbol(w, s->of);
    const uint64_t all[] = {1,         s->kind, s->scope, s->bits, (uint64_t)s->low, (uint64_t)s->high,
                            s->thread, of};
    gr_str_addn(&w->out, (const char *)all, sizeof all);
    w->order[w->n_symbols] = s;
    return w->symbols[s->id] = ++w->n_symbols;
}

static uint32_t put_term(Writer *w, const GrTerm *a) {
    uint32_t args[3] = {0};
    if (w->terms[a->id])
        return w->terms[a->id];
    for (unsigned k = 0; k < 3 && a->arg[k]; k++)
        args[k] = put_term(w, a->arg[k]);
    uint32_t s = put_symbol(w, a->sym);
    const uint64_t all[] = {2, a->op, a->bits, a->value, s, args[0], args[1], args[2]};
    gr_str_addn(&w->out, (const char *)all, sizeof all);
    w->written[w->n_terms] = a;
    return w->terms[a->id] = ++w->n_terms;
}

// False: memory is out.
static bool put_question(Writer *w, const GrCache *c, const GrTerms *t, const GrQuery *q) {
    if (!writer_init(w, t))
        return false;
    number(&w->out, strlen(c->version));
    gr_str_add(&w->out, c->version);
    number(&w->out, q->wrap);
    number(&w->out, q->any_model);
    for (size_t k = 0; k < q->n_sizes; k++) {
        uint32_t n = put_term(w, q->sizes[k]);
        number(&w->out, 5);
        number(&w->out, n);
    }
    for (size_t k = 0; k < q->n_terms; k++) {
        uint32_t n = put_term(w, q->terms[k]);
        number(&w->out, 3);
        number(&w->out, n);
    }
    if (q->overlap) {
        uint32_t a = put_term(w, q->overlap->a), b = put_term(w, q->overlap->b);
        const uint64_t all[] = {4, a, b, q->overlap->a_size, q->overlap->b_size};
        gr_str_addn(&w->out, (const char *)all, sizeof all);
    }
    return !w->out.oom;
}

// ---- Where it is ----------------------------------------------------------------------------------------------------

static bool path_of(const GrCache *c, const Writer *w, char folder[PATH_MAX], char path[PATH_MAX]) {
    uint64_t h = gr_hash_bytes(w->out.data, w->out.len);
    int n = snprintf(folder, PATH_MAX, "%s/%02x", c->folder, (unsigned)(h >> 56));
    int m = n > 0 && n < PATH_MAX ? snprintf(path, PATH_MAX, "%s/%016llx", folder, (unsigned long long)h) : 0;
    return m > 0 && m < PATH_MAX - 32;
}

// The file's bytes; NULL: there is none that could be an answer.
static char *read_entry(const char *path, size_t *len) {
    struct stat is;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    char *data = NULL;
    if (fd >= 0 && !fstat(fd, &is) && S_ISREG(is.st_mode) && is.st_size > 0 && is.st_size <= MOST_ENTRY)
        data = malloc((size_t)is.st_size);
    *len = 0;
    while (data && *len < (size_t)is.st_size) {
        ssize_t n = read(fd, data + *len, (size_t)is.st_size - *len);
        if (n <= 0 && errno != EINTR)
            break;
        *len += n > 0 ? (size_t)n : 0;
    }
    if (data)
        futimens(fd, NULL); // used: others are older
    if (fd >= 0)
        close(fd);
    return data;
}

// ---- The answer as bytes --------------------------------------------------------------------------------------------

static const char *const hows[] = {"integers", "small scope", "bit strings"};

static uint64_t how_number(const char *how) {
    uint64_t k = 0;
    while (k < sizeof hows / sizeof *hows && strcmp(hows[k], how))
        k++;
    return k;
}

static void put_answer(StrBuf *out, const Writer *w, const GrSolved *s) {
    const GrSolverModel *m = &s->model;
    const uint64_t head[] = {s->answer, how_number(s->how), w->n_symbols,
                             s->answer == GR_ANSWER_YES ? m->n_cells : 0,
                             s->wraps ? w->terms[s->wraps->id] : 0};
    gr_str_addn(out, (const char *)head, sizeof head);
    for (uint32_t k = 0; s->answer == GR_ANSWER_YES && k < w->n_symbols; k++)
        number(out, w->order[k]->id < m->n_values ? m->values[w->order[k]->id] : 0);
    for (uint64_t k = 0; k < head[3]; k++) {
        const struct GrSolverCell *x = &m->cells[k];
        const uint64_t cell[] = {w->symbols[x->object], x->bits, x->offset, x->value};
        gr_str_addn(out, (const char *)cell, sizeof cell);
    }
}

// Cells by numbers of the question's symbols. False: they make no sense.
static bool take_cells(const Writer *w, const uint64_t *at, uint64_t n, GrSolverModel *m) {
    m->cells = calloc(n ? n : 1, sizeof *m->cells);
    for (uint64_t k = 0; m->cells && k < n; k++, at += 4) {
        if (!at[0] || at[0] > w->n_symbols || !at[1] || at[1] > 64)
            return false;
        m->cells[m->n_cells++] = (struct GrSolverCell){
            .object = w->order[at[0] - 1]->id, .bits = (uint32_t)at[1], .offset = at[2], .value = at[3]};
    }
    return m->cells;
}

// False: the bytes are no answer, or memory is out.
static bool take_answer(const char *data, size_t len, const Writer *w, const GrTerms *t, GrSolved *out) {
    uint64_t head[5];
    if (len < sizeof head || (len - sizeof head) % 8)
        return false;
    memcpy(head, data, sizeof head);
    uint64_t left = (len - sizeof head) / 8;
    if (head[1] >= sizeof hows / sizeof *hows || head[2] != w->n_symbols || head[3] > left ||
        head[4] > w->n_terms)
        return false;
    *out = (GrSolved){
        .answer = (GrAnswer)head[0], .how = hows[head[1]], .wraps = head[4] ? w->written[head[4] - 1] : NULL};
    if (head[0] == GR_ANSWER_NO || head[0] == GR_ANSWER_OPEN)
        return !left;
    if (head[0] != GR_ANSWER_YES || left != head[2] + 4 * head[3])
        return false;
    uint64_t *words = malloc(left * 8 + 1);
    bool ok = words && gr_model_init(&out->model, t);
    if (ok) {
        memcpy(words, data + sizeof head, left * 8);
        for (uint32_t k = 0; k < w->n_symbols; k++)
            out->model.values[w->order[k]->id] = words[k];
        ok = take_cells(w, words + head[2], head[3], &out->model);
    }
    free(words);
    return ok;
}

// ---- Get and put ----------------------------------------------------------------------------------------------------

// magic, hash of all behind it, length of the question, question, answer
enum { HEAD = sizeof magic + 16 };

bool gr_cache_get(const GrCache *c, const GrTerms *t, const GrQuery *q, GrSolved *out) {
    Writer w;
    char folder[PATH_MAX], path[PATH_MAX], *data = NULL;
    size_t len = 0;
    uint64_t hash = 0, asked = 0;
    bool ok = put_question(&w, c, t, q) && path_of(c, &w, folder, path) && (data = read_entry(path, &len));
    ok = ok && len >= HEAD && !memcmp(data, magic, sizeof magic);
    if (ok) {
        memcpy(&hash, data + sizeof magic, 8);
        memcpy(&asked, data + sizeof magic + 8, 8);
    }
    ok = ok && hash == gr_hash_bytes(data + sizeof magic + 8, len - sizeof magic - 8) && asked == w.out.len &&
         asked <= len - HEAD && !memcmp(data + HEAD, w.out.data, asked);
    *out = (GrSolved){.how = ""};
    ok = ok && take_answer(data + HEAD + asked, len - HEAD - asked, &w, t, out);
    if (!ok)
        gr_solved_free(out);
    free(data);
    writer_free(&w);
    return ok;
}

typedef struct Kept {
    char name[64];
    off_t size;
    struct timespec used;
} Kept;

static bool is_older(const Kept *x, const Kept *y) {
    return x->used.tv_sec != y->used.tv_sec ? x->used.tv_sec < y->used.tv_sec
                                            : x->used.tv_nsec < y->used.tv_nsec;
}

// Deletes what was not used for longest, until the folder has its size again. What a killed run left there counts, too.
static void trim(const char *folder) {
    VEC(Kept) kept = {0};
    char path[PATH_MAX + 64];
    off_t all = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat is;
        Kept k = {0};
        if (strlen(e->d_name) >= sizeof k.name || fstatat(dirfd(d), e->d_name, &is, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(is.st_mode))
            continue;
        snprintf(k.name, sizeof k.name, "%s", e->d_name);
        k.size = is.st_size > 4096 ? is.st_size : 4096; // a file takes at least that
        k.used = is.st_mtim;
        all += k.size;
        if (!gr_vec_push(&kept, k))
            break;
    }
    while (d && all > MOST_FOLDER && kept.len) {
        size_t oldest = 0;
        for (size_t k = 1; k < kept.len; k++)
            if (is_older(&kept.data[k], &kept.data[oldest]))
                oldest = k;
        snprintf(path, sizeof path, "%s/%s", folder, kept.data[oldest].name);
        (void)gr_own_remove(path, GR_OWN_ANSWER); // what is not ours stays
        all -= kept.data[oldest].size;
        kept.data[oldest] = kept.data[--kept.len];
    }
    if (d)
        closedir(d);
    gr_vec_free(&kept);
}

// Other processes may read and write there at the same time: they see the whole file, or none.
static void write_entry(const char *folder, const char *path, const StrBuf *entry) {
    gr_error err;
    if ((!mkdir(folder, 0700) || errno == EEXIST) &&
        gr_own_write(path, GR_OWN_ANSWER, entry->data, entry->len, &err) == GR_OK)
        trim(folder);
}

void gr_cache_put(const GrCache *c, const GrTerms *t, const GrQuery *q, const GrSolved *s) {
    Writer w;
    char folder[PATH_MAX], path[PATH_MAX];
    StrBuf entry = {0}, body = {0};
    if (s->answer == GR_ANSWER_UNKNOWN || s->answer == GR_ANSWER_ASSUMED ||
        how_number(s->how) >= sizeof hows / sizeof *hows)
        return;
    if (put_question(&w, c, t, q) && path_of(c, &w, folder, path)) {
        number(&body, w.out.len);
        gr_str_addn(&body, w.out.data, w.out.len);
        put_answer(&body, &w, s);
        gr_str_addn(&entry, magic, sizeof magic);
        number(&entry, body.oom ? 0 : gr_hash_bytes(body.data, body.len));
        gr_str_addn(&entry, body.data, body.len);
        if (!body.oom && !entry.oom && entry.len <= MOST_ENTRY)
            write_entry(folder, path, &entry);
    }
    gr_str_free(&entry);
    gr_str_free(&body);
    writer_free(&w);
}

// ---- Open and close -------------------------------------------------------------------------------------------------

static bool make_folders(char *path) {
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            bool ok = !mkdir(path, 0700) || errno == EEXIST;
            *at = '/';
            if (!ok)
                return false;
        }
    struct stat is;
    return (!mkdir(path, 0700) || errno == EEXIST) && !stat(path, &is) &&
           (S_ISDIR(is.st_mode) || (errno = ENOTDIR, false)) && !access(path, W_OK | X_OK);
}

gr_status gr_cache_open(const char *folder, const char *version, GrCache **out, gr_error *err) {
    GrCache *c = calloc(1, sizeof *c);
    *out = c;
    if (c) {
        c->folder = strdup(folder);
        c->version = strdup(version);
    }
    if (c && c->folder && c->version && *folder && make_folders(c->folder))
        return GR_OK;
    gr_status st =
        !c || !c->folder || !c->version
            ? gr_fail(err, GR_ERR_NOMEM, "memory is out")
            : gr_fail(err, GR_ERR_IO, "the folder %s for kept answers cannot be made or written: %s", folder,
                      strerror(*folder ? errno : ENOENT));
    gr_cache_close(c);
    *out = NULL;
    return st;
}

void gr_cache_close(GrCache *c) {
    if (!c)
        return;
    free(c->folder);
    free(c->version);
    free(c);
}
