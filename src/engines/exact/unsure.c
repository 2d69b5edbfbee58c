// SPDX-License-Identifier: Apache-2.0
// unsure — counts pairs of accesses that only real time orders, or something unseen between host threads (hosts.h), and
// names some.
#include "engines/exact/exact_internal.h"

enum { NAMED = 4 };

// Appends what the report would say of the access, as far as known: the code of an earlier launch may be gone.
static void name(Exact *x, StrBuf *b, const Launch *running, const Stamp *s) {
    const Launch *l = x->order.launches.data[s->at.launch];
    const PtxSite *site = gr_exact_code(x, running, s->site);
    if (site)
        gr_exact_name_site(b, running->ptx, (uint32_t)(site - running->ptx->sites));
    else if (s->mark & (STAMP_FREED | STAMP_ALLOCATED))
        gr_str_add(b, s->mark & STAMP_FREED ? "a free" : "an allocation");
    else if (l->host)
        gr_str_add(b, "the host");
    else if (!s->site)
        gr_str_add(b, s->elem ? "a memset" : "a copy");
    else
        gr_str_add(b, "a kernel of another module");
}

void gr_exact_count_unsure(Exact *x, const Access *a, const Stamp *mine, const Stamp *t) {
    uint32_t lo = mine->site < t->site ? mine->site : t->site,
             hi = mine->site < t->site ? t->site : mine->site;
    uint64_t key = (uint64_t)lo << 32 | hi;
    if (gr_map_get_u64(&x->unsure_pairs, key))
        return;
    x->nomem |= !gr_map_put_u64(&x->unsure_pairs, key, x);
    if (x->unsure_pairs.live > NAMED)
        return;
    StrBuf *b = &x->unsure_named;
    gr_str_add(b, b->len ? "; " : "");
    name(x, b, a->view.launch, t);
    gr_str_add(b, " then ");
    name(x, b, a->view.launch, mine);
}

char *gr_exact_unsure(const Exact *x) {
    StrBuf b = {0};
    size_t n = x->unsure_pairs.live;
    if (!n)
        return NULL;
    gr_str_addf(
        &b,
        "%zu pair%s of accesses by the work of different host threads would race if calls had come at "
        "other times: one host thread had waited for its work before the other thread's call began, but "
        "gpurace saw nothing that orders the two threads (%s",
        n, n == 1 ? "" : "s", x->unsure_named.data ? x->unsure_named.data : "");
    if (n > NAMED)
        gr_str_addf(&b, "; and %zu more", n - NAMED);
    gr_str_add(&b, "; a host function in a stream is a thread of its own)");
    return gr_str_take(&b);
}
