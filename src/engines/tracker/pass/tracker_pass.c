// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/pass/tracker_pass.h"

#include "base/str.h"
#include "engines/tracker/device/record.h"
#include "engines/tracker/device/word.h"
#include "engines/tracker/pass/hoisted.h"
#include "engines/tracker/pass/order.h"
#include "engines/tracker/pass/paths.h"
#include "engines/tracker/pass/phases.h"
#include "engines/tracker/pass/quiet.h"
#include "engines/tracker/pass/updates.h"
#include "engines/tracker/pass/work.h"
#include "passes/emit.h"
#include "passes/registers.h"
#include "passes/runtime.h"
#include "ptx/cfg.h"
#include "ptx/fate.h"
#include "ptx/reach.h"

#include <stdio.h>
#include <string.h>

// What is known of a function before it is changed. The arrays by site (`still`, `updates`, hoisted->loaded) serve all
// functions of a module, as each has its own sites.
typedef struct Code {
    Arena arena;
    DefUse uses;
    Cfg cfg;
    Quiet quiet;
    Ends ends;
    Hoisted *hoisted;
    bool *still;     // loads that barriers order (phases.h)
    Updates updates; // none where every access is told by itself
} Code;

const char *gr_tracker_control_name(const char *suffix, char *buf, size_t size) {
    snprintf(buf, size, "__gr%s_control", suffix);
    return buf;
}

// ---- One access ----------------------------------------------------------------------------------------------

// The bytes of a load that the program uses, as a literal.
static void used_bytes(const Access *a, char *buf, size_t size) {
    uint64_t mask = 0;
    for (unsigned k = 0; k < a->n; k++)
        for (unsigned b = 0; b < a->bytes; b++)
            if (a->used[k] >> (b < 8 ? b * 8 : 56) & 1)
                mask |= UINT64_C(1) << (k * a->bytes + b);
    snprintf(buf, size, "0x%llx", (unsigned long long)mask);
}

// Sets *value to a new register with what a store of one element stores; NULL: it has more elements.
static gr_status stored_value(const Access *a, PtxStmt *at, PtxReg **value) {
    *value = NULL;
    if (a->n != 1 || a->bytes > 8)
        return GR_OK;
    const PtxOperand *v = a->value[0];
    unsigned bits = v->kind == PTX_O_REG ? gr_ptx_type_bits(v->reg->type) : a->bytes < 2 ? 16 : a->bytes * 8;
    if (bits != 16 && bits != 32 && bits != 64)
        return GR_OK;
    gr_status st = gr_access_widen(a, at, *v, bits, value);
    if (st == GR_OK && a->bytes * 8 < bits)
        st = gr_access_put(a, at, NULL, 0, "and.b64 %s, %s, 0x%llx;", (*value)->name, (*value)->name,
                           (1ull << a->bytes * 8) - 1);
    return st;
}

// Tells strong elements of one or two bytes one by one, as their size matters.
static gr_status put_elements(const TrackerWork *w, const Access *a, PtxStmt *at, uint32_t what,
                              unsigned size, const PtxReg *address) {
    what = (what & ~((uint32_t)GR_WHAT_VALUE | 0xff)) | a->bytes;
    for (unsigned from = 0; from < size; from += a->bytes) {
        PtxReg *own = gr_ptx_new_reg(a->func, PTX_B64);
        GR_PUT(a, at, "add.s64 %s, %s, %u;", own->name, address->name, from);
        GR_MUST(gr_tracker_put_call(w, a, at, what, own, "-1"));
    }
    return GR_OK;
}

static gr_status put_saw(const TrackerWork *w, const Access *a, uint32_t what, const PtxReg *address) {
    char guard[64], own[64];
    uint32_t space = what >> GR_WHAT_SPACE & 3;
    const PtxReg *where = space <= GR_SPACE_SHARED ? w->where[space] : NULL;
    gr_access_guard(a, guard, sizeof guard);
    gr_tracker_own(w, own, sizeof own);
    if (!where)
        return gr_access_put(a, a->after, NULL, 0, "%scall __gr%s_saw, (%u, %s%s);", guard, w->o->suffix,
                             what, address->name, own);
    const PtxReg *left = gr_ptx_new_reg(a->func, PTX_B32), *any = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_PUT(a, a->after, "%scall (%s), __gr%s_saw_at, (%u, %s%s, %s);", guard, left->name, w->o->suffix, what,
           address->name, own, where->name);
    GR_PUT(a, a->after, "setp.ne%s.u32 %s, %s, 0%s%s;", a->guard ? ".and" : "", any->name, left->name,
           a->guard ? ", " : "", a->guard ? a->guard->name : "");
    return gr_access_put(a, a->after, NULL, 0, "@%s call __gr%s_saw, (%u, %s%s);", any->name, w->o->suffix,
                         what, address->name, own);
}

