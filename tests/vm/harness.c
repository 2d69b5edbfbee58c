// SPDX-License-Identifier: Apache-2.0
// harness — see harness.h.
#include "harness.h"
#include "vm/core/launch.h"

#include "base/rng.h"
#include "vm/extension.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void keep(void *user, const char *text, size_t len, uint64_t cost) {
    (void)cost;
    gr_str_addn(&((Rig *)user)->printed, text, len);
}

static void must(gr_status st, const gr_error *err, const char *what) {
    if (st != GR_OK)
        fail_msg("%s: %s (line %u)", what, err->msg, err->line);
}

static gr_status open_rig(Rig *r, const char *text, const VmConfig *config, gr_error *err) {
    static const char header[] = ".version 8.4\n.target sm_90\n.address_size 64\n";
    VmConfig c = config ? *config : (VmConfig){0};
    memset(r, 0, sizeof *r);
    StrBuf full = {0};
    if (!strstr(text, ".version"))
        gr_str_add(&full, header);
    gr_str_add(&full, text);
    must(gr_vm_mem_create(&r->mem, err), err, "memory");
    c.mem = r->mem;
    if (!c.extensions)
        c.extensions = gr_vm_extensions;
    must(gr_vm_create(&c, &r->dev, err), err, "device");
    gr_vm_set_print(r->dev, keep, r);
    must(gr_ptx_parse_ours(full.data, full.len, "test", &r->ptx, err), err, "parse");
    gr_str_free(&full);
    return gr_vm_module_load(r->dev, &r->ptx, 1, NULL, NULL, &r->mod, err);
}

void rig_open(Rig *r, const char *text, const VmConfig *config) {
    gr_error err = {0};
    must(open_rig(r, text, config, &err), &err, "load");
}

void rig_open_file(Rig *r, const char *path, const VmConfig *config) {
    gr_error err = {0};
    char *text;
    size_t len;
    must(gr_file_read(path, &text, &len, &err), &err, path);
    rig_open(r, text, config);
    free(text);
}

void rig_refuse(const char *text, gr_status want) {
    Rig r;
    gr_error err = {0};
    assert_int_equal(open_rig(&r, text, NULL, &err), want);
    r.mod = NULL;
    rig_close(&r);
}

void rig_close(Rig *r) {
    gr_vm_module_unload(r->mod);
    gr_vm_destroy(r->dev);
    gr_ptx_free(r->ptx);
    gr_vm_mem_destroy(r->mem);
    gr_str_free(&r->printed);
}

uint64_t rig_alloc(Rig *r, uint64_t bytes) {
    gr_error err = {0};
    VmRange *range;
    must(gr_vm_mem_alloc(r->mem, VM_MEM_DEVICE, 0, bytes, 256, &range, &err), &err, "alloc");
    return range->addr;
}

void *rig_view(Rig *r, uint64_t addr, uint64_t bytes) {
    void *p = gr_vm_mem_view(r->mem, addr, bytes);
    assert_non_null(p);
    return p;
}

VmLaunch *rig_start(Rig *r, const char *kernel, Dims dims, unsigned n, const uint64_t *params) {
    gr_error err = {0};
    VmFunc *f = gr_vm_module_func(r->mod, kernel);
    if (!f)
        fail_msg("no kernel %s", kernel);
    const VmParam *layout;
    uint32_t total;
    size_t have = gr_vm_func_params(f, &layout, &total);
    uint8_t *buf = calloc(1, total + 16u);
    for (unsigned k = 0; k < n && k < have; k++)
        memcpy(buf + layout[k].offset, &params[k], layout[k].size < 8 ? layout[k].size : 8);
    VmLaunchParams p = {.func = f,
                        .grid = {dims.grid, 1, 1},
                        .block = {dims.block, 1, 1},
                        .shared_dynamic = dims.shared,
                        .params = buf,
                        .launch = ++r->launches};
    VmLaunch *l;
    must(gr_vm_launch(r->dev, &p, &l, &err), &err, kernel);
    free(buf);
    return l;
}

void rig_drain(Rig *r, uint64_t budget) {
    VmRunResult got;
    while ((got = gr_vm_run(r->dev, budget)) != VM_RUN_IDLE)
        if (got == VM_RUN_HELD)
            assert_non_null(gr_vm_release(r->dev));
}

VmFaultKind rig_run(Rig *r, const char *kernel, Dims dims, unsigned n, const uint64_t *params) {
    VmLaunch *l = rig_start(r, kernel, dims, n, params);
    while (!gr_vm_launch_done(l)) {
        VmRunResult got = gr_vm_run(r->dev, 100000);
        assert_int_not_equal(got, VM_RUN_IDLE);
        if (got == VM_RUN_HELD)
            assert_non_null(gr_vm_release(r->dev));
    }
    memset(&r->fault, 0, sizeof r->fault);
    if (gr_vm_launch_fault(l))
        r->fault = *gr_vm_launch_fault(l);
    r->instructions = l->instructions;
    r->undefined = l->undefined_collectives;
    r->ns = l->end_ns - l->start_ns;
    gr_vm_launch_free(l);
    return r->fault.kind;
}

static void mix(Ear *e, uint64_t v) { e->hash = gr_mix64(e->hash + v); }

static void on_access(void *user, const VmAccessEvent *e) {
    Ear *ear = user;
    ear->accesses++;
    mix(ear, e->where.block_linear << 32 | e->where.warp);
    mix(ear, (uint64_t)e->where.mask << 32 | e->where.site);
    mix(ear, (uint64_t)e->access << 32 | e->space);
    for (unsigned l = 0; l < 32; l++)
        if (e->where.mask >> l & 1)
            mix(ear, e->address[l]);
}

static void on_sync(void *user, const VmSyncEvent *e) {
    Ear *ear = user;
    ear->syncs++;
    mix(ear, e->where.block_linear << 32 | e->where.warp);
    mix(ear, (uint64_t)e->kind << 32 | e->barrier);
}

static void on_block(void *user, uint64_t launch, uint64_t block) {
    Ear *ear = user;
    ear->blocks++;
    mix(ear, launch << 32 | block);
}

void rig_listen(Rig *r, Ear *ear) {
    gr_error err = {0};
    memset(ear, 0, sizeof *ear);
    VmObserver o = {
        .user = ear, .access = on_access, .sync = on_sync, .block_begin = on_block, .block_end = on_block};
    must(gr_vm_observe(r->dev, &o, &err), &err, "observe");
}
