// SPDX-License-Identifier: Apache-2.0
#include "cli/run/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char none[] = "/dev/null";

void gr_input_remember(GrInput *i) {
    struct stat in, null;
    *i = (GrInput){.at = -1};
    if (fstat(STDIN_FILENO, &in) || (!stat(none, &null) && S_ISCHR(in.st_mode) && in.st_rdev == null.st_rdev))
        return;
    if (S_ISREG(in.st_mode))
        i->at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (i->at < 0)
        i->what = isatty(STDIN_FILENO) ? "a terminal" : S_ISFIFO(in.st_mode) ? "a pipe" : "no file";
}

int gr_input_again(const GrInput *i) {
    // Opened anew: the first run's descriptor shares its position with every process that has it.
    int fd = i->at < 0 ? -1 : open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && lseek(fd, i->at, SEEK_SET) == i->at)
        return fd;
    if (fd >= 0)
        close(fd);
    return open(none, O_RDONLY | O_CLOEXEC);
}
