// SPDX-License-Identifier: Apache-2.0
// waits — waits of the host, and of streams for each other.
#include "repair/place.h"

#include <string.h>

void gr_place_host_wait(GrPlaces *p, const char *text, const char *what) {
    GrPlace at;
    for (int k = 0; k < 2; k++) {
        const GrAccess *a = &p->found->accesses[k];
        if (!a->host || !gr_place_of(p->repairs, a, &at))
            continue;
        GrProposal one = gr_place_proposal(&at, what);
        if (gr_place_put_before(p, &one, at.statement, text))
            gr_place_add(p, &one);
    }
}

static bool copies(const GrToken *t) {
    return gr_token_starts(t, "cudaMemcpy") || gr_token_starts(t, "cudaMemset") ||
           gr_token_starts(t, "cudaMemPrefetch");
}

// Adds waits before host statements that name `kernel` (NULL: copies). The last first: more likely it is the later.
static void before_each(GrPlaces *p, const GrPlace *at, const GrToken *kernel, const char *text,
                        const char *what) {
    const GrCode *c = &at->file->code;
    for (size_t i = c->functions.len; i--;) {
        const GrFunctionCode *f = &c->functions.data[i];
        for (uint32_t k = f->body->to; !f->kernel && !f->device && k-- > f->body->from;) {
            const GrToken *t = &c->tokens.data[k];
            if (kernel ? t->len != kernel->len || memcmp(t->text, kernel->text, t->len) != 0 : !copies(t))
                continue;
            GrProposal one = gr_place_proposal(at, what);
            if (gr_place_put_before(p, &one, gr_cpp_at(c, f, t->line, 0), text))
                gr_place_add(p, &one);
        }
    }
}

void gr_place_stream_wait(GrPlaces *p, const char *text, const char *what) {
    bool copy = false;
    GrPlace at, kernel = {.file = NULL};
    for (int k = 0; k < 2; k++) {
        const GrAccess *a = &p->found->accesses[k];
        GrAccess outer = *a; // the kernel itself, not what was inlined into it
        outer.at = *gr_access_frame(a, a->n_inlined);
        outer.n_inlined = 0;
        bool known = gr_place_of(p->repairs, &outer, &at) && at.function->kernel;
        copy |= !known;
        if (known && !kernel.file) {
            kernel = at;
            before_each(p, &at, at.function->name, text, what);
        }
    }
    if (copy && kernel.file)
        before_each(p, &kernel, NULL, text, what);
}