// Copies the guard to a new register: the instruction may change it, and its name may be shadowed.
static gr_status keep_guard(Access *a, PtxStmt *at) {
    if (!a->guard || a->guard != a->stmt->instr->guard)
        return GR_OK;
    PtxReg *own = gr_ptx_new_reg(a->func, PTX_PRED);
    PtxOperand g = gr_ptx_reg_operand(a->guard);
    a->guard = own;
    return gr_access_put(a, at, &g, 1, "mov.pred %s, $0;", own->name);
}

// Inserts the call behind a strong read that is not checked: what it sees orders others all the same.
static gr_status put_left_alone(const TrackerWork *w, Access *a) {
    const PtxSite *site = a->site;
    unsigned size = a->n ? a->n * a->bytes : site->size;
    uint32_t what = gr_tracker_what(site, site->access, site->space, size) | GR_WHAT_LEFT;
    PtxReg *address;
    a->report = a->after;
    GR_MUST(gr_access_prepare(a));
    GR_MUST(keep_guard(a, a->before));
    GR_MUST(gr_access_address64(a, a->before, &address));
    return put_saw(w, a, what, address);
}

// Inserts the call for ld, st, atom or red, weak or strong: before the access, or behind the choice that makes a
// speculated load one.
static gr_status put_access(const TrackerWork *w, Access *a, const Code *code) {
    const PtxSite *site = a->site;
    Speculation spec;
    unsigned size = a->n ? a->n * a->bytes : site->size;
    Decisions decisions;
    bool weak_load = site->access == PTX_ACCESS_READ && !site->strong;
    bool speculated = weak_load && gr_speculated(&code->uses, a->stmt, &spec);
    bool hoisted = weak_load && !speculated && gr_decisions(&code->uses, &code->cfg, a->stmt, &decisions) &&
                   !gr_crosses_order(&code->cfg, &decisions, a->stmt);
    if (w->classifies)
        return GR_OK;
    PtxStmt *at = speculated ? spec.last->next : a->before;
    char value[40] = "0";
    uint32_t what = gr_tracker_what(site, site->access, site->space, size) |
                    (a->bytes >= 8 && site->strong ? GR_WHAT_WIDE : 0);
    if (speculated)
        a->report = at;
    else
        a->report = a->after;
    GR_MUST(gr_access_prepare(a));
    if (site->access == PTX_ACCESS_READ) {
        used_bytes(a, value, sizeof value);
        if (!strcmp(value, "0x0"))
            return GR_OK;
    } else if (site->access == PTX_ACCESS_WRITE) {
        PtxReg *stored;
        GR_MUST(stored_value(a, at, &stored));
        if (stored) {
            snprintf(value, sizeof value, "%s", stored->name);
            what |= GR_WHAT_VALUE;
        }
        if (code->updates.load_of && code->updates.load_of[site->id])
            what |= (site->id - code->updates.load_of[site->id]) << GR_WHAT_BACK;
    }
    PtxReg *address;
    if (hoisted) {
        GR_MUST(gr_access_address64(a, at, &address));
        return gr_hoisted_put(w, a, &decisions, what, address, value, code->hoisted);
    }
    if (speculated) {
        PtxReg *kept = gr_ptx_new_reg(a->func, PTX_PRED);
        PtxOperand g = a->guard ? gr_ptx_reg_operand(a->guard) : (PtxOperand){0};
        if (a->guard)
            GR_PUT_OPS(a, a->before, &g, 1, "mov.pred %s, $0;", kept->name);
        else
            GR_PUT(a, a->before, "setp.eq.u32 %s, 0, 0;", kept->name);
        GR_MUST(gr_access_kept(a, at, &spec, kept));
        a->guard = kept;
    } else {
        GR_MUST(keep_guard(a, at));
    }
    GR_MUST(gr_access_address64(a, at, &address));
    GR_MUST(gr_quiet_store(&code->quiet, a, at, address, w->o->suffix));
    GR_MUST(gr_quiet_load(&code->quiet, a, at, address));
    if (what & GR_WHAT_ACQUIRES && site->access == PTX_ACCESS_READ)
        at = a->after; // what it has seen may order it
    if (site->strong && a->bytes < 4 && a->bytes < size)
        GR_MUST(put_elements(w, a, at, what, size, address));
    else
        GR_MUST(gr_tracker_put_call(w, a, at, what, address, value));
    if (site->strong && site->access & PTX_ACCESS_READ)
        GR_MUST(put_saw(w, a, what, address));
    return GR_OK;
}

