// SPDX-License-Identifier: Apache-2.0
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES = 100 };

static gr_status failed(const char *path, gr_error *err) {
    return gr_fail(err, GR_ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

int gr_out_descriptor(const char *path) {
    struct stat named, open;
    int fd, end = 0;
    if ((sscanf(path, "/dev/fd/%d%n", &fd, &end) == 1 ||
         sscanf(path, "/proc/self/fd/%d%n", &fd, &end) == 1) &&
        !path[end])
        return !fstat(fd, &open) ? fd : -1;
    if (stat(path, &named) || !S_ISREG(named.st_mode))
        return -1; // a pipe or a terminal is the same by its name
    for (fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (!fstat(fd, &open) && open.st_dev == named.st_dev && open.st_ino == named.st_ino)
            return fd;
    return -1;
}

// A new file beside the target. `there`: what it will replace, NULL: nothing.
static bool open_temporary(GrOutFile *o, const struct stat *there) {
    int fd = -1;
    for (int k = 0; fd < 0 && k < NAMES && (!k || errno == EEXIST); k++) {
        StrBuf name = {0};
        gr_str_addf(&name, "%s.tmp%ld", o->target, (long)getpid() + k);
        free(o->temporary);
        o->temporary = gr_str_take(&name);
        fd = o->temporary ? open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, there ? 0600 : 0666)
                          : (errno = ENOMEM, -1);
    }
    if (fd >= 0 && there) {
        (void)!fchown(fd, there->st_uid, there->st_gid); // only root may
        (void)!fchmod(fd, there->st_mode & 0777);
    }
    o->f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (o->f)
        return true;
    if (fd >= 0) {
        close(fd);
        unlink(o->temporary);
    }
    free(o->temporary);
    o->temporary = NULL;
    return false;
}

static FILE *open_descriptor(int fd) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = copy < 0 ? NULL : fdopen(copy, "wb");
    if (!f && copy >= 0)
        close(copy);
    return f;
}

gr_status gr_out_open(GrOutFile *o, const char *path, gr_error *err) {
    struct stat there, link;
    *o = (GrOutFile){.path = path};
    bool exists = !stat(path, &there), nothing = !exists && !lstat(path, &link), in_place = exists || nothing;
    int fd = gr_out_descriptor(path);
    if (fd >= 0) {
        o->f = open_descriptor(fd);
        return o->f ? GR_OK : failed(path, err);
    }
    if (exists && S_ISREG(there.st_mode)) {
        if (access(path, W_OK)) // a rename would not ask
            return failed(path, err);
        o->target = realpath(path, NULL);
        in_place = there.st_nlink == 1;
    } else if (!exists && !nothing) {
        o->target = strdup(path);
    }
    if (!(o->target && open_temporary(o, exists ? &there : NULL)) && in_place)
        o->f = fopen(path, "wbe");
    if (o->f)
        return GR_OK;
    failed(path, err);
    gr_out_drop(o);
    return GR_ERR_IO;
}

gr_status gr_out_write(GrOutFile *o, const void *data, size_t len, gr_error *err) {
    return !len || fwrite(data, 1, len, o->f) == len ? GR_OK : failed(o->path, err);
}

gr_status gr_out_close(GrOutFile *o, gr_error *err) {
    gr_status st = ferror(o->f) || fflush(o->f) ? failed(o->path, err) : GR_OK;
    if (fclose(o->f) && st == GR_OK)
        st = failed(o->path, err);
    o->f = NULL;
    if (st == GR_OK && o->temporary && rename(o->temporary, o->target))
        st = failed(o->path, err);
    if (st == GR_OK) {
        free(o->temporary);
        o->temporary = NULL;
    }
    gr_out_drop(o);
    return st;
}

void gr_out_drop(GrOutFile *o) {
    if (o->f)
        fclose(o->f);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    free(o->target);
    *o = (GrOutFile){0};
}

gr_status gr_file_write(const char *path, const void *data, size_t len, gr_error *err) {
    GrOutFile o;
    gr_status st = GR_OK;
    GR_TRY(gr_out_open(&o, path, err));
    GR_TRY(gr_out_write(&o, data, len, err));
    st = gr_out_close(&o, err);
done:
    gr_out_drop(&o);
    return st;
}
