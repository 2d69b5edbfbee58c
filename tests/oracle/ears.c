// SPDX-License-Identifier: Apache-2.0
// ears — see ears.h.
#include "ears.h"

#include "vm/extension.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void ears_die(const char *what, const gr_error *err) {
    fprintf(stderr, "%s: %s\n", what, err ? err->msg : "");
    exit(2);
}

void ears_occurred(void *user, const ExactOccurrence *o) {
    for (uint32_t m = o->bytes; m; m &= m - 1) {
        Place p = {o->space, o->launch, o->block, o->at + (uint64_t)__builtin_ctz(m)};
        race_set_add(user, &p, o->site[0], o->site[1], false, o->class == RACE_CHANCE);
    }
}

static bool on_glance(void *user, const VmGlance *g) {
    Ears *e = user;
    uint64_t address[32];
    for (unsigned l = 0; l < 32; l++)
        address[l] = gr_vm_glance_at(g, l);
    VmAccessEvent a = {.where = {.launch = g->launch,
                                 .block_linear = g->block_linear,
                                 .warp = g->warp,
                                 .mask = g->mask,
                                 .site = g->site->site,
                                 .module = g->site->module,
                                 .stmt = g->site->stmt},
                       .access = g->site->access,
                       .space = g->space,
                       .sem = g->site->sem,
                       .scope = g->site->scope,
                       .size = g->site->size,
                       .address = address,
                       .owner = g->block_linear,
                       .turn = g->turn};
    e->trace.access(e->trace.user, &a);
    e->told = !e->exact.glance(e->exact.user, g);
    return !e->told;
}

static void on_access(void *user, const VmAccessEvent *a) {
    Ears *e = user;
    if (!e->told)
        e->trace.access(e->trace.user, a);
    e->told = false;
    e->exact.access(e->exact.user, a);
}

static void on_sync(void *user, const VmSyncEvent *s) {
    const Ears *e = user;
    e->trace.sync(e->trace.user, s);
    e->exact.sync(e->exact.user, s);
}

static void on_async(void *user, const VmAsyncEvent *a) {
    const Ears *e = user;
    e->trace.async(e->trace.user, a);
    e->exact.async(e->exact.user, a);
}

static void on_launch_begin(void *user, const VmLaunchEvent *l) {
    const Ears *e = user;
    e->trace.launch_begin(e->trace.user, l);
    e->exact.launch_begin(e->exact.user, l);
}

static void on_launch_end(void *user, const VmLaunchEvent *l, bool faulted) {
    const Ears *e = user;
    e->trace.launch_end(e->trace.user, l, faulted);
    e->exact.launch_end(e->exact.user, l, faulted);
}

static void on_block_begin(void *user, uint64_t number, uint64_t block) {
    const Ears *e = user;
    e->exact.block_begin(e->exact.user, number, block);
}

static void on_block_end(void *user, uint64_t number, uint64_t block) {
    const Ears *e = user;
    e->exact.block_end(e->exact.user, number, block);
}

VmObserver ears_observer(Ears *e, bool glances) {
    return (VmObserver){.user = e,
                        .launch_begin = on_launch_begin,
                        .launch_end = on_launch_end,
                        .block_begin = on_block_begin,
                        .block_end = on_block_end,
                        .access = on_access,
                        .glance = glances && e->exact.glance ? on_glance : NULL,
                        .sync = on_sync,
                        .async = on_async};
}

VmConfig ears_config(uint64_t seed) {
    static const uint32_t quanta[] = {1, 1, 3, 8, 0}, splits[] = {2, 4, 3, 8, 0};
    return (VmConfig){.seed = seed,
                      .watchdog_ns = 20000000,
                      .quantum = quanta[seed % 5],
                      .split_one_in = splits[seed / 5 % 5],
                      .extensions = gr_vm_extensions};
}

void ears_launch(VmDevice *d, VmModule *m, const Kernel *k, uint64_t memory, bool *faulted) {
    gr_error err = {0};
    VmLaunch *l[LAUNCHES] = {NULL};
    for (uint32_t n = 0; n < k->launches; n++) {
        VmLaunchParams p = {.func = gr_vm_module_func(m, "k"),
                            .grid = {k->grid, 1, 1},
                            .block = {k->block, 1, 1},
                            .params = &memory,
                            .launch = n + 1};
        if (gr_vm_launch(d, &p, &l[n], &err) != GR_OK)
            ears_die("launch", &err);
        while (!(k->together && n + 1 < k->launches) && gr_vm_run(d, 100000) != VM_RUN_IDLE)
            ;
    }
    for (uint32_t n = 0; n < k->launches; n++) {
        *faulted |= gr_vm_launch_fault(l[n]) != NULL;
        gr_vm_launch_free(l[n]);
    }
}