// ---- A site ----------------------------------------------------------------------------------------------------

static bool is_plain(const PtxInstr *i, const PtxSite *site) {
    return (i->op == PTX_OP_LD || i->op == PTX_OP_LDU || i->op == PTX_OP_ST || i->op == PTX_OP_ATOM ||
            i->op == PTX_OP_RED) &&
           !site->async;
}

static gr_status check_site(const TrackerWork *w, PtxStmt *s, const Code *code) {
    const PtxSite *site = &w->module->sites[s->site];
    GrSiteStatus *status = &w->status[s->site];
    Access a;
    GrSiteStatus readable = gr_access_read_any(site, &a);
    a.err = w->err;
    if (gr_site_is_left_alone(*status)) {
        bool sees = readable == GR_SITE_CHECKED && is_plain(s->instr, site) && site->strong &&
                    site->access & PTX_ACCESS_READ;
        return sees && !w->classifies ? put_left_alone(w, &a) : GR_OK;
    }
    bool still = code->still[s->site] && (readable == GR_SITE_CHECKED || s->instr->op == PTX_OP_LDMATRIX);
    *status = still ? GR_SITE_CHECKED : readable;
    if (*status == GR_SITE_PRIVATE || still || code->updates.told[s->site])
        return GR_OK;
    if (!is_plain(s->instr, site))
        return gr_tracker_put_other(w, &a, status);
    return *status == GR_SITE_CHECKED ? put_access(w, &a, code) : GR_OK;
}

// ---- A function ------------------------------------------------------------------------------------------------

// A thread that has only passed barriers counts this one in its own register. Yields the guard of the call for the
// others.
static const PtxReg *put_barrier(const TrackerWork *w, PtxFunc *f, const PtxReg *guard, StrBuf *out) {
    PtxReg *plain = gr_ptx_new_reg(f, PTX_PRED), *rest = gr_ptx_new_reg(f, PTX_PRED);
    gr_str_addf(out, "setp.lt%s.u64 %s|%s, %s, 0x%llx%s%s; ", guard ? ".and" : "", plain->name, rest->name,
                w->own->name, (unsigned long long)GR_OWN_BARRIERS, guard ? ", " : "",
                guard ? guard->name : "");
    gr_str_addf(out, "@%s add.u64 %s, %s, 0x%llx; ", plain->name, w->own->name, w->own->name,
                (unsigned long long)GR_OWN_BARRIER);
    return rest;
}

static gr_status put_order_at(const TrackerWork *w, PtxFunc *f, const PtxStmt *s, PtxStmt *at, uint32_t what,
                              const PtxReg *guard) {
    char text[160];
    const PtxInstr *i = s->instr;
    bool groups = (what & 0xf) == GR_ORDER_WAIT && i->n_operands && i->operands[0].kind == PTX_O_INT;
    bool warp = groups || ((what & 0xf) == GR_ORDER_WARP && i->n_operands);
    PtxReg *lanes = warp ? gr_ptx_new_reg(f, PTX_B32) : NULL;
    if (warp) {
        snprintf(text, sizeof text, "mov.b32 %s, $0;", lanes->name);
        gr_status st = gr_ptx_insert(f, at, s->site, text, &i->operands[0], 1, NULL, w->err);
        if (st != GR_OK)
            return st;
    }
    char to[64] = "", own[64];
    if (w->own)
        snprintf(to, sizeof to, "(%s), ", w->own->name);
    gr_tracker_own(w, own, sizeof own);
    StrBuf all = {0};
    if (w->own && !w->kept && (what & 0xf) == GR_ORDER_BARRIER)
        guard = put_barrier(w, f, guard, &all);
    gr_str_addf(&all, "%s%s%scall %s__gr%s_order, (%u, %s%s);", guard ? "@" : "", guard ? guard->name : "",
                guard ? " " : "", to, w->o->suffix, what, warp ? lanes->name : "-1", own);
    return gr_emit_str(f, at, s->site, &all, NULL, 0, w->err);
}

