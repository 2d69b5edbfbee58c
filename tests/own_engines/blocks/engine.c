// SPDX-License-Identifier: Apache-2.0
// engine blocks — see blocks.h. It runs on the CPU device and on a GPU.
#include "engines/core/engine.h"
#include "blocks.h"
#include "engines/blocks/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Blocks {
    GrSession *session;
    uint64_t least;
} Blocks;

static gr_status begin(GrSession *s, const GrOptions *o, void **self, gr_error *err) {
    const BlocksWords *words = gr_options_of(o, &gr_blocks_options);
    if (!s)
        return gr_fail(err, GR_ERR_UNSUPPORTED, "the engine blocks needs a run");
    Blocks *b = calloc(1, sizeof *b);
    if (!b)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    *b = (Blocks){s, words->least};
    *self = b;
    return GR_OK;
}

static const char *variable(const GrModule *m, char buf[48]) {
    snprintf(buf, 48, "__gr_blocks_%llu", (unsigned long long)m->number);
    return buf;
}

static gr_status add_variable(PtxModule *ptx, const char *name, gr_error *err) {
    char text[200];
    snprintf(text, sizeof text,
             ".version 6.3\n.target sm_70\n.address_size 64\n.visible .global .align 8 .u64 %s;\n", name);
    PtxModule *runtime;
    gr_status st = gr_ptx_parse(text, strlen(text), "blocks", &runtime, err);
    if (st == GR_OK)
        st = gr_ptx_link_runtime(ptx, runtime, err);
    gr_ptx_free(runtime);
    return st;
}

// Before the store, under its guard.
static gr_status watch(PtxModule *ptx, const PtxSite *site, const char *name, gr_error *err) {
    PtxStmt *at = site->stmt;
    while (at->prev && (at->prev->kind == PTX_PRAGMA || at->prev->kind == PTX_LOC))
        at = at->prev;
    const PtxInstr *i = site->stmt->instr;
    PtxOperand guard = {0};
    if (i->guard)
        guard = gr_ptx_reg_operand(i->guard);
    const char *area = gr_ptx_new_reg(site->func, PTX_U64)->name,
               *block = gr_ptx_new_reg(site->func, PTX_U32)->name,
               *when = !i->guard          ? ""
                       : i->guard_negated ? "@!$0 "
                                          : "@$0 ";
    char text[600];
    size_t cell = site->id * sizeof(BlocksCell);
    snprintf(text, sizeof text,
             "ld.global.u64 %s, [%s];"
             "%sred.relaxed.sys.global.add.u64 [%s+%zu], 1;"
             "mov.u32 %s, %%ctaid.x; add.u32 %s, %s, 1;"
             "%sred.relaxed.sys.global.max.u32 [%s+%zu], %s;"
             "sub.u32 %s, 0, %s;"
             "%sred.relaxed.sys.global.max.u32 [%s+%zu], %s;",
             area, name, when, area, cell + offsetof(BlocksCell, count), block, block, block, when, area,
             cell + offsetof(BlocksCell, last_plus), block, block, block, when, area,
             cell + offsetof(BlocksCell, first_neg), block);
    (void)ptx;
    return gr_ptx_insert(site->func, at, site->id, text, &guard, i->guard ? 1 : 0, NULL, err);
}

static gr_status rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    (void)self;
    char name[48];
    gr_status st = add_variable(ptx, variable(m, name), err);
    for (uint32_t k = 1; k <= m->n_sites && st == GR_OK; k++) {
        const PtxSite *site = &ptx->sites[k];
        bool store = site->access == PTX_ACCESS_WRITE && site->space == PTX_GLOBAL;
        m->checked_sites[k] = store ? GR_SITE_CHECKED : GR_SITE_FILTERED;
        if (store)
            st = watch(ptx, site, name, err);
    }
    m->record_bytes = ((uint64_t)m->n_sites + 1) * sizeof(BlocksCell);
    m->record_tag = blocks_decoder.tag;
    return st;
}

static gr_status loaded(void *self, GrModule *m, GrGetGlobal get_global, void *handle, gr_error *err) {
    Blocks *b = self;
    char name[48];
    CUdeviceptr at;
    size_t size;
    CUresult rc = get_global(handle, variable(m, name), &at, &size);
    if (rc != CUDA_SUCCESS)
        return gr_fail(err, GR_ERR_NOT_FOUND, "the driver does not find %s (CUDA error %d)", name, (int)rc);
    ((BlocksCell *)m->records)[0].count = b->least;
    rc = b->session->write(b->session, at, &m->records_device, sizeof m->records_device);
    return rc == CUDA_SUCCESS ? GR_OK : gr_fail(err, GR_ERR_IO, "writing %s: CUDA error %d", name, (int)rc);
}

static void finish(void *self) { free(self); }

const GrEngine gr_engine_blocks = {
    .name = "blocks",
    .summary = "finds stores that several blocks execute (tests only)",
    .evidence = "blocks counted",
    .caps = CAP_CPU | CAP_GPU | CAP_CHECKS | CAP_REWRITES,
    .classes = blocks_classes,
    .decoder = &blocks_decoder,
    .begin = begin,
    .rewrite = rewrite,
    .loaded = loaded,
    .finish = finish,
};
