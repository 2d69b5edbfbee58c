// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool gr_process_read(pid_t pid, GrProcess *out) {
    char path[48], text[1024], state;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    // PID (NAME) STATE PARENT GROUP SESSION …, the 22nd behind the name is the pages. The name may have anything in it.
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    long long pages;
    *out = (GrProcess){.pid = pid};
    if (!name || !end ||
        sscanf(end + 1,
               " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %lld",
               &state, &out->parent, &out->session, &pages) != 4)
        return false;
    out->ended = state == 'Z' || state == 'X';
    out->pages = pages > 0 ? (uint64_t)pages : 0;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(end - name - 1), name + 1);
    return true;
}

void gr_processes(void (*visit)(void *user, const GrProcess *p), void *user) {
    DIR *all = opendir("/proc");
    for (const struct dirent *d; all && (d = readdir(all));) {
        GrProcess p;
        if (isdigit((unsigned char)d->d_name[0]) && gr_process_read((pid_t)atol(d->d_name), &p))
            visit(user, &p);
    }
    if (all)
        closedir(all);
}

gr_status gr_process_self(char path[PATH_MAX], gr_error *err) {
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n <= 0)
        return gr_fail(err, GR_ERR_IO, "cannot read /proc/self/exe: %s", strerror(errno));
    path[n] = 0;
    return GR_OK;
}
