// SPDX-License-Identifier: Apache-2.0
// scratch — a file for the source of a unit test: begin() makes it, end() removes it.
#ifndef GR_TESTS_REPAIR_SCRATCH_H
#define GR_TESTS_REPAIR_SCRATCH_H

#include "base/outfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/test_repair_XXXXXX";

static int begin(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int end(void **state) {
    (void)state;
    return unlink(path);
}

#endif
