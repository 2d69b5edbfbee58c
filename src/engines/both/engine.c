// SPDX-License-Identifier: Apache-2.0
// engine collider+exact — the collider, and causality followed in the same execution: what the collider reports is confirmed
// there and gets its other side, or is named as a mistake of one of the two.
//
// It is the two engines' tables one behind the other. What the collider inserts is tagged, so the other does not hear of it.
#include "engines/core/engines.h"
#include "options/options.h"

#include <stdlib.h>

typedef struct Both {
    void *collider, *exact;
} Both;

static gr_status confirm_begin(GrSession *s, const struct GrOptions *o, void **self, gr_error *err) {
    Both *b = calloc(1, sizeof *b);
    if (!b)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    *self = b;
    // The collider does not see through every hoisted load: what it says of one is explained, not denied.
    GrOptions own = *o;
    own.speculated = true;
    own.stop = false; // what it finds alone is not reported
    // Nor can it judge what it was told not to look at. The report leaves out what the user does not want.
    own.kernel = own.not_kernel = own.file = own.not_file = "";
    gr_status st = gr_engine_exact.begin(s, &own, &b->exact, err);
    return st == GR_OK ? gr_engine_collider.begin(s, o, &b->collider, err) : st;
}

static gr_status confirm_rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    const Both *b = self;
    // First the one that only looks: it wants the program's own module.
    gr_status st = gr_engine_exact.rewrite(b->exact, ptx, m, err);
    return st == GR_OK ? gr_engine_collider.rewrite(b->collider, ptx, m, err) : st;
}

static gr_status confirm_loaded(void *self, GrModule *m,
                                gr_status (*get_global)(void *handle, const char *name, CUdeviceptr *addr,
                                                        size_t *size),
                                void *handle, gr_error *err) {
    return gr_engine_collider.loaded(((const Both *)self)->collider, m, get_global, handle, err);
}

static void confirm_finish(void *self) {
    Both *b = self;
    if (b->exact)
        gr_engine_exact.finish(b->exact);
    if (b->collider)
        gr_engine_collider.finish(b->collider);
    free(b);
}

const GrEngine gr_engine_confirm = {
    .name = GR_ENGINE_BOTH,
    .summary = "the collider, its races confirmed by causality in the same execution; CPU device only",
    .evidence = "value changed",
    .cpu_only = true,
    .samples = true,
    .begin = confirm_begin,
    .rewrite = confirm_rewrite,
    .loaded = confirm_loaded,
    .finish = confirm_finish,
};
