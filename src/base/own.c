// SPDX-License-Identifier: Apache-2.0
#include "base/own.h"

#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The mark of a file --------------------------------------------------------------------------------------------

typedef struct Mark {
    GrOwnKind kind;
    const char *begins, *holds, *last; // the file; its first HEAD bytes; its last line. NULL: whatever it is
} Mark;

static const Mark marks[] = {
    {GR_OWN_REPORT, "{\n  \"tool\": \"gpurace ", NULL, NULL},
    {GR_OWN_REPORT, "========", NULL, "gpurace: "},
    {GR_OWN_REPORT, "gpurace: ", NULL, "gpurace: "},
    {GR_OWN_REPORT, NULL, ", id ", "gpurace: "},       // --quiet, and of repair
    {GR_OWN_REPORT, "new: ", " only\n", NULL},         // of diff
    {GR_OWN_REPORT, "# gpurace repair: ", NULL, NULL}, // its patch
    {GR_OWN_REPORT, "<!DOCTYPE html>", "<title>gpurace: ", NULL},
    {GR_OWN_REPORT, "{\n  \"$schema\": ", "\"name\": \"gpurace\"", NULL},
    {GR_OWN_REPORT, "<?xml", "<testsuite name=\"gpurace\"", NULL},
    {GR_OWN_REPORT, "::", NULL, "::notice title=gpurace::"},
    {GR_OWN_PTX, NULL, NULL, GR_OWN_PTX_LINE},
    {GR_OWN_COVERAGE, "gpurace coverage ", NULL, NULL},
    {GR_OWN_LAUNCHES, "{\"format\":\"gpurace launches\"", NULL, NULL},
    {GR_OWN_RESULTS, "SQLite format 3", GR_OWN_SQLITE_ID, NULL},
    {GR_OWN_DRAWING, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"growth\" ", NULL, NULL},
    {GR_OWN_LOG, GR_OWN_LOG_LINE, NULL, NULL},
    {GR_OWN_SCRIPT, "#!/bin/sh\n# A task of a campaign of gpurace", NULL, NULL},
    {GR_OWN_MANUAL, ".\\\" Made from the tables of commands and options.\n.TH \"GPURACE", NULL, NULL},
    {GR_OWN_ANSWER, "gpurace answer ", NULL, NULL},
    {GR_OWN_CUBIN, "\177ELF", NULL, NULL},
};

static const char *const names[] = {
    [GR_OWN_REPORT] = "report of gpurace",
    [GR_OWN_PTX] = "PTX that gpurace wrote",
    [GR_OWN_COVERAGE] = "coverage file of gpurace",
    [GR_OWN_LAUNCHES] = "record of launches by gpurace",
    [GR_OWN_RESULTS] = "results of a campaign of gpurace",
    [GR_OWN_DRAWING] = "drawing of a campaign of gpurace",
    [GR_OWN_LOG] = "log of a campaign of gpurace",
    [GR_OWN_SCRIPT] = "script of a campaign of gpurace",
    [GR_OWN_MANUAL] = "page of gpurace's manual",
    [GR_OWN_ANSWER] = "answer that gpurace keeps",
    [GR_OWN_CUBIN] = "object file",
    [GR_OWN_SCRATCH] = "file in a folder of gpurace's for temporary files",
};

enum { HEAD = 2048, TAIL = 1024 };

typedef struct Ends {
    char head[HEAD], tail[TAIL];
    size_t n_head;
    const char *last; // in tail: the last line
    size_t n_last;
} Ends;

// Past the escape sequences of colours.
static void skip_colors(Ends *e) {
    while (e->n_last && *e->last == 27) {
        const char *m = memchr(e->last, 'm', e->n_last);
        size_t n = m ? (size_t)(m - e->last) + 1 : 1;
        e->last += n, e->n_last -= n;
    }
}

static bool read_ends(int fd, off_t size, Ends *e) {
    ssize_t head = pread(fd, e->head, HEAD, 0),
            tail = pread(fd, e->tail, TAIL, size > TAIL ? size - TAIL : 0);
    if (head < 0 || tail < 0)
        return false;
    e->n_head = (size_t)head;
    e->last = e->tail;
    e->n_last = (size_t)tail;
    while (e->n_last && (e->last[e->n_last - 1] == '\n' || !e->last[e->n_last - 1]))
        e->n_last--;
    const char *line = e->n_last ? memrchr(e->last, '\n', e->n_last) : NULL;
    if (line)
        e->n_last -= (size_t)(line + 1 - e->last), e->last = line + 1;
    skip_colors(e);
    return true;
}

static bool begins(const char *text, size_t len, const char *with) {
    return !with || (len >= strlen(with) && !memcmp(text, with, strlen(with)));
}

static bool is_marked(const char *path, GrOwnKind kind) {
    Ends e;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool known = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && read_ends(fd, st.st_size, &e),
         is = false;
    if (fd >= 0)
        close(fd);
    for (size_t k = 0; known && !is && k < sizeof marks / sizeof *marks; k++) {
        const Mark *m = &marks[k];
        is = m->kind == kind && begins(e.head, e.n_head, m->begins) && begins(e.last, e.n_last, m->last) &&
             (!m->holds || memmem(e.head, e.n_head, m->holds, strlen(m->holds)));
    }
    return is;
}

// ---- The mark of a folder ------------------------------------------------------------------------------------------

static const char mark_name[] = ".gpurace";

