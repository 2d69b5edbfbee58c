// SPDX-License-Identifier: Apache-2.0
#include "base/limits.h"

#include <errno.h>
#include <sys/resource.h>

bool gr_file_may_grow(uint64_t end) {
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY || end <= most.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

const char *gr_limit_advice(int error) {
    switch (error) {
    case EFBIG: return " (the limit on the size of files: `ulimit -f unlimited`)";
    case EMFILE: return " (the process has no free file descriptor: `ulimit -n` with a larger number)";
    case ENFILE: return " (the system has no free file descriptor: fs.file-max)";
    case EAGAIN: return " (no more processes may be started: `ulimit -u`, or the limit of a container)";
    case ENOMEM: return " (memory ran out: is it limited, by `ulimit -v` or a container?)";
    case ENOSPC:
    case EDQUOT: return " (set TMPDIR to a folder with room)";
    default: return "";
    }
}
