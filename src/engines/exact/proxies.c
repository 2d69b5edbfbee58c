// SPDX-License-Identifier: Apache-2.0
// proxies — bytes that threads read through the generic proxy and that the async proxy overwrites later, in order,
// without a proxy fence.
//
// No rule of PTX orders the two (PTX ISA 9.x, 8.9, "Proxy-preserved base causality order"). Pipelines do it all the
// same: consumers load a stage and arrive at an mbarrier, and the producer copies into the stage again. So such pairs
// are counted, and reported only if the user asks.
#include "engines/exact/exact_internal.h"

enum { NAMED = 4 };

// Counts pairs of lines, as unrolled loops have many instructions of one line.
static void count(Exact *x, const PtxModule *m, const PtxSite *read, const PtxSite *write) {
    StrBuf b = {0};
    gr_exact_name_site(&b, m, (uint32_t)(read - m->sites));
    gr_str_add(&b, " then ");
    gr_exact_name_site(&b, m, (uint32_t)(write - m->sites));
    uint64_t key = b.data ? gr_hash_bytes(b.data, b.len) : 0;
    if (b.data && !gr_map_get_u64(&x->proxy_places, key)) {
        x->nomem |= !gr_map_put_u64(&x->proxy_places, key, x);
        if (x->proxy_places.live <= NAMED) {
            gr_str_add(&x->proxy_named, x->proxy_named.len ? "; " : "");
            gr_str_add(&x->proxy_named, b.data);
        }
    }
    gr_str_free(&b);
}

bool gr_exact_reports_proxy_read(Exact *x, const Access *a, const Stamp *mine, const Stamp *read) {
    if (x->options.proxy_reads)
        return true;
    uint64_t key = (uint64_t)read->site << 32 | mine->site;
    const Launch *l = a->view.launch;
    if (gr_map_get_u64(&x->proxy_reads, key))
        return false;
    x->nomem |= !gr_map_put_u64(&x->proxy_reads, key, x);
    const PtxSite *from = gr_exact_code(x, l, read->site), *to = gr_exact_code(x, l, mine->site);
    if (from && to)
        count(x, l->ptx, from, to);
    return false;
}

char *gr_exact_proxy_reads(const Exact *x) {
    StrBuf b = {0};
    size_t n = x->proxy_places.live;
    if (!n)
        return NULL;
    gr_str_addf(&b,
                "%zu pair%s of a read and an asynchronous copy that later overwrites the bytes %s ordered, "
                "but with no "
                "fence.proxy.async between: by PTX a race, yet common in code that works (%s",
                n, n == 1 ? "" : "s", n == 1 ? "is" : "are", x->proxy_named.data ? x->proxy_named.data : "");
    if (n > NAMED)
        gr_str_addf(&b, "; and %zu more", n - NAMED);
    gr_str_add(&b, "; --proxy-reads yes reports them)");
    return gr_str_take(&b);
}