// A call behind the instruction says what it acquires. Within a block the order of the thread's own syncs is enough, so
// a fence has one call there. Beyond a block an acquire takes a number of the device, and on a GPU only the fence
// completes the loads before it: without the fence the release that one of them saw may take the higher number.
static bool acquires_behind(const TrackerWork *w, const PtxInstr *i, uint32_t what) {
    if (!(what & GR_ORDER_ACQUIRES))
        return false;
    if (i->op == PTX_OP_FENCE || i->op == PTX_OP_MEMBAR)
        return !w->o->release_first && (what >> GR_ORDER_SCOPE & 7) > GR_STRONG_CTA;
    return (what & 0xf) == GR_ORDER_FENCE || !(what & GR_ORDER_RELEASES);
}

// Inserts the call under the instruction's guard: before it, except for what it acquires, behind it.
static gr_status put_order(const TrackerWork *w, PtxFunc *f, PtxStmt *s, uint32_t what) {
    const PtxInstr *i = s->instr;
    bool later = acquires_behind(w, i, what);
    PtxReg *guard = NULL;
    if (i->guard) { // which the instruction may change
        PtxOperand g = gr_ptx_reg_operand(i->guard);
        guard = gr_ptx_new_reg(f, PTX_PRED);
        GR_MUST(gr_emit(f, s, s->site, &g, 1, w->err, "%s.pred %s, $0;", i->guard_negated ? "not" : "mov",
                        guard->name));
    }
    if (!later)
        return put_order_at(w, f, s, s, what, guard);
    PtxStmt *behind = s->next;
    if (what & GR_ORDER_RELEASES)
        GR_MUST(put_order_at(w, f, s, s, what & ~(uint32_t)GR_ORDER_ACQUIRES, guard));
    return put_order_at(w, f, s, behind, what & ~(uint32_t)GR_ORDER_RELEASES, guard);
}

// Sets `own`, the function's register, by a call of the function `from`.
static gr_status put_own(const TrackerWork *w, PtxFunc *f, PtxStmt *at, const char *from) {
    const char *kept = w->own && !strcmp(from, "begin") ? w->kept ? ", (1)" : ", (0)" : "";
    return gr_emit(f, at, 0, NULL, 0, w->err, "call %s%s%s__gr%s_%s%s;", w->own ? "(" : "",
                   w->own ? w->own->name : "", w->own ? "), " : "", w->o->suffix, from, kept);
}

// Sets `where`, the function's registers for the spaces that its accesses name.
static gr_status put_where(TrackerWork *w, PtxFunc *f, PtxStmt *at) {
    gr_status st = GR_OK;
    bool needed[2] = {false, false};
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->site && s->kind == PTX_INSTR &&
            gr_tracker_space(w->module->sites[s->site].space) <= GR_SPACE_SHARED)
            needed[gr_tracker_space(w->module->sites[s->site].space)] = true;
    for (unsigned k = 0; k < 2 && st == GR_OK; k++) {
        char text[128];
        if (!needed[k])
            continue;
        w->where[k] = gr_ptx_new_reg(f, PTX_B64);
        snprintf(text, sizeof text, "call (%s), __gr%s_where, (%u);", w->where[k]->name, w->o->suffix, k);
        st = gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err);
    }
    return st;
}

static gr_status put_begin(TrackerWork *w, PtxFunc *f, Quiet *quiet) {
    PtxStmt *at = gr_function_start(f);
    gr_status st = w->own ? put_where(w, f, at) : GR_OK;
    if (st == GR_OK && (f->is_entry || w->own))
        st = put_own(w, f, at, f->is_entry ? "begin" : "own");
    return st != GR_OK || !f->is_entry || !quiet->on ? st
                                                     : gr_quiet_begin(quiet, f, at, w->o->suffix, w->err);
}

