// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/privatizer_pass.h"

#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/brief.h"
#include "engines/privatizer/pass/code.h"
#include "engines/privatizer/pass/order.h"
#include "passes/emit.h"
#include "passes/inline.h"
#include "passes/registers.h"
#include "passes/runtime.h"

#include <stddef.h>
#include <string.h>

// ---- Where the code begins ------------------------------------------------------------------------------------------

static gr_status put_prologue(Code *c, PtxLabel *label) {
    PtxFunc *f = c->f;
    char control[64];
    PtxReg *none = gr_ptx_new_reg(f, PTX_PRED), *at = gr_ptx_new_reg(f, PTX_B64),
           *asked = gr_ptx_new_reg(f, PTX_B32);
    bool near = c->warps && c->near_entry;
    PtxReg **wide[] = {&c->unmade, &c->stores, &c->slot};
    PtxReg **words[] = {&c->copy, &c->pass, &c->sequence, &c->left, &c->near_end, &c->near_unmade};
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        *wide[k] = gr_ptx_new_reg(f, PTX_B64);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        *words[k] = gr_ptx_new_reg(f, PTX_B32);
    PtxReg **of_results[] = {&c->notes, &c->note, &c->note_end};
    for (size_t k = 0; k < sizeof of_results / sizeof *of_results && c->results; k++)
        *of_results[k] = gr_ptx_new_reg(f, PTX_B64);
    c->stage = c->stages ? gr_ptx_new_reg(f, PTX_B64) : NULL;
    c->clock = c->pretends ? gr_ptx_new_reg(f, PTX_B64) : NULL;
    c->full = c->results ? gr_ptx_new_label(f) : NULL;
    c->asks = gr_ptx_new_reg(f, PTX_PRED);
    c->copied = near ? gr_ptx_new_reg(f, PTX_PRED) : NULL;
    c->near_unmade = near ? c->near_unmade : NULL;
    c->plain = c->warps ? gr_ptx_new_reg(f, PTX_PRED) : NULL;
    PtxReg *lanes = c->lanes || c->mbarriers ? gr_ptx_new_reg(f, PTX_B32) : NULL;
    c->lanewise = lanes ? gr_ptx_new_reg(f, PTX_PRED) : NULL;
    PtxReg *exchanges = gr_exchanges(c) ? gr_ptx_new_reg(f, PTX_B32) : NULL;
    c->exchanges = exchanges ? gr_ptx_new_reg(f, PTX_PRED) : NULL;
    c->meetings = exchanges ? gr_ptx_new_reg(f, PTX_B32) : NULL;
    c->over = gr_ptx_new_label(f);
    c->leaves = gr_ptx_new_label(f);
    gr_privatizer_control_name(c->suffix, control, sizeof control);
    gr_ptx_insert_label(f, NULL, label);
    GR_CODE(c, NULL, "mov.u64 %s, %s;", at->name, control);
    if (c->warps)
        GR_CODE(c, NULL,
                "call __gr%s_enter; barrier.sync 0; call (%s), __gr%s_slot; setp.eq.u64 %s, %s, 0; @%s ret;",
                c->suffix, c->slot->name, c->suffix, none->name, c->slot->name, none->name);
    if (near)
        GR_CODE(c, NULL, "call __gr%s_begin; barrier.sync 0;", c->suffix);
    GR_MUST(gr_code_field(c, NULL, "u32", c->left, offsetof(GrPrivControl, most_rounds)));
    GR_MUST(gr_code_field(c, NULL, "u32", c->pass, offsetof(GrPrivControl, pass)));
    if (c->known)
        GR_CODE(c, NULL, "mov.u32 %s, 0;", asked->name);
    else if (c->warps)
        GR_CODE(c, NULL, "ld.global.u32 %s, [%s+%zu];", asked->name, c->slot->name,
                offsetof(GrPrivSlot, asks));
    else
        GR_MUST(gr_code_field(c, NULL, "u32", asked, offsetof(GrPrivControl, ask.kind)));
    GR_CODE(c, NULL,
            "setp.ne.u32 %s, %s, 0; call (%s), __gr%s_copy; sub.u32 %s, %s, 1; mul.wide.u32 %s, %s, "
            "%u; mov.u32 %s, 0; mov.u64 %s, 0;",
            c->asks->name, asked->name, c->copy->name, c->suffix, asked->name, c->pass->name, c->unmade->name,
            asked->name, (unsigned)GR_LINE, c->sequence->name, c->stores->name);
    if (near) { // in pass 1 the base is found
        GR_MUST(gr_code_field(c, NULL, "u32", c->near_unmade, offsetof(GrPrivControl, near.size)));
        GR_MUST(gr_code_field(c, NULL, "u32", c->near_end, offsetof(GrPrivControl, near.first)));
        GR_CODE(c, NULL, "setp.eq.u32 %s, %s, 0; add.u32 %s, %s, %s; @%s mov.u32 %s, 0;", none->name,
                c->near_unmade->name, c->near_end->name, c->near_end->name, c->near_unmade->name, none->name,
                c->near_end->name);
        if (c->dense) {
            GR_MUST(gr_code_field(c, NULL, "u32", c->near_unmade, offsetof(GrPrivControl, near.stride)));
            c->stored = gr_ptx_new_reg(f, PTX_PRED);
            c->stored_at = gr_ptx_new_reg(f, PTX_B32);
            GR_MUST(gr_code_field(c, NULL, "u32", c->stored_at, offsetof(GrPrivControl, near.says)));
            GR_CODE(c, NULL, "mul.lo.u32 %s, %s, %s; add.u32 %s, %s, %s; setp.ne.u32 %s, 0, 0;",
                    c->near_unmade->name, c->near_unmade->name, c->copy->name, c->stored_at->name,
                    c->stored_at->name, c->copy->name, c->stored->name);
        }
    }
    if (c->clock)
        GR_CODE(c, NULL, "mov.u64 %s, 0;", c->clock->name);
    if (exchanges)
        GR_CODE(c, NULL, "ld.global.u32 %s, [%s+%zu]; setp.ne.u32 %s, %s, 0; mov.u32 %s, 0;", exchanges->name,
                at->name, offsetof(GrPrivControl, exchanges), c->exchanges->name, exchanges->name,
                c->meetings->name);
    if (lanes)
        GR_CODE(c, NULL, "ld.global.u32 %s, [%s+%zu]; setp.ne.u32 %s, %s, 0;", lanes->name, at->name,
                offsetof(GrPrivControl, lanes), c->lanewise->name, lanes->name);
    if (c->results)
        GR_CODE(c, NULL,
                "call (%s), __gr%s_notes; ld.global.u64 %s, [%s+%zu]; add.u64 %s, %s, %s; mov.b64 %s, %s;",
                c->notes->name, c->suffix, c->note_end->name, at->name, offsetof(GrPrivControl, note_bytes),
                c->note_end->name, c->note_end->name, c->notes->name, c->note->name, c->notes->name);
    if (c->dense)
        GR_MUST(gr_code_window(c));
    if (c->stages)
        GR_CODE(c, NULL, "call (%s), __gr%s_stage;", c->stage->name, c->suffix);
    return GR_OK;
}

