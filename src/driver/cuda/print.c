// SPDX-License-Identifier: Apache-2.0
// print — vprintf of kernels. CUDA collects the output in a buffer and writes it to stdout when the host synchronizes.
// The CPU device does so too, through the program's own stdout, to keep its order with the program's own printf.
//
// The buffer has a size (cudaLimitPrintfFifoSize). If it is full, the oldest output is lost, as in CUDA. It holds 2^20
// calls or so, so a kernel that prints for ever does not take all memory.
#include "driver/cuda/driver.h"

#include "base/str.h"

#include <stdio.h>

enum {
    // Text weighs, too, but less: CUDA keeps none, but wide fields must not fill the memory.
    TEXT_SHARE = 64
};

typedef struct Call {
    size_t len;    // of its text
    uint64_t cost; // what it takes of CUDA's buffer, which keeps arguments and no text
} Call;

static StrBuf text; // of the calls, one after the other
static VEC(Call) calls;
static size_t first, start; // the oldest call that is kept; where its text begins
static uint64_t used, lost;

// Cuts off what is lost, once that is most of it.
static void compact(void) {
    if (start < text.len / 2)
        return;
    memmove(text.data, text.data + start, text.len - start);
    text.len -= start;
    memmove(calls.data, calls.data + first, (calls.len - first) * sizeof *calls.data);
    calls.len -= first;
    first = start = 0;
}

static void collect(void *user, const char *more, size_t len, uint64_t cost) {
    const Dev *d = user;
    size_t before = text.len;
    if (cost < len / TEXT_SHARE)
        cost = len / TEXT_SHARE;
    if (!gr_vec_reserve(&calls, calls.len + 1))
        return;
    gr_str_addn(&text, more, len);
    if (text.len == before) // out of memory
        return;
    calls.data[calls.len++] = (Call){len, cost};
    used += cost;
    for (; used > d->printf_bytes && first + 1 < calls.len; first++, lost++) {
        used -= calls.data[first].cost;
        start += calls.data[first].len;
    }
    compact();
}

void gr_print_attach(Dev *d) { gr_vm_set_print(d->vm, collect, d); }

void gr_print_flush(void) {
    if (calls.len == 0)
        return;
    if (lost) {
        char note[160];
        snprintf(note, sizeof note,
                 "%llu calls of printf in kernels did not fit into their buffer and their output is lost, as "
                 "in CUDA "
                 "(cudaLimitPrintfFifoSize)",
                 (unsigned long long)lost);
        gr_cu_hook_note(note);
    }
    fwrite(text.data + start, 1, text.len - start, stdout);
    fflush(stdout);
    gr_str_free(&text);
    gr_vec_free(&calls);
    first = start = 0;
    used = lost = 0;
}
