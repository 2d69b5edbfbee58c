// SPDX-License-Identifier: Apache-2.0
// model_print — a model as text.
#include "model_print.h"

static const char *const barrier_names[] = {"entry", "block", "warp", "grid", "some"};
static const char *const round_names[] = {"", "+1", "+n", " left", " in flight"};

static void put_place(const GrPlace *p, StrBuf *out) {
    for (; p; p = p->inlined_at)
        gr_str_addf(out, "%u%s", p->line, p->inlined_at ? "<" : "");
}

static void put_term(const char *name, const GrTerm *a, StrBuf *out) {
    if (!a)
        return;
    gr_str_addf(out, " %s ", name);
    StrBuf one = {0}; // so that each term has its own limit
    gr_term_print(a, &one);
    gr_str_add(out, one.data ? one.data : "");
    gr_str_free(&one);
}

static void put_after(const char *name, const GrAfters *list, StrBuf *out) {
    for (size_t k = 0; k < list->len; k++)
        gr_str_addf(out, " %s%sb%u%s", k ? "," : name, k ? "" : " ", list->data[k].barrier->id,
                    round_names[list->data[k].rounds]);
}

static void put_syncs(const char *name, GrSync *const *list, size_t n, StrBuf *out) {
    for (size_t k = 0; k < n; k++) {
        const GrSync *y = list[k];
        gr_str_addf(out, "    %s: %s%s", name,
                    y->barrier    ? "barrier"
                    : y->is_fence ? "fence"
                    : y->is_cas   ? "cas"
                    : y->is_exch  ? "exch"
                                  : "strong",
                    y->spins ? " spins" : "");
        if (y->object)
            gr_str_addf(out, " %s", y->object->name);
        put_term("at", y->offset, out);
        put_term("until", y->until, out);
        put_term("gives", y->result, out);
        put_term("compares", y->access ? y->access->compare : NULL, out);
        put_term("writes", y->access ? y->access->swap : NULL, out);
        gr_str_addc(out, '\n');
    }
}

static void put_access(const GrKernelAccess *a, StrBuf *out) {
    gr_str_addf(out, "  line ");
    put_place(a->place, out);
    gr_str_addf(out, ": %s%s %u of %s", a->async ? "async " : "",
                a->atomic   ? "atomic"
                : a->writes ? a->strong ? "strong write" : "write"
                : a->strong ? "strong read"
                            : "read",
                a->size, a->object->name);
    put_term("at", a->offset, out);
    put_term("if", a->guard, out);
    put_term("value", a->value, out);
    put_after("after", &a->after[GR_REACH_BLOCK], out);
    put_after("warp", &a->after[GR_REACH_WARP], out);
    put_after("grid", &a->after[GR_REACH_GRID], out);
    if (a->loop)
        gr_str_addf(out, " loop %u", a->loop->id);
    gr_str_addc(out, '\n');
    put_syncs("before", a->before.data, a->before.len, out);
    put_syncs("behind", a->behind.data, a->behind.len, out);
}

void model_print(const GrKernelModel *m, StrBuf *out) {
    gr_str_addf(out, "kernel %s\n", m->func->name);
    for (size_t k = 0; k < m->loops.len; k++) {
        const GrLoop *l = m->loops.data[k];
        gr_str_addf(out, "  loop %u at line %u%s%s%s", l->id, l->line,
                    l->has_barrier ? " with a barrier" : "", l->uniform[GR_REACH_BLOCK] ? " uniform" : "",
                    l->uniform[GR_REACH_GRID] ? " in the grid" : "");
        if (l->parent)
            gr_str_addf(out, " in %u", l->parent->id);
        gr_str_addc(out, '\n');
    }
    for (size_t k = 0; k < m->barriers.len; k++) {
        const GrBarrier *b = m->barriers.data[k];
        gr_str_addf(out, "  b%u: %s", b->id, barrier_names[b->kind]);
        if (b->place)
            gr_str_add(out, " line ");
        put_place(b->place, out);
        if (b->stmt)
            put_term("if", b->guard, out);
        put_term("mask", b->mask, out);
        put_term("number", b->number, out);
        put_term("count", b->count, out);
        gr_str_addc(out, '\n');
    }
    for (size_t k = 0; k < m->accesses.len; k++)
        put_access(m->accesses.data[k], out);
    for (size_t k = 0; k < m->facts.len; k++) {
        put_term(" fact", m->facts.data[k], out);
        gr_str_addc(out, '\n');
    }
    for (size_t k = 0; k < m->gaps.len; k++) {
        gr_str_addf(out, "  gap%s: %s line ", m->gaps.data[k].whole_kernel ? " of the kernel" : "",
                    m->gaps.data[k].why);
        put_place(m->gaps.data[k].place, out);
        gr_str_addc(out, '\n');
    }
}