// ---- Loops ----------------------------------------------------------------------------------------------------------

// Where labels stand in the copy; 0: not yet seen.
static bool goes_back(const PtxInstr *i, const bool *seen) {
    bool back = i->op == PTX_OP_BRX; // by a list of labels: as if one were behind
    for (unsigned k = 0; k < i->n_operands; k++)
        if (i->operands[k].kind == PTX_O_LABEL)
            back |= seen[i->operands[k].label->index];
    return back;
}

// A loop may wait for what another unit writes, which it never sees in its private copy.
static gr_status limit_loops(const Code *c) {
    bool *seen = GR_NEW_ARRAY(c->arena, bool, (size_t)c->f->n_labels + 1);
    PtxReg *none = gr_ptx_new_reg(c->f, PTX_PRED);
    GR_NEED(seen, c->err);
    for (size_t k = 0; k < c->body.n; k++) {
        PtxStmt *s = c->body.stmt[k];
        PtxOperand over = {.kind = PTX_O_LABEL, .label = c->over};
        if (s->kind == PTX_LABEL_DEF)
            seen[s->label->index] = true;
        else if (s->kind == PTX_INSTR && gr_ptx_instr_flags(s->instr) & PTX_F_BRANCH &&
                 goes_back(s->instr, seen)) {
            c->over->uses++;
            GR_CODE_OPS(c, s, &over, 1, "sub.u32 %s, %s, 1; setp.eq.u32 %s, %s, 0; @%s bra $0;",
                        c->left->name, c->left->name, none->name, c->left->name, none->name);
        }
    }
    return GR_OK;
}

