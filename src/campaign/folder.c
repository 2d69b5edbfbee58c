// SPDX-License-Identifier: Apache-2.0
#include "campaign/folder.h"

#include "base/log.h"
#include "base/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TRIES = 40, LOCK_PAUSE_US = 50000 };

static gr_status make_folder(const char *path, gr_error *err) {
    struct stat st;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return GR_OK;
    return gr_fail(err, GR_ERR_ARGUMENT, "--state: cannot make the folder %s: %s", path, strerror(errno));
}

static gr_status join(char out[PATH_MAX], const char *folder, const char *name, gr_error *err) {
    int n = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return n > 0 && n < PATH_MAX ? GR_OK
                                 : gr_fail(err, GR_ERR_LIMIT, "--state: %s is too long a name", folder);
}

// A lock that ends with this process, and only with it: children do not inherit it.
static gr_status take_lock(GrCampaignFolder *f, const char *name, gr_error *err) {
    char path[PATH_MAX];
    GR_MUST(join(path, f->path, name, err));
    f->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (f->lock < 0)
        return gr_fail(err, GR_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    // A campaign that was killed while it started a run: the child still has the lock, until it becomes `gpurace run`.
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (flock(f->lock, LOCK_EX | LOCK_NB) == 0)
            return GR_OK;
        if (errno != EWOULDBLOCK)
            break;
        usleep(LOCK_PAUSE_US);
    }
    return errno == EWOULDBLOCK
               ? gr_fail(err, GR_ERR_LIMIT, "another gpurace campaign is at work in %s", f->path)
               : gr_fail(err, GR_ERR_IO, "cannot lock %s: %s", path, strerror(errno));
}

// Reports of children of a campaign, or share, that was killed. Those of other shares may be at work.
static void drop_leftovers(const GrCampaignFolder *f) {
    char begin[80], path[PATH_MAX];
    int len = snprintf(begin, sizeof begin, "report-%s-", f->scope);
    DIR *all = opendir(f->runs);
    for (const struct dirent *d; all && (d = readdir(all));)
        if (!strncmp(d->d_name, begin, (size_t)len) && join(path, f->runs, d->d_name, NULL) == GR_OK)
            (void)gr_own_remove(path, GR_OWN_REPORT);
    if (all)
        closedir(all);
}

gr_status gr_folder_open(const char *path, uint64_t share, uint64_t shares, GrCampaignFolder *f,
                         gr_error *err) {
    char name[PATH_MAX], file[128];
    int n = snprintf(f->path, sizeof f->path, "%s", path);
    if (n <= 0 || n >= PATH_MAX)
        return gr_fail(err, GR_ERR_ARGUMENT, "--state needs the name of a folder");
    snprintf(f->scope, sizeof f->scope, "campaign");
    GR_MUST(make_folder(f->path, err));
    GR_MUST(join(name, f->path, "growth.svg", err)); // at the end it would cost a campaign
    GR_MUST(gr_own_check(name, GR_OWN_DRAWING, err));
    GR_MUST(join(f->runs, f->path, "runs", err));
    GR_MUST(make_folder(f->runs, err));
    if (shares) {
        snprintf(f->scope, sizeof f->scope, "%llu-of-%llu", (unsigned long long)share,
                 (unsigned long long)shares);
        GR_MUST(join(name, f->path, "shares", err));
        GR_MUST(make_folder(name, err));
    }
    snprintf(file, sizeof file, "%s%s.lock", shares ? "shares/" : "", f->scope);
    GR_MUST(take_lock(f, file, err));
    snprintf(file, sizeof file, "%s%s.sqlite", shares ? "shares/" : "", f->scope);
    GR_MUST(join(name, f->path, file, err));
    GR_MUST(gr_store_open(name, &f->store, err));
    GR_MUST(join(name, f->path, "campaign.sqlite", err));
    if (shares && !access(name, R_OK))
        GR_MUST(gr_store_open(name, &f->all, err));
    drop_leftovers(f);
    return GR_OK;
}

void gr_folder_close(GrCampaignFolder *f) {
    gr_store_close(f->store);
    gr_store_close(f->all);
    if (f->lock >= 0)
        close(f->lock);
    *f = GR_NO_FOLDER;
}

// ---- Anew ----------------------------------------------------------------------------------------------------------

// What a campaign leaves in its folder, by name. Its mark decides, too: a user's own file may have such a name.
static const struct {
    const char *folder, *names;
    GrOwnKind kind;
} results[] = {{"", "campaign.sqlite", GR_OWN_RESULTS},
               {"", "campaign.sqlite-journal", GR_OWN_RESULTS},
               {"", "growth.svg", GR_OWN_DRAWING},
               {"shares", "[0-9]*-of-[0-9]*.sqlite", GR_OWN_RESULTS},
               {"shares", "[0-9]*-of-[0-9]*.sqlite-journal", GR_OWN_RESULTS},
               {"runs", "seed*.log", GR_OWN_LOG}};
