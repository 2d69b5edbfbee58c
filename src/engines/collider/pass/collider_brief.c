// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_brief.h"

#include "base/str.h"
#include "engines/collider/pass/collider_polled.h"
#include "passes/runtime.h"

extern const char gr_brief_runtime_ptx[];

bool gr_brief_is(const ColliderOptions *o, const PtxFunc *f, const GrSiteStatus *status) {
    unsigned sites = 0;
    if (!o->thinned || o->read_delay_ns <= 1 || o->write_delay_ns <= 1)
        return false;
    for (const PtxStmt *s = f->first; s && sites < BRIEF_SITES; s = s->next)
        sites += s->site && !gr_site_is_left_alone(status[s->site]);
    return sites == BRIEF_SITES;
}

gr_status gr_brief_link(PtxModule *m, const ColliderOptions *o, const GrSiteStatus *status, gr_error *err) {
    bool some = false;
    for (uint32_t k = 0; k < m->n_funcs && !some; k++)
        some = !m->funcs[k]->tag.inserted && gr_brief_is(o, m->funcs[k], status);
    return some ? gr_runtime_link(m, gr_brief_runtime_ptx, o->suffix, err) : GR_OK;
}

// A call that yields what it is given first, the thread's state.
static gr_status put_call(ColliderWork *w, const Access *a, PtxStmt *at, const char *function,
                          const char *arguments) {
    gr_collider_need_waits(w, a->func);
    const char *state = gr_ptx_new_reg(a->func, PTX_B64)->name, *r = w->random->name, *l = w->length->name;
    return gr_access_put(a, at, NULL, 0,
                         "mov.b64 %s, {%s, %s}; call (%s), __gr%s_brief_%s, (%s, %s); mov.b64 {%s, %s}, %s;",
                         state, r, l, state, w->o->suffix, function, state, arguments, r, l, state);
}

gr_status gr_brief_wait(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns) {
    static const GrBriefWait kinds[] = {[WAIT_WINDOW] = GR_BRIEF_WINDOW,
                                        [WAIT_STORED] = GR_BRIEF_STORED,
                                        [WAIT_LATE] = GR_BRIEF_LATE,
                                        [WAIT_POISON] = GR_BRIEF_POISON};
    char arguments[64];
    uint32_t longest = gr_collider_longest(max_ns);
    gr_format(arguments, sizeof arguments, "%u, %u", (unsigned)kinds[what], longest);
    GR_MUST(put_call(w, a, at, "wait", arguments));
    if (what == WAIT_WINDOW || what == WAIT_STORED)
        return gr_collider_last(w, a, at, longest);
    return GR_OK;
}

static bool uses_all(const Access *a, unsigned k) {
    uint64_t all = a->bytes < 8 ? (1ull << a->bytes * 8) - 1 : UINT64_MAX;
    return (a->used[k] & all) == all;
}

bool gr_brief_knows(const ColliderWork *w, const Access *a, const PtxOperand *values, unsigned bits) {
    PtxSpace space = a->site->space;
    if (!w->brief || w->hoisted || a->nested || a->together || a->at[0] || a->bytes > 8 || bits > 64 ||
        !a->n || a->n & (a->n - 1) || a->n * a->bytes > 16 || a->address.kind != PTX_O_ADDRESS ||
        a->address.n_sub != 1 ||
        (space != PTX_GLOBAL && space != PTX_SHARED && space != PTX_SHARED_CTA && space != PTX_GENERIC))
        return false;
    for (unsigned k = 0; k < a->n; k++)
        if (values[k].kind != PTX_O_REG || (a->site->access == PTX_ACCESS_READ && !uses_all(a, k)))
            return false;
    return true;
}

gr_status gr_brief_access(const Access *a, PtxStmt *at, const PtxOperand *values, unsigned bits,
                          BriefAccess *b) {
    PtxReg *address, *wide, *half[2] = {NULL, NULL};
    GR_MUST(gr_collider_generic(a, at, &address));
    b->address = address;
    for (unsigned k = 0; k < a->n; k++) {
        unsigned in = k * a->bytes % 8 * 8, which = k * a->bytes / 8;
        GR_MUST(gr_access_widen(a, at, values[k], bits, &wide));
        if (bits > a->bytes * 8)
            GR_PUT(a, at, "and.b64 %s, %s, %llu;", wide->name, wide->name, (1ull << a->bytes * 8) - 1);
        if (in)
            GR_PUT(a, at, "shl.b64 %s, %s, %u; or.b64 %s, %s, %s;", wide->name, wide->name, in,
                   half[which]->name, half[which]->name, wide->name);
        else
            half[which] = wide;
    }
    for (unsigned k = 0; k < 2; k++)
        gr_format(b->value[k], sizeof b->value[k], "%s", half[k] ? half[k]->name : "0");
    return GR_OK;
}

static uint32_t meta_of(const ColliderWork *w, const Access *a, GrRaceClass class) {
    uint32_t meta = gr_collider_meta(w, a, class) & ~(0xffu << GR_META_SPACE);
    return meta | GR_META_GENERIC << GR_META_SPACE | (uint32_t)__builtin_ctz(a->n) << GR_META_ELEMENTS;
}

gr_status gr_brief_look(const ColliderWork *w, const Access *a, PtxStmt *at, const BriefAccess *b,
                        GrRaceClass class) {
    char guard[64];
    return gr_access_put(a, at, NULL, 0, "%scall __gr%s_brief_look, (%u, %u, %s, %s, %s);",
                         gr_access_guard(a, guard, sizeof guard), w->o->suffix, a->site->id,
                         meta_of(w, a, class), b->address->name, b->value[0], b->value[1]);
}

gr_status gr_brief_before(ColliderWork *w, const Access *a, PtxStmt *at, const BriefAccess *b) {
    const char *flags = gr_ptx_new_reg(a->func, PTX_U32)->name;
    char arguments[256];
    bool poisons = w->o->poison && !(w->polled && gr_is_polled(w->polled, a->site, &a->address));
    unsigned given =
        (poisons ? GR_BRIEF_POISONS : 0) | (a->bytes == 8 && a->type != PTX_F64 ? GR_BRIEF_ADDRESSES : 0);
    if (a->guard)
        GR_PUT(a, at, "selp.b32 %s, %u, %u, %s;", flags, given | GR_BRIEF_PERFORMS, given, a->guard->name);
    else
        GR_PUT(a, at, "mov.u32 %s, %u;", flags, given | GR_BRIEF_PERFORMS);
    gr_format(arguments, sizeof arguments, "%u, %u, %s, %s, %s, %u, %s", a->site->id,
              meta_of(w, a, GR_CLASS_LOST_UPDATE), b->address->name, b->value[0], b->value[1],
              gr_collider_longest(w->o->write_delay_ns), flags);
    return put_call(w, a, at, "before", arguments);
}