// ---- One more copy --------------------------------------------------------------------------------------------------

// Where a thread ends, it tells what it stored. A trap would take the program's context with it, so the thread ends
// there.
static gr_status put_ends_of_blocks(const Code *c) {
    GR_MUST(gr_code_lost(c));
    if (c->dense)
        GR_MUST(gr_code_window_ends(c, NULL));
    GR_CODE(c, NULL, "ret;");
    for (size_t k = 0; k < c->body.n; k++) {
        PtxStmt *s = c->body.stmt[k];
        if (s->kind != PTX_INSTR || !(gr_ptx_instr_flags(s->instr) & PTX_F_EXIT))
            continue;
        PtxOperand guard = s->instr->guard ? gr_ptx_reg_operand(s->instr->guard) : (PtxOperand){0};
        if (c->dense)
            GR_MUST(gr_code_window_ends(c, s));
        GR_CODE_OPS(c, s, &guard, 1, "%scall __gr%s_done, (%s, %s);",
                    !s->instr->guard          ? ""
                    : s->instr->guard_negated ? "@!$0 "
                                              : "@$0 ",
                    c->suffix, c->stores->name, c->copy->name);
        if (s->instr->op == PTX_OP_TRAP) {
            s->instr->op = PTX_OP_EXIT;
            s->instr->opcode = "exit";
        }
    }
    return GR_OK;
}

static bool opens_nothing(const PtxInstr *i) {
    (void)i;
    return false;
}

// The statements that some branch goes back over.
static gr_status find_loops(const Code *c, bool **out) {
    bool *in = *out = GR_NEW_ARRAY(c->arena, bool, c->body.n + 1);
    size_t *at = GR_NEW_ARRAY(c->arena, size_t, (size_t)c->f->n_labels + 1);
    GR_NEED(in && at, c->err);
    for (size_t k = 0; k < c->body.n; k++) {
        const PtxStmt *s = c->body.stmt[k];
        size_t from = k + 1;
        if (s->kind == PTX_LABEL_DEF)
            at[s->label->index] = k + 1;
        for (unsigned i = 0; s->kind == PTX_INSTR && i < s->instr->n_operands; i++)
            if (s->instr->operands[i].kind == PTX_O_LABEL && at[s->instr->operands[i].label->index])
                from = at[s->instr->operands[i].label->index] - 1;
        if (s->kind == PTX_INSTR && s->instr->op == PTX_OP_BRX) // by a list of labels
            from = 0;
        for (; from < k; from++)
            in[from] = true;
    }
    return GR_OK;
}

static bool is_any_barrier(const PtxInstr *i) {
    return gr_is_full_barrier(i) || gr_is_warp_barrier(i) || gr_meeting_of(i);
}

static gr_status put_site(const Code *c, PtxStmt *s, const PtxSite *site) {
    if (!gr_expands(s->instr)) {
        bool own = site->space == PTX_LOCAL || site->space == PTX_CONST ||
                   (!c->warps && gr_is_shared_space(site->space) && !site->copy);
        gr_status st = own ? gr_code_inside(c, s, site) : GR_OK;
        return st == GR_OK ? gr_code_redirect(c, s, site) : st;
    }
    bool shared = gr_is_shared_space(site->space) && !site->copy;
    return shared && !c->warps ? gr_code_inside(c, s, site) : gr_code_expand(c, s, site);
}

