// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/meet.h"

#include "engines/collider/device/meet.h"
#include "engines/collider/device/record.h"
#include "passes/emit.h"
#include "passes/runtime.h"
#include "ptx/fate.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

extern const char gr_meet_runtime_ptx[];

// One function under rewriting; the registers are filled at its beginning.
typedef struct Meet {
    PtxModule *module;
    const MeetOptions *o;
    PtxFunc *func;
    PtxReg *table, *mask, *salt;
    bool clusters, used;
    gr_error *err;
} Meet;

// The access as it is looked up.
typedef struct Bytes {
    PtxReg *at, *hash, *what, *slot; // `what` is a register for generic addresses, else NULL: what_text
    PtxReg *guard;                   // NULL: all active lanes
    char what_text[32];
} Bytes;

// ---- Pieces ------------------------------------------------------------------------------------------------

static gr_status put_beginning(const Meet *w) {
    char text[1024];
    PtxFunc *f = w->func;
    PtxReg *t = gr_ptx_new_reg(f, PTX_U32), *s = gr_ptx_new_reg(f, PTX_U32);
    PtxReg *none = gr_ptx_new_reg(f, PTX_B64), *p = gr_ptx_new_reg(f, PTX_PRED);
    const char *where = w->clusters ? "clusterid" : "ctaid", *salt = w->salt->name;
    // Shared memory has one address in every block (or cluster) of every launch: the salt keeps them apart.
    int n = snprintf(
        text, sizeof text,
        "ld.relaxed.sys.global.u64 %s, [__gr%s_control+%zu]; mov.u64 %s, __gr%s_no_windows;"
        "setp.ne.u64 %s, %s, 0; selp.b64 %s, %s, %s, %s; selp.b64 %s, 0x%x, 0, %s;"
        "mov.u32 %s, %%%s.x; mov.u32 %s, %%%s.y; mad.lo.u32 %s, %s, 0x9E3779B1, %s;"
        "mov.u32 %s, %%%s.z; mad.lo.u32 %s, %s, 0x85EBCA6B, %s; cvt.u64.u32 %s, %s; mul.lo.u64 %s, %s, "
        "0x9FB21C651E98DF25;"
        "mov.u64 %s, %%gridid; mad.lo.u64 %s, %s, 0xD6E8FEB86659FD93, %s;",
        w->table->name, w->o->suffix, offsetof(GrControl, windows), none->name, w->o->suffix, p->name,
        w->table->name, w->table->name, w->table->name, none->name, p->name, w->mask->name, GR_MEET_ROW_MASK,
        p->name, t->name, where, s->name, where, t->name, s->name, t->name, s->name, where, t->name, s->name,
        t->name, salt, t->name, salt, salt, none->name, salt, none->name, salt);
    if (n < 0 || (size_t)n >= sizeof text)
        return gr_fail(w->err, GR_ERR_INTERNAL, "inserted code does not fit");
    PtxStmt *at = gr_function_start(f);
    return gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err);
}

// `text` runs only where `condition` holds.
static gr_status open_if(const Access *a, PtxStmt *at, const PtxReg *condition, PtxLabel **end) {
    *end = gr_ptx_new_label(a->func);
    PtxOperand target = gr_ptx_label_operand(*end);
    return gr_access_put(a, at, &target, 1, "@!%s bra $0;", condition->name);
}

static void close_if(const Access *a, PtxStmt *at, PtxLabel *end) { gr_ptx_insert_label(a->func, at, end); }

// The lanes that make the access, and not to local memory.
static gr_status put_guard(const Access *a, Bytes *b) {
    const PtxInstr *i = a->stmt->instr;
    const PtxOperand *base = &a->address.sub[0];
    if (i->guard) {
        PtxOperand g = gr_ptx_reg_operand(i->guard);
        b->guard = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT_OPS(a, a->before, &g, 1, "%s.pred %s, $0;", i->guard_negated ? "not" : "mov", b->guard->name);
    }
    if (a->site->space == PTX_GENERIC && base->kind == PTX_O_REG) {
        PtxReg *local = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT_OPS(a, a->before, base, 1, "isspacep.local %s, $0; not.pred %s, %s;", local->name, local->name,
                   local->name);
        if (b->guard)
            GR_PUT(a, a->before, "and.pred %s, %s, %s;", local->name, local->name, b->guard->name);
        b->guard = local;
    }
    return GR_OK;
}

