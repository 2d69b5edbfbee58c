// SPDX-License-Identifier: Apache-2.0
#include "passes/registers.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
    OF_A_MULTIPROCESSOR = 65536,
    OF_A_THREAD = 255,
    STEP = 8,            // the device allocates so many for each thread at once
    OF_LARGE_BLOCKS = 64 // for each of 1024 threads
};
enum { FEWEST = 24 }; // what the calling convention itself needs

// Some instruction takes more registers at once than the limit leaves.
static bool takes_many(const PtxModule *m) {
    for (uint32_t k = 0; k < m->n_funcs; k++)
        for (const PtxStmt *s = m->funcs[k]->first; s; s = s->next)
            if (s->kind == PTX_INSTR && (s->instr->op == PTX_OP_WGMMA || s->instr->op == PTX_OP_TCGEN05))
                return true;
    return false;
}

// A kernel that says nothing of its blocks may be launched with 1024 threads, and a multiprocessor has 65536 registers.
// For the runtime's calls the assembler would take more than 64 for each thread, and such a launch would fail.
gr_status gr_registers_limit(PtxModule *m, gr_error *err) {
    bool many = takes_many(m);
    for (uint32_t k = 0; k < m->n_funcs && !many; k++) {
        PtxFunc *f = m->funcs[k];
        const char *has = f->directives ? f->directives : "";
        if (!f->is_entry || !f->has_body || strstr(has, ".maxnreg") || strstr(has, ".minnctapersm") ||
            strstr(has, "ntid"))
            continue;
        StrBuf text = {0};
        gr_str_addf(&text, "%s%s.maxnreg %d", has, *has ? " " : "", OF_LARGE_BLOCKS);
        const char *copy = text.oom ? NULL : gr_arena_strdup(&m->arena, text.data);
        gr_str_free(&text);
        GR_NEED(copy, err);
        f->directives = copy;
    }
    return GR_OK;
}

// The number behind a directive; `otherwise` where it is not written.
static unsigned long number_of(const PtxFunc *f, const char *directive, unsigned long otherwise) {
    const char *at = f->directives ? strstr(f->directives, directive) : NULL;
    unsigned long n = at ? strtoul(at + strlen(directive), NULL, 10) : 0;
    return n ? n : otherwise;
}

static uint64_t threads_of(const uint32_t ntid[3]) {
    uint64_t n = ntid[0];
    for (unsigned k = 1; k < 3; k++)
        n *= ntid[k] ? ntid[k] : 1;
    return n;
}

// How many registers the assembler allows this kernel.
static unsigned most_of(const PtxFunc *f) {
    uint64_t required = threads_of(f->reqntid), threads = required ? required : threads_of(f->maxntid);
    uint64_t n = number_of(f, ".maxnreg", OF_A_THREAD);
    if (threads) {
        uint64_t each = OF_A_MULTIPROCESSOR / threads / number_of(f, ".minnctapersm", 1) / STEP * STEP;
        n = each < n ? each : n;
    } else if (n == OF_A_THREAD) // .minnctapersm alone, of which the assembler takes no notice
        n = OF_LARGE_BLOCKS;
    return n < OF_A_THREAD ? (unsigned)n : OF_A_THREAD;
}

unsigned gr_registers_most(const PtxModule *m) {
    unsigned n = OF_A_THREAD;
    for (uint32_t k = 0; k < m->n_funcs; k++)
        if (m->funcs[k]->is_entry && most_of(m->funcs[k]) < n)
            n = most_of(m->funcs[k]);
    return n < FEWEST || takes_many(m) ? 0 : n;
}