static gr_status make(Code *c, const PtxStmt *first, const PtxStmt *last, PtxLabel *label) {
    GR_MUST(put_prologue(c, label));
    GR_MUST(gr_body_copy(c->f, first, last,
                         c->lanes || c->mbarriers ? is_any_barrier
                         : gr_has_regions(c)      ? gr_is_full_barrier
                                                  : opens_nothing,
                         c->arena, &c->body, c->err));
    for (size_t k = 0; k < c->body.n; k++)
        c->clusters |= c->body.stmt[k]->kind == PTX_INSTR && c->body.stmt[k]->instr->op == PTX_OP_MAPA;
    bool *in_loop;
    GR_MUST(find_loops(c, &in_loop));
    GR_MUST(limit_loops(c));
    c->bases = c->known ? GR_NEW_ARRAY(c->arena, GrBase *, (size_t)c->f->module->n_sites + 1) : NULL;
    if (c->known && !c->bases)
        return gr_no_memory(c->err);
    GR_MUST(gr_code_find_copies(c));
    if (gr_has_regions(c))
        GR_MUST(gr_code_regions(c));
    else
        GR_MUST(put_ends_of_blocks(c));
    if (!c->warps && c->orders)
        GR_MUST(gr_code_stops(c));
    for (size_t k = 0; k < c->body.n; k++) {
        PtxStmt *s = c->body.stmt[k];
        unsigned half;
        c->now = k;
        c->in_loop = in_loop[k];
        if (gr_grid_is_access(c->grid, c->body.from[k]))
            GR_MUST(gr_code_meeting(c, s, gr_grid_part(c->grid, c->body.from[k])));
        else if (s->kind == PTX_INSTR && c->mbarriers && gr_meeting_of(s->instr) == GR_MEETS_BEGINS)
            GR_MUST(gr_code_begins(c, s));
        else if (s->kind == PTX_INSTR && s->instr->op == PTX_OP_CALL)
            GR_MUST(gr_code_call(c, s));
        else if (s->kind == PTX_INSTR && gr_is_clock(s->instr, &half))
            GR_MUST(gr_code_clock(c, s, half));
        else if (s->kind == PTX_INSTR && c->body.from[k]->site)
            GR_MUST(put_site(c, s, &c->f->module->sites[c->body.from[k]->site]));
    }
    return GR_OK;
}

// ---- A kernel -------------------------------------------------------------------------------------------------------

typedef struct Work {
    PtxModule *m;
    const PrivatizerOptions *o;
    GrSiteStatus *status;
    GrCalls calls;
    const bool *brief; // by function
    gr_error *err;
} Work;

// Whether it matters in which order several of these come.
static bool is_ordered(const PtxInstr *i) {
    return gr_ptx_type_is_float(i->type[0]) || gr_ptx_instr_has(i, PTX_MOD_exch) ||
           gr_ptx_instr_has(i, PTX_MOD_cas);
}

// Its lanes have a matrix together, whichever of them an element is loaded or stored by.
static bool is_of_lanes(const PtxStmt *s) {
    return s->kind == PTX_INSTR &&
           (gr_stages(s->instr) || s->instr->op == PTX_OP_LDMATRIX || s->instr->op == PTX_OP_STMATRIX);
}

// Granules of `own`: none where atomic operations or strong stores are looked at word by word, in copies of their own.
static void find_granule(const Work *w, PrivatizedKernel *k) {
    k->granule = 2;
    for (const PtxStmt *s = k->f->first; s; s = s->next) {
        const PtxSite *site = s->site ? &w->m->sites[s->site] : NULL;
        if (!site || site->space == PTX_LOCAL || site->space == PTX_CONST)
            continue;
        while (k->granule < GR_LINE_SHIFT && site->size > 1u << k->granule)
            k->granule++;
        if (k->updates || !site->size || site->size & (site->size - 1) || site->size > GR_LINE) {
            k->granule = 0;
            return;
        }
    }
}