// Before the access: where it goes, as one number for each place of memory, and its slot in the table.
static gr_status put_bytes(Meet *w, const Access *a, Bytes *b) {
    *b = (Bytes){.hash = gr_ptx_new_reg(a->func, PTX_B64), .slot = gr_ptx_new_reg(a->func, PTX_B64)};
    const char *window = w->clusters ? "shared::cluster" : "shared", *salt = w->salt->name;
    bool generic = a->site->space == PTX_GENERIC, shared = !generic && a->site->space != PTX_GLOBAL;
    w->used = true;
    GR_MUST(put_guard(a, b));
    GR_MUST(gr_access_address64(a, a->before, &b->at));
    gr_format(b->what_text, sizeof b->what_text, "%u", a->site->size | (shared ? GR_MEET_SHARED : 0u));
    PtxReg *mine = gr_ptx_new_reg(a->func, PTX_B64);
    if (generic) {
        PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED);
        b->what = gr_ptx_new_reg(a->func, PTX_U32);
        GR_PUT(a, a->before,
               "isspacep.%s %s, %s; @%s cvta.to.%s.u64 %s, %s; selp.b64 %s, %s, 0, %s; selp.u32 "
               "%s, %u, %u, %s;",
               window, p->name, b->at->name, p->name, window, b->at->name, b->at->name, mine->name, salt,
               p->name, b->what->name, a->site->size | GR_MEET_SHARED, a->site->size, p->name);
        gr_format(b->what_text, sizeof b->what_text, "%s", b->what->name);
    } else {
        GR_PUT(a, a->before, shared ? "mov.b64 %s, %s;" : "mov.b64 %s, 0;", mine->name, salt);
    }
    const char *h = b->hash->name, *s = b->slot->name;
    GR_PUT(a, a->before,
           "shr.u64 %s, %s, 5; xor.b64 %s, %s, %s; mul.lo.u64 %s, %s, 0x%llx; and.b64 %s, %s, 28; "
           "shl.b64 %s, %s, 1;",
           h, b->at->name, h, h, mine->name, h, h, (unsigned long long)GR_MEET_HASH, s, b->at->name, s, s);
    return gr_access_put(a, a->before, NULL, 0,
                         "shr.u64 %s, %s, %u; and.b64 %s, %s, %s; or.b64 %s, %s, %s; add.s64 %s, %s, %s;",
                         mine->name, h, (unsigned)GR_MEET_ROW_SHIFT, mine->name, mine->name, w->mask->name, s,
                         s, mine->name, s, s, w->table->name);
}

// ---- Accesses that may be met --------------------------------------------------------------------------------

// What was inserted for this access ends here.
static PtxStmt *behind(const PtxStmt *s) {
    PtxStmt *k = s->next;
    while (k && k->tag.inserted && (k->tag.site == s->site || k->kind == PTX_LABEL_DEF))
        k = k->next;
    return k;
}