static const char *const locks = "*.lock"; // of this campaign, or of a share that may be at work; empty

static bool drop_result(const char *path, const char *folder, const char *name) {
    for (size_t k = 0; k < sizeof results / sizeof *results; k++)
        if (!strcmp(results[k].folder, folder) && !fnmatch(results[k].names, name, FNM_PERIOD))
            return gr_own_remove(path, results[k].kind);
    return false;
}

// Removes what is ours in a folder of the campaign's, and says which files it leaves.
static void drop_results(const char *top, const char *folder) {
    enum { MOST = 5 };
    char in[PATH_MAX], path[PATH_MAX];
    StrBuf left = {0};
    struct stat st;
    size_t n = 0;
    DIR *all = join(in, top, folder, NULL) == GR_OK ? opendir(in) : NULL;
    for (const struct dirent *d; all && (d = readdir(all));)
        if (join(path, in, d->d_name, NULL) == GR_OK && !lstat(path, &st) && !S_ISDIR(st.st_mode) &&
            !drop_result(path, folder, d->d_name) && fnmatch(locks, d->d_name, 0) && n++ < MOST)
            gr_str_addf(&left, "%s%s", n > 1 ? ", " : "", d->d_name);
    if (all)
        closedir(all);
    if (n)
        gr_log(LOG_WARN, "--fresh leaves %s%s in %s: not made by a campaign of gpurace",
               left.data ? left.data : "files", n > MOST ? ", and others" : "", in);
    gr_str_free(&left);
}

gr_status gr_folder_renew(GrCampaignFolder *f, gr_error *err) {
    static const char *const folders[] = {"", "runs", "shares"};
    char name[PATH_MAX];
    gr_store_close(f->store);
    f->store = NULL;
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
        drop_results(f->path, folders[k]);
    GR_MUST(join(name, f->path, "campaign.sqlite", err));
    if (!access(name, F_OK))
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "--fresh: %s cannot be removed, or was not made by this version of gpurace: "
                       "remove it, or take another --state",
                       name);
    return gr_store_open(name, &f->store, err);
}

// ---- Whose it is ---------------------------------------------------------------------------------------------------

static gr_status identify(const char *path, GrStore *store, const GrCampaignIdentity *now, gr_error *err) {
    const struct {
        const char *key, *value, *what;
    } parts[] = {{"tool", now->tool, "version of gpurace"},
                 {"program", now->program, "program"},
                 {"code", now->code, "program's file: it was built anew"},
                 {"options", now->options, "options"}};
    gr_status st = GR_OK;
    Arena arena;
    gr_arena_init(&arena);
    for (size_t k = 0; st == GR_OK && k < sizeof parts / sizeof *parts; k++) {
        const char *before;
        st = gr_store_about(store, parts[k].key, parts[k].value, &arena, &before, err);
        if (st == GR_OK && before && strcmp(before, parts[k].value) != 0)
            st = gr_fail(err, GR_ERR_ARGUMENT,
                         "%s holds a campaign with another %s (then `%s`, now `%s`); take another --state, "
                         "or begin anew with --fresh",
                         path, parts[k].what, before, parts[k].value);
    }
    gr_arena_free(&arena);
    return st;
}

gr_status gr_folder_identify(GrCampaignFolder *f, const GrCampaignIdentity *now, gr_error *err) {
    gr_status st = f->all ? identify(f->path, f->all, now, err) : GR_OK;
    return st == GR_OK ? identify(f->path, f->store, now, err) : st;
}

// ---- Shares --------------------------------------------------------------------------------------------------------

static int is_share(const struct dirent *d) { return !fnmatch("[0-9]*-of-[0-9]*.sqlite", d->d_name, 0); }

gr_status gr_folder_merge(GrCampaignFolder *f, uint64_t *shares, uint64_t *runs, gr_error *err) {
    char folder[PATH_MAX], path[PATH_MAX];
    struct dirent **names = NULL;
    gr_status st = join(folder, f->path, "shares", err);
    int n = st == GR_OK ? scandir(folder, &names, is_share, alphasort) : 0;
    *shares = *runs = 0;
    for (int k = 0; k < n && st == GR_OK; k++) {
        uint64_t added = 0;
        gr_error why = {0};
        st = join(path, folder, names[k]->d_name, err);
        if (st == GR_OK)
            st = gr_store_merge(f->store, path, &added, &why);
        *shares += added > 0;
        *runs += added;
        if (st == GR_ERR_IO || st == GR_ERR_LIMIT) {
            gr_log(LOG_WARN, "%s was left out, for now: %s", path, why.msg);
            st = GR_OK;
        } else if (st != GR_OK && err) {
            *err = why;
        }
    }
    for (int k = 0; k < n; k++)
        free(names[k]);
    free(names);
    return st;
}