static bool asks_for_size(const PtxStmt *s) {
    for (unsigned k = 0; s->kind == PTX_INSTR && k < s->instr->n_operands; k++)
        if (s->instr->operands[k].kind == PTX_O_SREG && strstr(s->instr->operands[k].text, "smem"))
            return true;
    return false;
}

// A kernel that asks how much shared memory it has must not get more of it.
static void find_near(const Work *w, PrivatizedKernel *k) {
    uint32_t least = 16;
    bool some = false, generic = false,
         fits = k->granule != 0 && !k->mbarriers; // which stay where the program has them
    for (const PtxStmt *s = k->f->first; s; s = s->next) {
        const PtxSite *site = s->site ? &w->m->sites[s->site] : NULL;
        if (!site || !(gr_is_shared_space(site->space) || site->space == PTX_GENERIC))
            continue;
        fits &= !gr_expands(s->instr); // to accesses of other sizes
        some |= site->space != PTX_GENERIC;
        generic |= site->space == PTX_GENERIC;
        fits &= site->size <= 16;
        least = site->size < least ? site->size : least;
    }
    for (uint32_t f = 0; f < w->m->n_funcs && fits; f++)
        for (const PtxStmt *s = w->m->funcs[f]->first; s; s = s->next)
            fits &= !asks_for_size(s);
    // Without any, copies of a small window can be there.
    if (!some && w->o->by_warps && fits && k->writes_global && !k->whole && !generic && !k->warps.why) {
        k->near_shift = 2;
        k->near_entry = 4;
        k->dense = k->pads = true;
    }
    if (!fits || !some)
        return;
    while (1u << k->near_shift < least)
        k->near_shift++;
    k->near_entry = least < 4 ? 2 : 4;
    k->dense = w->o->by_warps && !generic && !k->warps.why;
}

// Code for blocks whose accesses to memory that others see are all loads and stores of global memory; and whether the
// launch is one region for warps, too.
static void find_windows(const Work *w, const GrRoles *roles, PrivatizedKernel *k) {
    k->windows =
        k->granule && !k->blocks.why && !roles->of[0] && !roles->orders[0] && !k->meets && !k->mbarriers;
    k->whole = w->o->by_warps && k->windows && !k->warps.why && !k->has_shared && !k->pretends;
    for (const PtxStmt *s = k->f->first; s; s = s->next) {
        const PtxSite *site = s->site ? &w->m->sites[s->site] : NULL;
        k->whole &= s->kind != PTX_INSTR ||
                    (!(gr_ptx_instr_flags(s->instr) & PTX_F_BARRIER) && !is_any_barrier(s->instr));
        if (!site || (gr_is_shared_space(site->space) && !site->copy))
            continue;
        k->windows &= !site->strong && !gr_expands(s->instr) && !site->copy && site->space != PTX_GENERIC &&
                      site->space != PTX_SHARED_CLUSTER;
    }
    k->whole &= k->windows;
}