static uint32_t order_of(const TrackerWork *w, const PtxFunc *f, const PtxStmt *s, const Code *code) {
    uint32_t order = gr_tracker_order(s->instr);
    if (w->o->release_first) // the paper knows no asynchronous operations
        return order & (GR_ORDER_RELEASES | GR_ORDER_ACQUIRES) ? order & ~(uint32_t)GR_ORDER_TOLD : 0;
    if (gr_paths_early_end(&code->ends, &code->cfg, s))
        return GR_ORDER_END;
    if ((order & 0xf) == GR_ORDER_BARRIER && code->ends.any)
        return order | GR_ORDER_LEFT;
    return order ? gr_paths_trim(f, &code->cfg, s, order) : 0;
}

// A called function may have synchronized. The program takes its results first.
static gr_status put_called(const TrackerWork *w, PtxFunc *f, PtxStmt *call) {
    PtxStmt *at = call->next;
    while (at &&
           (at->kind == PTX_LOC || (at->kind == PTX_INSTR && at->instr->op == PTX_OP_LD &&
                                    (at->instr->space == PTX_PARAM || at->instr->space == PTX_PARAM_FUNC))))
        at = at->next;
    if (at && at->kind == PTX_SCOPE_CLOSE)
        at = at->next;
    return put_own(w, f, at, "own");
}

// The call is of a function of the system, which is not checked and synchronizes nothing.
static bool is_of_system(const PtxInstr *call) {
    static const char *const names[] = {"vprintf", "__assertfail", "malloc", "free"};
    const PtxFunc *to = call->callee;
    for (size_t k = 0; to && !to->has_body && k < sizeof names / sizeof *names; k++)
        if (!strcmp(to->name, names[k]))
            return true;
    return false;
}

// A function that a kernel calls asks for the state of the thread.
static bool calls_others(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && !s->tag.inserted && s->instr->op == PTX_OP_CALL &&
            !is_of_system(s->instr))
            return true;
    return false;
}

static gr_status rewrite_function(const TrackerWork *module, const Code *by_site, PtxFunc *f) {
    gr_status st = GR_OK;
    TrackerWork own = *module;
    const TrackerWork *w = &own;
    if (!own.o->all && !own.classifies)
        own.own = gr_ptx_new_reg(f, PTX_B64);
    Hoisted hoisted = {.loaded = by_site->hoisted->loaded};
    Code code = {.hoisted = &hoisted, .still = by_site->still, .updates = by_site->updates};
    GR_TRY(gr_defuse_build(f, &code.uses, w->err));
    GR_TRY(gr_cfg_build(f, &code.arena, &code.cfg, w->err));
    if (!w->o->all && !gr_phases_find(f, &code.cfg, &code.arena, code.still))
        GR_TRY(gr_no_memory(w->err));
    if (!w->o->all && !w->classifies)
        GR_TRY(gr_quiet_find(f, w->status, w->stamps, &code.arena, &code.quiet, w->err));
    if (!w->o->all && !w->classifies)
        gr_updates_find(f, &code.uses, &code.cfg, w->status, code.still, &code.updates);
    GR_TRY(gr_paths_ends(f, &code.cfg, &code.arena, &code.ends) ? GR_OK : gr_no_memory(w->err));
    own.kept = !f->is_entry || code.ends.any || calls_others(f);
    if (!w->classifies)
        GR_TRY(put_begin(&own, f, &code.quiet));
    PtxStmt *next;
    for (PtxStmt *s = f->first; s; s = next) {
        next = s->next;
        if (s->kind != PTX_INSTR || s->tag.inserted)
            continue;
        if (w->classifies) {
            if (s->site)
                GR_TRY(check_site(w, s, &code));
            continue;
        }
        uint32_t order = order_of(w, f, s, &code), first = order & GR_ORDER_RELEASES;
        if (w->o->release_first && s->site && first) {
            GR_TRY(put_order(w, f, s, order & ~(uint32_t)GR_ORDER_ACQUIRES));
            order = order & GR_ORDER_ACQUIRES ? order & ~first : 0;
        }
        if (s->site)
            GR_TRY(check_site(w, s, &code));
        if (order) // behind the access, which an access that releases passes on itself
            GR_TRY(put_order(w, f, s, order));
        if (w->own && s->instr->op == PTX_OP_CALL && !is_of_system(s->instr))
            GR_TRY(put_called(w, f, s));
    }
    GR_TRY(gr_hoisted_begin(w, f, &hoisted));
done:
    gr_defuse_free(&code.uses);
    gr_arena_free(&code.arena);
    return st;
}