static gr_status put_target(Meet *w, Access *a, uint32_t target, const Speculation *spec) {
    Bytes b;
    PtxReg *opened = gr_ptx_new_reg(a->func, PTX_U32), *met = gr_ptx_new_reg(a->func, PTX_U32);
    PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED), *q = gr_ptx_new_reg(a->func, PTX_PRED), *kept = NULL;
    PtxLabel *end = NULL;
    GR_MUST(put_bytes(w, a, &b));
    GR_PUT(a, a->before, "mov.u32 %s, 0;", opened->name);
    if (b.guard)
        GR_MUST(open_if(a, a->before, b.guard, &end));
    GR_PUT(a, a->before,
           "{ .param .b32 __gr_r; .param .b32 __gr_a0; .param .b32 __gr_a1; .param .b64 __gr_a2; "
           ".param .b64 __gr_a3;"
           "st.param.b32 [__gr_a0], %u; st.param.b32 [__gr_a1], %s; st.param.b64 [__gr_a2], %s; "
           "st.param.b64 [__gr_a3], %s; call (__gr_r), __gr%s_publish, (__gr_a0, __gr_a1, "
           "__gr_a2, __gr_a3); ld.param.b32 %s, [__gr_r]; }",
           target, b.what_text, b.at->name, b.hash->name, w->o->suffix, opened->name);
    if (b.guard)
        close_if(a, a->before, end);

    GR_PUT(a, a->after, "mov.u32 %s, 0; setp.ne.u32 %s, %s, 0;", met->name, p->name, opened->name);
    GR_MUST(open_if(a, a->after, p, &end));
    GR_PUT(a, a->after,
           "{ .param .b32 __gr_r; .param .b32 __gr_a0; st.param.b32 [__gr_a0], %s; call "
           "(__gr_r), __gr%s_withdraw, (__gr_a0); ld.param.b32 %s, [__gr_r]; }",
           opened->name, w->o->suffix, met->name);
    close_if(a, a->after, end);

    for (unsigned k = 0; spec && k < spec->n; k++) {
        PtxReg *one = gr_ptx_new_reg(a->func, PTX_PRED);
        PtxOperand keeps = gr_ptx_reg_operand(spec->keep[k].pred);
        GR_PUT_OPS(a, a->report, &keeps, 1, "%s.pred %s, $0;", spec->keep[k].negated ? "not" : "mov",
                   one->name);
        if (kept)
            GR_PUT(a, a->report, "or.pred %s, %s, %s;", one->name, one->name, kept->name);
        kept = one;
    }
    GR_PUT(a, a->report, "setp.ne.u32 %s, %s, 0;", q->name, met->name);
    char keeps[64];
    gr_format(keeps, sizeof keeps, "1");
    if (kept) {
        PtxReg *r = gr_ptx_new_reg(a->func, PTX_U32);
        GR_PUT(a, a->report, "selp.u32 %s, 1, 0, %s;", r->name, kept->name);
        gr_format(keeps, sizeof keeps, "%s", r->name);
    }
    GR_MUST(open_if(a, a->report, q, &end));
    GR_PUT(a, a->report,
           "{ .param .b32 __gr_a0; .param .b32 __gr_a1; .param .b32 __gr_a2; .param .b64 "
           "__gr_a3; .param .b32 __gr_a4;"
           "st.param.b32 [__gr_a0], %u; st.param.b32 [__gr_a1], %u; st.param.b32 [__gr_a2], %s; "
           "st.param.b64 [__gr_a3], %s; st.param.b32 [__gr_a4], %s; call __gr%s_met, (__gr_a0, "
           "__gr_a1, __gr_a2, __gr_a3, __gr_a4); }",
           target, a->site->id, b.what_text, b.at->name, keeps, w->o->suffix);
    close_if(a, a->report, end);
    return GR_OK;
}

// ---- Accesses that may meet them -------------------------------------------------------------------------------

// Whether any word of the table that these bytes go to has their tag.
static gr_status put_tags(const Access *a, const Bytes *b, const PtxReg *seems) {
    unsigned words = a->site->size <= 4 ? 1 : a->site->size / 4;
    PtxReg *v[2] = {gr_ptx_new_reg(a->func, PTX_B64), gr_ptx_new_reg(a->func, PTX_B64)};
    for (unsigned k = 0; k < words; k += 2) {
        if (words == 1)
            GR_PUT(a, a->before, "ld.relaxed.sys.global.u64 %s, [%s];", v[0]->name, b->slot->name);
        else
            GR_PUT(a, a->before, "ld.relaxed.sys.global.v2.u64 {%s, %s}, [%s+%u];", v[0]->name, v[1]->name,
                   b->slot->name, k * 8);
        for (unsigned e = 0; e < 2 && e < words; e++)
            if (k + e == 0)
                GR_PUT(a, a->before, "xor.b64 %s, %s, %s; setp.lt.u64 %s, %s, 0x100000000;", v[e]->name,
                       v[e]->name, b->hash->name, seems->name, v[e]->name);
            else
                GR_PUT(a, a->before, "xor.b64 %s, %s, %s; setp.lt.or.u64 %s, %s, 0x100000000, %s;",
                       v[e]->name, v[e]->name, b->hash->name, seems->name, v[e]->name, seems->name);
    }
    if (b->guard)
        GR_PUT(a, a->before, "and.pred %s, %s, %s;", seems->name, seems->name, b->guard->name);
    return GR_OK;
}