static void look_at_sites(const Work *w, const Liveness *live, uint64_t *set, const GrGrid *grid,
                          PrivatizedKernel *k) {
    for (const PtxStmt *s = k->f->first; s; s = s->next) {
        const PtxSite *site = s->site ? &w->m->sites[s->site] : NULL;
        k->stages |= s->kind == PTX_INSTR && gr_stages(s->instr);
        k->mbarriers |= s->kind == PTX_INSTR && gr_meeting_of(s->instr);
        k->by_warps |= is_of_lanes(s) || (s->kind == PTX_INSTR && gr_is_warp_barrier(s->instr));
        k->gathers |= s->kind == PTX_INSTR && gr_ptx_instr_flags(s->instr) & PTX_F_COLLECTIVE &&
                      !gr_is_full_barrier(s->instr);
        unsigned half;
        if (s->kind == PTX_INSTR)
            k->pretends |= gr_is_clock(s->instr, &half) ||
                           (s->instr->op == PTX_OP_CALL && gr_calls_instead(s->instr->callee));
        if (!site)
            continue;
        bool generic = site->space == PTX_GENERIC, global = generic || site->space == PTX_GLOBAL,
             shared = generic || site->space == PTX_SHARED || site->space == PTX_SHARED_CTA;
        k->has_shared |= shared;
        bool made = (global && !k->blocks.why) || ((global || shared) && !k->warps.why);
        if (w->status[s->site] != GR_SITE_FILTERED)
            w->status[s->site] = !global && !shared ? GR_SITE_PRIVATE
                                 : made             ? GR_SITE_CHECKED
                                                    : GR_SITE_UNSEEN;
        if (gr_grid_is_access(grid, s)) // of the driver's memory
            continue;
        k->updates |= site->access == PTX_ACCESS_RMW || (site->strong && (global || shared));
        k->results |= gr_has_result(site, live, set);
        k->takes_turns |= global && site->access == PTX_ACCESS_RMW && gr_has_result(site, live, set);
        k->orders |= site->access == PTX_ACCESS_RMW && is_ordered(s->instr);
        k->writes_global |= global && site->access & PTX_ACCESS_WRITE;
    }
}

static bool ends(const PtxStmt *s) {
    return s->kind == PTX_INSTR && !s->instr->guard &&
           (s->instr->op == PTX_OP_RET || s->instr->op == PTX_OP_EXIT || s->instr->op == PTX_OP_BRA ||
            s->instr->op == PTX_OP_TRAP);
}

// By site, the group of what it loads, or stores. *out NULL: there are none.
static gr_status find_groups(const Work *w, const GrPlaces *places, bool stores, Arena *arena,
                             const uint8_t **out) {
    bool some = places && (stores ? places->n_puts : places->n_groups);
    uint8_t *groups = some ? GR_NEW_ARRAY(arena, uint8_t, (size_t)w->m->n_sites + 1) : NULL;
    for (uint32_t k = 0; groups && k < places->n_places; k++)
        groups[places->places[k].site] = (uint8_t)(stores ? places->places[k].puts : places->places[k].group);
    *out = groups;
    return groups || !some ? GR_OK : gr_no_memory(w->err);
}