static bool mark_of(const char *folder, char path[PATH_MAX], char text[96]) {
    struct stat st;
    int n = snprintf(path, PATH_MAX, "%s/%s", folder, mark_name);
    if (n < 0 || n >= PATH_MAX || lstat(folder, &st) || !S_ISDIR(st.st_mode))
        return false;
    snprintf(text, 96, "gpurace made this folder: device %llx, inode %llu\n", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    return true;
}

static bool is_own_folder(const char *folder) {
    char path[PATH_MAX], text[96], there[96];
    int fd = mark_of(folder, path, text) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    ssize_t n = fd < 0 ? -1 : read(fd, there, sizeof there);
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)strlen(text) && !memcmp(text, there, (size_t)n);
}

bool gr_own_in_folder(const char *path) {
    char real[PATH_MAX], in[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat st;
    snprintf(in, sizeof in, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    // What is not there yet will be in its folder; a link that leads nowhere may lead anywhere.
    if (!realpath(path, real) && (!lstat(path, &st) || !realpath(in, real)))
        return false;
    do {
        if (is_own_folder(real))
            return true;
        *strrchr(real, '/') = 0;
    } while (*real);
    return false;
}

static void (*tell_made)(const char *folder);

void gr_own_tell_folders(void (*made)(const char *folder)) { tell_made = made; }

gr_status gr_own_folder(char out[PATH_MAX], const char *word, gr_error *err) {
    const char *tmp = getenv("TMPDIR");
    char name[PATH_MAX], path[PATH_MAX], text[96];
    int n = snprintf(name, sizeof name, "%s/gpurace-%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", word);
    *out = 0;
    if (n < 0 || n >= PATH_MAX || !mkdtemp(name))
        return gr_fail(err, GR_ERR_IO, "cannot make a folder %s: %s%s", name, strerror(errno),
                       gr_limit_advice(errno));
    int fd = realpath(name, out) && mark_of(out, path, text)
                 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                 : -1;
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (ok && tell_made)
        tell_made(out);
    if (ok)
        return GR_OK;
    gr_fail(err, GR_ERR_IO, "cannot write to %s: %s%s", name, strerror(why), gr_limit_advice(why));
    if (fd >= 0)
        unlink(path);
    rmdir(name);
    *out = 0;
    return GR_ERR_IO;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where) {
    (void)st, (void)type;
    // The mark goes last: a folder that was removed in part is still ours.
    if (where->level == 1 && !strcmp(path + where->base, mark_name))
        return 0;
    if (!where->level) {
        char mark[PATH_MAX], text[96];
        if (mark_of(path, mark, text))
            unlink(mark);
    }
    (void)remove(path);
    return 0;
}

gr_status gr_own_remove_folder(const char *folder, gr_error *err) {
    struct stat st;
    if (!is_own_folder(folder))
        return gr_fail(err, GR_ERR_ARGUMENT, "%s is not removed: gpurace did not make it", folder);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return lstat(folder, &st) ? GR_OK : gr_fail(err, GR_ERR_IO, "cannot remove all of %s", folder);
}

// ---- What decides --------------------------------------------------------------------------------------------------

gr_status gr_own_check(const char *path, GrOwnKind kind, gr_error *err) {
    struct stat st;
    bool there = !stat(path, &st);
    if (kind == GR_OWN_SCRATCH)
        return gr_own_in_folder(path)
                   ? GR_OK
                   : gr_fail(err, GR_ERR_ARGUMENT, "cannot write %s: it is no %s", path, names[kind]);
    if (!there || gr_out_descriptor(path) >= 0 || S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode) ||
        S_ISSOCK(st.st_mode))
        return GR_OK; // the open itself fails
    if (S_ISDIR(st.st_mode))
        return gr_fail(err, GR_ERR_ARGUMENT, "cannot write %s: it is a folder, and a file is expected", path);
    if (S_ISREG(st.st_mode) && (!st.st_size || is_marked(path, kind)))
        return GR_OK;
    return gr_fail(
        err, GR_ERR_ARGUMENT,
        "cannot write %s: it is there already, and is no %s; name another file, or remove it first", path,
        names[kind]);
}

bool gr_own_is(const char *path, GrOwnKind kind) {
    struct stat st;
    return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size &&
           (kind == GR_OWN_SCRATCH ? gr_own_in_folder(path) : is_marked(path, kind));
}

gr_status gr_own_open(GrOutFile *o, const char *path, GrOwnKind kind, gr_error *err) {
    gr_status st = gr_own_check(path, kind, err);
    return st == GR_OK ? gr_out_open(o, path, err) : st;
}

gr_status gr_own_write(const char *path, GrOwnKind kind, const void *data, size_t len, gr_error *err) {
    gr_status st = gr_own_check(path, kind, err);
    return st == GR_OK ? gr_file_write(path, data, len, err) : st;
}

gr_status gr_own_try(const char *path, GrOwnKind kind, gr_error *err) {
    GrOutFile o = {0};
    struct stat there;
    gr_status st = gr_own_check(path, kind, err);
    if (st != GR_OK || gr_out_descriptor(path) >= 0)
        return st;
    if (stat(path, &there) || S_ISREG(there.st_mode)) {
        st = gr_out_open(&o, path, err);
        gr_out_drop(&o);
    } else if (access(path, W_OK)) { // to open a pipe would end its reader
        st = gr_fail(err, GR_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    }
    return st;
}

bool gr_own_remove(const char *path, GrOwnKind kind) {
    struct stat st;
    if (gr_own_is(path, kind))
        return !unlink(path);
    return lstat(path, &st) && errno == ENOENT;
}

bool gr_own_remove_link(const char *path) {
    struct stat st;
    char in[PATH_MAX];
    int n = snprintf(in, sizeof in, "%s", path);
    char *slash = n > 0 && n < PATH_MAX ? strrchr(in, '/') : NULL;
    if (!slash || lstat(path, &st) || !S_ISLNK(st.st_mode))
        return false;
    *slash = 0;
    return gr_own_in_folder(in) && !unlink(path);
}
