// SPDX-License-Identifier: Apache-2.0
#include "cli/run/copy.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/own.h"
#include "base/vec.h"
#include "cli/run/child.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Limits for what a link leads to.
enum { MOST_FILES = 20000 };
static const uint64_t most_bytes = 256u << 20;

typedef struct Copied {
    const char *real, *copy;
} Copied;

typedef struct Copy {
    Arena arena;
    struct stat top;
    VEC(Copied) done; // grows while links are looked at
} Copy;

typedef struct Scan {
    VEC(const char *) links; // below the scanned path: "/a/b"
    uint64_t files, bytes;
    bool meets_top, no_memory;
} Scan;

const char *gr_below(const char *path, const char *folder) {
    size_t n = strlen(folder);
    n -= n && folder[n - 1] == '/';
    return !strncmp(path, folder, n) && (!path[n] || path[n] == '/') ? path + n : NULL;
}

// ---- What is there -------------------------------------------------------------------------------------------------

static bool is_too_large(const Scan *s) { return s->files > MOST_FILES || s->bytes > most_bytes; }

// `skip` bytes of the path are of where the scan began. `limited`: it ends where is_too_large.
static void scan(Copy *c, const char *path, size_t skip, bool limited, Scan *s) {
    struct stat st;
    if (lstat(path, &st) || (limited && is_too_large(s)) || s->meets_top || s->no_memory)
        return;
    s->files++;
    if (S_ISREG(st.st_mode))
        s->bytes += (uint64_t)st.st_size;
    if (S_ISLNK(st.st_mode)) {
        const char *link = gr_arena_printf(&c->arena, "%s", path + skip);
        s->no_memory |= !link || !gr_vec_push(&s->links, link);
    }
    if (!S_ISDIR(st.st_mode))
        return;
    s->meets_top |= st.st_dev == c->top.st_dev && st.st_ino == c->top.st_ino;
    DIR *all = opendir(path);
    for (const struct dirent *d; all && (d = readdir(all));) {
        char in[PATH_MAX];
        int n = snprintf(in, sizeof in, "%s/%s", path, d->d_name);
        if (n < PATH_MAX && strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
            scan(c, in, skip, limited, s);
    }
    if (all)
        closedir(all);
}

// ---- Links ---------------------------------------------------------------------------------------------------------

static gr_status copy(Copy *c, const char *real, const char *to, bool limited, bool *large, gr_error *err);

static gr_status replace(const char *link, const char *target, gr_error *err) {
    return gr_own_remove_link(link) && (!target || !symlink(target, link))
               ? GR_OK
               : gr_fail(err, GR_ERR_IO, "cannot replace the link %s: %s", link, strerror(errno));
}

static const char *in_copy(Copy *c, const char *real) {
    for (size_t k = 0; k < c->done.len; k++) {
        const char *rest = gr_below(real, c->done.data[k].real);
        if (rest)
            return gr_arena_printf(&c->arena, "%s%s", c->done.data[k].copy, rest);
    }
    return NULL;
}

// A link to nothing is kept only if it cannot lead to the user's files once something is there.
static gr_status take_dangling(Copy *c, const char *at, gr_error *err) {
    char to[PATH_MAX] = "";
    ssize_t n = readlink(at, to, sizeof to - 1);
    return n > 0 && *to != '/' ? GR_OK : replace(at, n > 0 ? in_copy(c, to) : NULL, err);
}

// `link` is of the user's; `at` is it in the copy.
static gr_status take_link(Copy *c, const char *link, const char *at, gr_error *err) {
    char real[PATH_MAX], now[PATH_MAX];
    bool large = false;
    if (!realpath(link, real))
        return take_dangling(c, at, err);
    const char *want = in_copy(c, real);
    if (want)
        return realpath(at, now) && !strcmp(now, want) ? GR_OK : replace(at, want, err);
    const char *kept = gr_arena_strdup(&c->arena, real);
    gr_status st = kept ? replace(at, NULL, err) : gr_no_memory(err);
    if (st == GR_OK)
        st = copy(c, kept, at, true, &large, err);
    if (st != GR_OK || !large)
        return st;
    gr_log(
        LOG_WARN,
        "%s leads to %s, which is large and not copied: no edit is made there, but the build command and the "
        "program may write to it",
        link, kept);
    return symlink(kept, at) ? gr_fail(err, GR_ERR_IO, "cannot make %s: %s", at, strerror(errno)) : GR_OK;
}

// ---- Copying -------------------------------------------------------------------------------------------------------

static gr_status cp(const char *from, const char *to, gr_error *err) {
    int status = 0;
    char *const words[] = {"cp", "-a", "--", (char *)(uintptr_t)from, (char *)(uintptr_t)to, NULL};
    gr_status st = gr_cli_run(&(GrChild){words, "/", NULL}, &status, err);
    return st == GR_OK && status
               ? gr_fail(err, GR_ERR_IO, "cannot copy %s to %s: cp ended with status %d", from, to, status)
               : st;
}

static gr_status copy(Copy *c, const char *real, const char *to, bool limited, bool *large, gr_error *err) {
    Scan s = {0};
    gr_status st = GR_OK;
    scan(c, real, strlen(real), limited, &s);
    *large = limited && (is_too_large(&s) || s.meets_top);
    if (*large)
        goto done;
    if (s.meets_top)
        GR_TRY(gr_fail(
            err, GR_ERR_ARGUMENT,
            "the folder for temporary files is in %s, which is to be copied: set TMPDIR, or say --folder",
            real));
    GR_TRY(cp(real, to, err));
    GR_TRY(!s.no_memory && gr_vec_push(&c->done, ((Copied){real, to})) ? GR_OK : gr_no_memory(err));
    for (size_t k = 0; k < s.links.len; k++) {
        const char *link = gr_arena_printf(&c->arena, "%s%s", real, s.links.data[k]),
                   *at = gr_arena_printf(&c->arena, "%s%s", to, s.links.data[k]);
        GR_TRY(link && at ? take_link(c, link, at, err) : gr_no_memory(err));
    }
done:
    gr_vec_free(&s.links);
    return st;
}

gr_status gr_copy_folder(const char *folder, const char *top, const char *to, gr_error *err) {
    Copy c = {.done = {0}};
    bool large;
    gr_arena_init(&c.arena);
    gr_status st = stat(top, &c.top) ? gr_fail(err, GR_ERR_IO, "%s: %s", top, strerror(errno))
                                     : copy(&c, folder, to, false, &large, err);
    gr_vec_free(&c.done);
    gr_arena_free(&c.arena);
    return st;
}