static gr_status rewrite_kernel(const Work *w, PtxFunc *f, PrivatizedKernel *out) {
    gr_status st = GR_OK;
    Arena arena = {0};
    Cfg cfg;
    Liveness live;
    DefUse uses = {0};
    GR_TRY(gr_cfg_build(f, &arena, &cfg, w->err));
    GR_TRY(gr_liveness_build(&cfg, &arena, &live, w->err));
    GR_TRY(gr_defuse_build(f, &uses, w->err));
    uint64_t *set = GR_NEW_ARRAY(&arena, uint64_t, live.n_words);
    GR_TRY(set ? GR_OK : gr_no_memory(w->err));
    GrRoles roles = {{NULL, NULL}, {false, false}};
    const uint8_t *groups = NULL, *puts = NULL;
    GrGrid grid;
    GR_TRY(gr_grid_find(&cfg, &arena, &grid, w->err));
    GR_TRY(gr_code_find_order(f, &live, set, &grid, &arena, &roles, w->err));
    GrKernelLook look = {f, &live, set, &w->calls, false, roles.of[0], &grid};
    *out = (PrivatizedKernel){.f = f, .blocks = gr_suits(&look)};
    look.warps = true;
    look.roles = roles.of[1];
    out->warps = gr_suits(&look);
    out->tracks = roles.of[1];
    out->meets = grid.n > 0;
    out->early_copies = gr_early_copies(f);
    look_at_sites(w, &live, set, &grid, out);
    bool suits = out->by_warps && !out->stages && !w->o->by_warps && gr_suits_lanes(&look);
    out->lanes = !out->warps.why && (suits || (out->mbarriers && !out->by_warps));
    GR_TRY(gr_places_find(&cfg, &grid, &w->m->arena, &out->places, w->err));
    bool brief = w->brief[f->index];
    if (!brief)
        GR_TRY(find_groups(w, out->places, false, &arena, &groups));
    GR_TRY(find_groups(w, out->places, true, &arena, &puts));
    out->by_warps |= w->o->by_warps;
    find_granule(w, out);
    if (!brief) {
        find_windows(w, &roles, out);
        find_near(w, out);
    }
    PtxStmt *first = gr_function_start(f), *last = f->last;
    if (!first || (out->blocks.why && out->warps.why))
        goto done;
    Code code = {.f = f,
                 .brief = brief,
                 .suffix = w->o->suffix,
                 .grid = &grid,
                 .live = &live,
                 .uses = &uses,
                 .set = set,
                 .updates = out->updates,
                 .granule = out->granule,
                 .near_shift = out->near_shift,
                 .near_entry = out->near_entry,
                 .results = out->results,
                 .takes_turns = out->takes_turns,
                 .gathers = out->gathers,
                 .stages = out->stages,
                 .pretends = out->pretends,
                 .by_warps = out->by_warps,
                 .groups = groups,
                 .puts = puts,
                 .arena = &arena,
                 .err = w->err};
    if (!ends(last))
        GR_TRY(gr_code_put(&code, NULL, NULL, 0, "ret;"));
    PtxReg *mode = gr_ptx_new_reg(f, PTX_B32), *is = gr_ptx_new_reg(f, PTX_PRED);
    PtxLabel *other = gr_ptx_new_label(f);
    PtxOperand to_other = gr_ptx_label_operand(other);
    char control[64];
    gr_privatizer_control_name(w->o->suffix, control, sizeof control);
    GR_TRY(gr_code_put(&code, first, &to_other, 1,
                       "ld.global.u32 %s, [%s]; setp.ne.u32 %s, %s, %d; @%s bra $0;", mode->name, control,
                       is->name, mode->name, GR_AS_IT_IS, is->name));
    gr_ptx_insert_label(f, NULL, other);
    static const struct {
        bool warps;
        uint32_t known;
    } copies[] = {{true, GR_KNOWN_DENSE},
                  {true, GR_KNOWN},
                  {true, GR_KNOWN_NOT},
                  {false, GR_KNOWN_DENSE},
                  {false, GR_KNOWN_NOT}};
    enum { COPIES = sizeof copies / sizeof *copies };
    PtxLabel *label[COPIES] = {NULL};
    for (unsigned k = 0; k < COPIES; k++) {
        bool warps = copies[k].warps, known = copies[k].known;
        if ((warps ? out->warps.why : out->blocks.why) ||
            (copies[k].known == GR_KNOWN && !groups && !out->near_entry) ||
            (copies[k].known == GR_KNOWN_DENSE && !(warps ? out->dense : out->windows)))
            continue;
        label[k] = gr_ptx_new_label(f);
        PtxOperand to = gr_ptx_label_operand(label[k]);
        GR_TRY(gr_code_put(&code, NULL, NULL, 0, "setp.eq.u32 %s, %s, %d;", is->name, mode->name,
                           warps ? GR_OF_WARPS : GR_OF_BLOCKS));
        if (known)
            GR_TRY(gr_code_put(
                &code, NULL, NULL, 0,
                "{ .reg .b64 known; ld.global.u64 known, [%s+%zu]; setp.eq.and.u64 %s, known, %u, %s; }",
                control, offsetof(GrPrivControl, known), is->name, copies[k].known, is->name));
        GR_TRY(gr_code_put(&code, NULL, &to, 1, "@%s bra $0;", is->name));
    }
    GR_TRY(gr_code_put(&code, NULL, NULL, 0, "ret;")); // GR_HELD
    for (unsigned k = 0; k < COPIES; k++) {
        Code one = code;
        one.warps = copies[k].warps;
        one.known = copies[k].known;
        one.dense = copies[k].known == GR_KNOWN_DENSE;
        one.whole = !one.warps && out->whole;
        one.roles = roles.of[one.warps];
        one.orders = roles.orders[one.warps];
        one.lanes = one.warps && out->lanes && !out->mbarriers;
        one.mbarriers = one.warps && out->mbarriers;
        if (label[k])
            GR_TRY(make(&one, first, last, label[k]));
    }
done:
    gr_defuse_free(&uses);
    gr_arena_free(&arena);
    return st;
}