static gr_status put_caught(const Meet *w, const Access *a, PtxStmt *at, const Bytes *b, const PtxReg *word) {
    return gr_access_put(
        a, at, NULL, 0,
        "{ .param .b32 __gr_a0; .param .b32 __gr_a1; .param .b64 __gr_a2; .param .b64 __gr_a3; "
        ".param .b64 __gr_a4;"
        "st.param.b32 [__gr_a0], %u; st.param.b32 [__gr_a1], %s; st.param.b64 [__gr_a2], %s; "
        "st.param.b64 [__gr_a3], %s; st.param.b64 [__gr_a4], %s; call __gr%s_caught, "
        "(__gr_a0, __gr_a1, __gr_a2, __gr_a3, __gr_a4); }",
        a->site->id, b->what_text, b->at->name, b->hash->name, word->name, w->o->suffix);
}

// Any time up to the longest, and of any order of magnitude: a chance for windows that open at about this time.
static gr_status put_lateness(const Meet *w, const Access *a) {
    const char *t = gr_ptx_new_reg(a->func, PTX_U32)->name, *s = gr_ptx_new_reg(a->func, PTX_U32)->name;
    if (!w->o->late_ns)
        return GR_OK;
    return gr_access_put(a, a->before, NULL, 0,
                         "mov.u32 %s, %%clock; mul.lo.u32 %s, %s, 0x9E3779B1; bfe.u32 %s, %s, 12, 3; "
                         "mul.hi.u32 %s, %s, %u; shr.u32 %s, %s, %s; nanosleep.u32 %s;",
                         t, t, t, s, t, t, t, w->o->late_ns, t, t, s, t);
}

static gr_status put_look(Meet *w, Access *a) {
    Bytes b;
    PtxReg *seems = gr_ptx_new_reg(a->func, PTX_PRED), *word = gr_ptx_new_reg(a->func, PTX_B64);
    PtxLabel *end = NULL;
    GR_MUST(put_lateness(w, a));
    GR_MUST(put_bytes(w, a, &b));
    GR_MUST(put_tags(a, &b, seems));
    if (a->site->strong)
        GR_PUT(a, a->before, "mov.b64 %s, 0;", word->name);
    GR_MUST(open_if(a, a->before, seems, &end));
    GR_PUT(a, a->before,
           "{ .param .b64 __gr_r; .param .b32 __gr_a0; .param .b64 __gr_a1; .param .b64 __gr_a2;"
           "st.param.b32 [__gr_a0], %s; st.param.b64 [__gr_a1], %s; st.param.b64 [__gr_a2], %s;"
           "call (__gr_r), __gr%s_look, (__gr_a0, __gr_a1, __gr_a2); ld.param.b64 %s, "
           "[__gr_r]; }",
           b.what_text, b.at->name, b.hash->name, w->o->suffix, word->name);
    if (!a->site->strong)
        GR_MUST(put_caught(w, a, a->before, &b, word));
    close_if(a, a->before, end);
    if (a->site->strong) {
        PtxReg *saw = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT(a, a->after, "setp.ne.u64 %s, %s, 0;", saw->name, word->name);
        GR_MUST(open_if(a, a->after, saw, &end));
        GR_MUST(put_caught(w, a, a->after, &b, word));
        close_if(a, a->after, end);
    }
    return GR_OK;
}

// ---- Functions -----------------------------------------------------------------------------------------------