// ---- A module --------------------------------------------------------------------------------------------------

// An unwanted kernel that may call a wanted function: what its threads do to synchronize counts there.
typedef struct Callers {
    const bool *wanted;
    bool *marked, shares;
} Callers;

static void look_for_wanted(void *user, const PtxFunc *g) {
    Callers *c = user;
    c->shares |= c->wanted[g->index];
}

static void mark_reached(void *user, const PtxFunc *g) { ((Callers *)user)->marked[g->index] = true; }

static gr_status mark_callers(const TrackerWork *w, bool *marked) {
    PtxModule *m = w->module;
    uint32_t *stamps = GR_NEW_ARRAY(&m->arena, uint32_t, (size_t)m->n_funcs + 1), stamp = 0;
    Callers c = {.wanted = w->marked, .marked = marked};
    GR_NEED(stamps, w->err);
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        if (!m->funcs[k]->is_entry || w->marked[k] || !gr_ptx_calls(m->funcs[k]))
            continue;
        c.shares = false;
        gr_ptx_each_reachable(m->funcs[k], stamps, ++stamp, look_for_wanted, &c);
        if (c.shares)
            gr_ptx_each_reachable(m->funcs[k], stamps, ++stamp, mark_reached, &c);
    }
    return GR_OK;
}

static gr_status rewrite_functions(const TrackerWork *w, uint32_t n_funcs, const bool *marked) {
    gr_status st = GR_OK;
    Arena arena;
    gr_arena_init(&arena);
    size_t n = (size_t)w->module->n_sites + 1;
    Hoisted hoisted = {.loaded = GR_NEW_ARRAY(&arena, PtxReg *, n)};
    Code by_site = {.hoisted = &hoisted,
                    .still = GR_NEW_ARRAY(&arena, bool, n),
                    .updates = {GR_NEW_ARRAY(&arena, uint32_t, n), GR_NEW_ARRAY(&arena, bool, n)}};
    if (!hoisted.loaded || !by_site.still || !by_site.updates.load_of || !by_site.updates.told)
        st = gr_no_memory(w->err);
    for (uint32_t k = 0; k < n_funcs && st == GR_OK; k++) {
        PtxFunc *f = w->module->funcs[k];
        if (marked[f->index] && f->has_body && !f->tag.inserted)
            st = rewrite_function(w, &by_site, f);
    }
    gr_arena_free(&arena);
    return st;
}

gr_status gr_tracker_rewrite(PtxModule *m, const TrackerOptions *o, GrSiteStatus *status, gr_error *err) {
    uint32_t n_funcs = m->n_funcs; // the program's
    TrackerWork w = {.module = m,
                     .o = o,
                     .marked = GR_NEW_ARRAY(&m->arena, bool, (size_t)n_funcs + 1),
                     .status = status,
                     .err = err};
    bool *followed = GR_NEW_ARRAY(&m->arena, bool, (size_t)n_funcs + 1); // beside the marked ones
    GR_NEED(w.marked && followed, err);
    if (o->mark)
        o->mark(o->user, m, w.marked);
    else
        memset(w.marked, true, n_funcs * sizeof *w.marked);
    memcpy(followed, w.marked, n_funcs * sizeof *followed);
    GR_MUST(mark_callers(&w, followed));
    for (uint32_t k = 1; k <= m->n_sites; k++)
        status[k] = w.marked[m->sites[k].func->index] && (!o->wanted || o->wanted(o->user, m, &m->sites[k]))
                        ? GR_SITE_UNSEEN
                        : GR_SITE_FILTERED;
    if (o->choose) { // of those that would be checked
        w.classifies = true;
        GR_MUST(rewrite_functions(&w, n_funcs, w.marked));
        w.classifies = false;
        GR_MUST(o->choose(o->user, m, status, err));
    }
    GR_MUST(gr_runtime_raise(m, err));
    GR_MUST(gr_registers_limit(m, err));
    GR_MUST(gr_runtime_link(m, m->sm >= 90 ? o->cluster_runtime : o->runtime, o->suffix, err));
    GR_NEED((w.stamps = GR_NEW_ARRAY(&m->arena, uint32_t, (size_t)m->n_funcs + 1)), err);
    GR_MUST(rewrite_functions(&w, n_funcs, followed));
    GR_NEED(!m->nomem, err);
    return GR_OK;
}