// ---- Functions that were not inlined --------------------------------------------------------------------------------

static bool has_to_be_seen(const void *calls, const PtxFunc *callee) {
    return !((const GrCalls *)calls)->harmless[callee->index];
}

// The more of it was looked at, the less.
static unsigned rank(GrSiteStatus status) {
    return status == GR_SITE_CHECKED ? 0 : status == GR_SITE_UNSEEN ? 1 : status == GR_SITE_PRIVATE ? 2 : 3;
}

// An access of a function that was put into kernels is checked if it is in one of them.
static void fold_status(const PtxModule *m, uint32_t n_sites, const GrSiteStatus *all, GrSiteStatus *status) {
    memcpy(status, all, ((size_t)n_sites + 1) * sizeof *status);
    for (uint32_t k = n_sites + 1; k <= m->n_sites; k++) {
        GrSiteStatus *own = &status[m->sites[k].id];
        if (rank(all[k]) < rank(*own))
            *own = all[k];
    }
}

gr_status gr_privatizer_rewrite(PtxModule *m, const PrivatizerOptions *o, GrSiteStatus *status,
                                PrivatizedKernel **kernels, uint32_t *n, gr_error *err) {
    gr_status st = GR_OK;
    uint32_t n_funcs = m->n_funcs, n_sites = m->n_sites; // the program's
    GrInlined inlined = {0};
    Work w = {.m = m, .o = o, .err = err};
    bool *marked = GR_NEW_ARRAY(&m->arena, bool, (size_t)n_funcs + 1);
    *kernels = GR_NEW_ARRAY(&m->arena, PrivatizedKernel, (size_t)n_funcs + 1);
    *n = 0;
    GR_NEED(marked && *kernels, err);
    if (o->mark)
        o->mark(o->user, m, marked);
    else
        memset(marked, true, n_funcs * sizeof *marked);
    GR_TRY(gr_calls_find(m, &m->arena, &w.calls, err));
    for (uint32_t k = 0; k < n_funcs; k++)
        if (m->funcs[k]->is_entry && m->funcs[k]->has_body && !m->funcs[k]->tag.inserted && marked[k])
            GR_TRY(gr_inline_calls(&inlined, m, m->funcs[k], has_to_be_seen, &w.calls, err));
    w.status = GR_NEW_ARRAY(&m->arena, GrSiteStatus, (size_t)m->n_sites + 1);
    GR_TRY(w.status ? GR_OK : gr_no_memory(err));
    for (uint32_t k = 1; k <= m->n_sites; k++)
        w.status[k] = marked[m->sites[k].func->index] && (!o->wanted || o->wanted(o->user, m, &m->sites[k]))
                          ? GR_SITE_UNSEEN
                          : GR_SITE_FILTERED;
    bool *brief;
    GR_TRY(gr_code_find_brief(m, marked, &m->arena, &brief, err));
    w.brief = brief;
    GR_TRY(gr_registers_limit(m, err));
    GR_TRY(gr_runtime_raise(m, err));
    GR_TRY(gr_runtime_link(m, o->runtime, o->suffix, err));
    for (uint32_t k = 0; k < n_funcs; k++) {
        PtxFunc *f = m->funcs[k];
        if (f->is_entry && f->has_body && !f->tag.inserted && marked[f->index])
            GR_TRY(rewrite_kernel(&w, f, &(*kernels)[(*n)++]));
    }
    if (m->nomem)
        st = gr_no_memory(err);
    fold_status(m, n_sites, w.status, status);
done:
    gr_inline_end(&inlined, m);
    return st;
}
