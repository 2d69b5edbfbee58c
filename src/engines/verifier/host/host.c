// SPDX-License-Identifier: Apache-2.0
// host — the lists of what is known.
#include "engines/verifier/host/host.h"

#include <stdlib.h>

const char gr_host_derived[] = "derived";

void gr_host_init(GrHost *h) {
    *h = (GrHost){0};
    gr_arena_init(&h->arena);
}

void gr_host_free(GrHost *h) {
    for (size_t k = 0; k < h->launches.len; k++) {
        GrHostLaunch *l = h->launches.data[k];
        gr_vec_free(&l->param_bytes);
        gr_vec_free(&l->arguments);
        gr_vec_free(&l->facts);
        gr_vec_free(&l->gaps);
    }
    gr_vec_free(&h->launches);
    gr_vec_free(&h->allocations);
    gr_vec_free(&h->remarks);
    gr_vec_free(&h->reasons);
    gr_vec_free(&h->unread);
    gr_arena_free(&h->arena);
}

void gr_host_code_free(GrHostCode *c) {
    for (size_t k = 0; k < c->ptx.len; k++)
        free(c->ptx.data[k].text);
    gr_vec_free(&c->ptx);
    gr_vec_free(&c->programs);
}