// The access, if it is one whose bytes can be told: false else.
static bool read_access(const PtxSite *site, PtxStmt *s, Access *a, gr_error *err) {
    const PtxInstr *i = s->instr;
    *a = (Access){.func = site->func, .stmt = s, .before = s, .after = s->next, .site = site, .err = err};
    a->report = a->after;
    unsigned operand = i->op == PTX_OP_ATOM || i->op == PTX_OP_LD || i->op == PTX_OP_LDU;
    bool known = operand || i->op == PTX_OP_ST || i->op == PTX_OP_RED;
    switch (site->space) {
    case PTX_GLOBAL:
    case PTX_GENERIC:
    case PTX_SHARED:
    case PTX_SHARED_CTA:
    case PTX_SHARED_CLUSTER: break;
    default: return false;
    }
    if (!known || site->async || i->n_operands <= operand || !site->size ||
        site->size > GR_MEET_ROW_WORDS * 4 || (site->size & (site->size - 1)))
        return false;
    a->address = i->operands[operand];
    return a->address.kind == PTX_O_ADDRESS && a->address.n_sub == 1;
}

// A load whose value its thread may throw away, which is told elsewhere than behind the load: no replay looks for its
// other side.
static bool is_hoisted(const PtxFunc *f, const DefUse *uses, PtxStmt *s) {
    Decisions d;
    Arena arena;
    Cfg g;
    if (gr_used_at_once(NULL, s))
        return false;
    gr_arena_init(&arena);
    bool is = gr_cfg_build(f, &arena, &g, NULL) != GR_OK || gr_may_be_discarded(uses, &g, s, &d);
    gr_arena_free(&arena);
    return is;
}

static gr_status rewrite_function(Meet *w, PtxFunc *f) {
    gr_status st = GR_OK;
    DefUse uses;
    w->func = f;
    w->used = false;
    w->table = gr_ptx_new_reg(f, PTX_B64);
    w->mask = gr_ptx_new_reg(f, PTX_B64);
    w->salt = gr_ptx_new_reg(f, PTX_B64);
    GR_TRY(gr_defuse_build(f, &uses, w->err));
    PtxStmt *next;
    for (PtxStmt *s = f->first; s; s = next) {
        next = s->next;
        if (!s->site || s->tag.inserted)
            continue;
        Access a;
        const PtxSite *site = &w->module->sites[s->site];
        bool writes = site->access != PTX_ACCESS_READ;
        if (!read_access(site, s, &a, w->err))
            continue;
        // First looks, then publishes: no thread may meet itself.
        if (writes)
            GR_TRY(put_look(w, &a));
        if (!w->o->targets[s->site] || site->strong)
            continue;
        Access told; // of a load: what stands before it
        Speculation spec;
        if (gr_access_read(site, &told) == GR_SITE_CHECKED)
            a.before = told.before;
        bool doubtful = !writes && gr_speculated(&uses, s, &spec);
        if (!writes && !doubtful && is_hoisted(f, &uses, s))
            continue;
        a.after = behind(s);
        a.report = doubtful ? spec.last->next : a.after;
        GR_TRY(put_target(w, &a, w->o->targets[s->site] - 1u, doubtful ? &spec : NULL));
    }
    if (w->used)
        GR_TRY(put_beginning(w));
done:
    gr_defuse_free(&uses);
    return st;
}

gr_status gr_meet_rewrite(PtxModule *m, const MeetOptions *o, gr_error *err) {
    Meet w = {.module = m, .o = o, .err = err};
    uint32_t n_funcs = m->n_funcs; // before the runtime is linked in
    // %clusterid and the window of all of a cluster's shared memory exist from sm_90 on (PTX ISA 10.13).
    w.clusters = m->sm >= 90;
    GR_MUST(gr_runtime_link(m, gr_meet_runtime_ptx, o->suffix, err));
    PtxFunc **funcs = GR_NEW_ARRAY(&m->arena, PtxFunc *, n_funcs ? n_funcs : 1);
    GR_NEED(funcs, err);
    memcpy(funcs, m->funcs, n_funcs * sizeof *funcs);
    for (uint32_t k = 0; k < n_funcs; k++)
        if (funcs[k]->has_body && !funcs[k]->tag.inserted)
            GR_MUST(rewrite_function(&w, funcs[k]));
    return GR_OK;
}
