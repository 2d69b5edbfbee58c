// SPDX-License-Identifier: Apache-2.0
// print — vprintf of kernels. CUDA collects it in a buffer and writes it to stdout when the host synchronizes; so do
// we, through the program's own stdout, to keep its order with the program's own printf.
#include "driver/cuda/driver.h"

#include "base/str.h"

#include <stdio.h>

static StrBuf waiting;

static void collect(void *user, const char *text, size_t len) {
    (void)user;
    gr_str_addn(&waiting, text, len);
}

void gr_print_attach(VmDevice *vm) { gr_vm_set_print(vm, collect, NULL); }

void gr_print_flush(void) {
    if (waiting.len == 0)
        return;
    fwrite(waiting.data, 1, waiting.len, stdout);
    fflush(stdout);
    gr_str_free(&waiting);
}
