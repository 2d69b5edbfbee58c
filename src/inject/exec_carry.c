// SPDX-License-Identifier: Apache-2.0
#include "inject/exec_carry.h"

#include "inject/inside_run.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char preload[] = "LD_PRELOAD=";

extern char **environ;

static size_t name_length(const char *entry) {
    const char *is = strchr(entry, '=');
    return is ? (size_t)(is - entry) + 1 : strlen(entry);
}

static const char *find(char *const envp[], const char *entry) {
    size_t n = name_length(entry);
    for (; envp && *envp; envp++)
        if (!strncmp(*envp, entry, n))
            return *envp;
    return NULL;
}

// gpurace's own part of LD_PRELOAD, in which the library itself comes first; NULL: this process is not of a run.
static const char *our_preload(void) {
    const char *entry = gr_run_entry(GR_RUN_PRELOAD);
    return entry && gr_run_entry(GR_RUN_RESULTS) ? entry + name_length(entry) : NULL;
}

static bool has_library(const char *list, const char *library, size_t n) {
    for (const char *p = list; (p = strstr(p, library)) != NULL; p++)
        if ((p == list || strchr(": ", p[-1])) && (!p[n] || strchr(": ", p[n])))
            return true;
    return false;
}

static bool is_left_out(char *const envp[]) {
    const char *results = find(envp, gr_run_entry(GR_RUN_RESULTS));
    return results && !results[name_length(results)];
}

static bool lacks(char *const envp[], const char *ours) {
    const char *list = find(envp, preload);
    if (!list || !has_library(list + sizeof preload - 1, ours, strcspn(ours, ":")))
        return true;
    for (unsigned k = 0; k < GR_RUN_VARIABLES; k++)
        if (gr_run_entry(k) && !find(envp, gr_run_entry(k)))
            return true;
    return false;
}

// LD_PRELOAD=ours:theirs. False: it is too long.
static bool join_preload(char *out, size_t room, const char *ours, const char *theirs) {
    size_t a = sizeof preload - 1, n = strlen(ours), m = theirs ? strlen(theirs) : 0;
    if (a + n + m + 2 > room)
        return false;
    memcpy(out, preload, a);
    memcpy(out + a, ours, n + 1);
    if (m) {
        out[a + n] = ':';
        memcpy(out + a + n + 1, theirs, m + 1);
    }
    return true;
}

static bool fill(GrExecRoom *r, char *const envp[], const char *ours) {
    const char *theirs = find(envp, preload);
    size_t n = 0;
    theirs = theirs ? theirs + sizeof preload - 1 : NULL;
    bool has = theirs && has_library(theirs, ours, strcspn(ours, ":"));
    for (char *const *e = envp; e && *e; e++) {
        if (!has && !strncmp(*e, preload, sizeof preload - 1))
            continue;
        if (n + GR_RUN_VARIABLES + 2 >= GR_EXEC_VARIABLES)
            return false;
        r->envp[n++] = *e;
    }
    for (unsigned k = 0; k < GR_RUN_VARIABLES; k++)
        if (gr_run_entry(k) && !find(envp, gr_run_entry(k)))
            r->envp[n++] = (char *)gr_run_entry(k);
    if (!has && !join_preload(r->preload, sizeof r->preload, ours, theirs))
        return false;
    if (!has)
        r->envp[n++] = r->preload;
    r->envp[n] = NULL;
    return true;
}

// ---- What gpurace cannot get into -----------------------------------------------------------------------------------

// Decides as the kernel does (AT_SECURE): the loader then drops LD_PRELOAD.
static bool has_other_rights(const char *path, const struct stat *st) {
    char capability[64];
    uid_t uid = st->st_mode & S_ISUID ? st->st_uid : geteuid();
    gid_t gid = st->st_mode & S_ISGID && st->st_mode & S_IXGRP ? st->st_gid : getegid();
    return uid != getuid() || gid != getgid() ||
           (getuid() && getxattr(path, "security.capability", capability, sizeof capability) > 0);
}

// An ELF program that no loader loads.
static bool is_static(const char *path) {
    Elf64_Ehdr h;
    Elf64_Phdr p[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool elf = fd >= 0 && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
               !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_type == ET_EXEC && h.e_phentsize == sizeof *p &&
               h.e_phnum <= 64;
    size_t size = elf ? h.e_phnum * sizeof *p : 0;
    elf = elf && pread(fd, p, size, (off_t)h.e_phoff) == (ssize_t)size;
    for (unsigned k = 0; elf && k < h.e_phnum; k++)
        elf = p[k].p_type != PT_INTERP;
    if (fd >= 0)
        close(fd);
    return elf;
}

static bool can_read_library(const char *ours) {
    char path[PATH_MAX];
    size_t n = strcspn(ours, ":");
    if (n >= sizeof path)
        return false;
    memcpy(path, ours, n);
    path[n] = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool can_reach_results(void) {
    const GrResults *r = gr_run_results();
    struct stat st;
    if (r->fd >= 0 && !fstat(r->fd, &st) && st.st_dev == r->device && st.st_ino == r->inode &&
        fcntl(r->fd, F_GETFD) == 0)
        return true;
    int fd = open(r->path, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

// The path from the root: the launcher looks at the file again, from another folder.
static const char *absolute(const char *path, char out[PATH_MAX]) {
    size_t n = path[0] != '/' && getcwd(out, PATH_MAX) ? strlen(out) : 0, m = strlen(path);
    if (!n || n + m + 2 > PATH_MAX)
        return path;
    out[n] = '/';
    memcpy(out + n + 1, path, m + 1);
    return out;
}

static void note_hidden(const char *path, const char *ours, bool left_out) {
    char whole[PATH_MAX];
    struct stat st;
    if (!path || stat(path, &st) || !S_ISREG(st.st_mode) || access(path, X_OK))
        return; // it does not start
    GrHiddenWhy why = has_other_rights(path, &st) ? GR_HIDDEN_RIGHTS
                      : is_static(path)           ? GR_HIDDEN_STATIC
                      : left_out                  ? GR_HIDDEN_LEFT_OUT
                      : !can_read_library(ours)   ? GR_HIDDEN_NO_LIBRARY
                      : !can_reach_results()      ? GR_HIDDEN_NO_RESULTS
                                                  : GR_HIDDEN_REASONS;
    if (why != GR_HIDDEN_REASONS)
        gr_hidden_note(gr_run_results()->header, why, absolute(path, whole));
}

// ---- The environment ------------------------------------------------------------------------------------------------

char *const *gr_exec_carry(const char *path, char *const envp[], GrExecRoom *room) {
    const char *ours = our_preload();
    if (!ours || !gr_run_results()->header)
        return envp;
    int error = errno;
    bool left_out = is_left_out(envp);
    char *const *with = envp;
    if (!left_out && lacks(envp, ours)) {
        left_out = !fill(room, envp, ours);
        with = left_out ? envp : room->envp;
    }
    note_hidden(path, ours, left_out);
    errno = error;
    return with;
}

void gr_exec_carry_own(void) {
    GrExecRoom room;
    const char *ours = our_preload();
    if (!ours || is_left_out(environ) || !lacks(environ, ours) || !fill(&room, environ, ours))
        return;
    for (char **e = room.envp; *e; e++) {
        size_t n = name_length(*e);
        char name[64];
        if (n > sizeof name || (*e != room.preload && find(environ, *e)))
            continue;
        memcpy(name, *e, n - 1);
        name[n - 1] = 0;
        setenv(name, *e + n, 1);
    }
}
