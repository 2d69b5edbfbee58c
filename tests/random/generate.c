// SPDX-License-Identifier: Apache-2.0
// generate — random PTX kernels. See generate.h.
//
// What makes a kernel's result independent of order: each thread writes only its own piece of global memory, reads
// others' shared memory only between barriers, and does only such atomic operations as commute, without looking at
// their results. What makes it valid: barriers and full-mask warp instructions stand where control flow is the same for
// the whole block; where it is not, warp instructions name the lanes that are there, which a ballot found before they
// parted.
#include "statements.h"

#include <string.h>

enum { MAX_DEPTH = 3 };

// ---- Control flow ------------------------------------------------------------------------------------------

static void body(Gen *g, const Place *at, unsigned most);

static void branch(Gen *g, const Place *at) {
    unsigned label = g->labels++;
    Place inside = *at;
    inside.depth++;
    if (at->block && below(g, 3) == 0) { // the whole block goes one way
        emit(g, "setp.$c.u32 %q, $u, $u;");
    } else {
        inside.block = false;
        emit(g, "mov.pred %q, $p;");
        if (at->mask == -2 || g->function || g->masks >= 40) {
            inside.mask = -2;
        } else {
            char mask[16];
            mask_name(at, mask);
            inside.mask = (int)g->masks;
            g->masks += 2;
            gr_str_addf(g->out, "vote.sync.ballot.b32 %%m%d, %%q, %s; not.b32 %%m%d, %%m%d;\n", inside.mask,
                        mask, inside.mask + 1, inside.mask);
            if (at->mask != -1)
                gr_str_addf(g->out, "and.b32 %%m%d, %%m%d, %s;\n", inside.mask + 1, inside.mask + 1, mask);
        }
    }
    bool other = below(g, 2);
    gr_str_addf(g->out, "@!%%q bra%s %s%u;\n", inside.block && below(g, 2) ? ".uni" : "",
                other ? "ELSE" : "END", label);
    body(g, &inside, 6);
    if (other) {
        gr_str_addf(g->out, "bra END%u;\nELSE%u:\n", label, label);
        if (inside.mask >= 0)
            inside.mask += inside.mask == at->mask ? 0 : 1;
        body(g, &inside, 6);
    }
    gr_str_addf(g->out, "END%u:\n", label);
}

// Counts down a register that nothing else uses.
static void loop(Gen *g, const Place *at) {
    unsigned label = g->labels++;
    Place inside = *at;
    inside.depth++;
    if (at->block && below(g, 3) == 0)
        gr_str_addf(g->out, "and.b32 %%n%u, %%u%u, 3;\n", at->depth, below(g, 3)); // as often for all
    else if (below(g, 2))
        gr_str_addf(g->out, "mov.u32 %%n%u, %u;\n", at->depth, below(g, 4));
    else {
        inside.block = false;
        inside.mask = -2;
        gr_str_addf(g->out, "and.b32 %%n%u, %%r%u, 3;\n", at->depth, below(g, 10)); // as often as each likes
    }
    gr_str_addf(g->out, "LOOP%u:\n", label);
    body(g, &inside, 5);
    if (!inside.block && inside.mask == -2 && below(g, 2)) { // out of the middle
        emit(g, "mov.pred %q, $p;");
        gr_str_addf(g->out, "@%%q bra OUT%u;\n", label);
        body(g, &inside, 3);
    }
    gr_str_addf(g->out, "setp.eq.u32 %%q, %%n%u, 0; sub.u32 %%n%u, %%n%u, 1; @!%%q bra LOOP%u;\nOUT%u:\n",
                at->depth, at->depth, at->depth, label, label);
}

static void table_branch(Gen *g, const Place *at) {
    unsigned label = g->labels++;
    Place inside = {.block = false, .mask = -2, .depth = at->depth + 1};
    emit(g, "and.b32 %t0, $r, 3;");
    gr_str_addf(g->out, "T%u: .branchtargets C%u_0, C%u_1, C%u_2, C%u_3;\nbrx.idx %%t0, T%u;\n", label, label,
                label, label, label, label);
    for (unsigned k = 0; k < 4; k++) {
        gr_str_addf(g->out, "C%u_%u:\n", label, k);
        body(g, &inside, 2);
        if (below(g, 4)) // else it falls through
            gr_str_addf(g->out, "bra END%u;\n", label);
    }
    gr_str_addf(g->out, "END%u:\n", label);
}

static void statement(Gen *g, const Place *at) {
    uint32_t k = below(g, 100);
    if (g->function || k < 45)
        compute(g);
    else if (k < 49)
        at->block ? compute_uniform(g) : compute(g);
    else if (k < 57)
        own_memory(g);
    else if (k < 60)
        read_table(g);
    else if (k < 61)
        copy_async(g);
    else if (k < 62)
        read_constant(g);
    else if (k < 66)
        count(g);
    else if (k < 68)
        call(g);
    else if (k < 74 && at->mask != -2)
        exchange_in_warp(g, at);
    else if (k < 79 && at->block)
        exchange_in_block(g);
    else if (k < 81 && at->block)
        count_in_block(g);
    else if (k < 82)
        emit(g, "nanosleep.u32 $i;");
    else if (k < 90 && at->depth < MAX_DEPTH)
        branch(g, at);
    else if (k < 96 && at->depth < MAX_DEPTH)
        loop(g, at);
    else if (k < 97 && at->depth < MAX_DEPTH)
        table_branch(g, at);
    else
        compute(g);
}

static void body(Gen *g, const Place *at, unsigned most) {
    for (unsigned n = 1 + below(g, most); n > 0 && g->budget > 0; n--) {
        g->budget--;
        statement(g, at);
    }
}

// ---- The module --------------------------------------------------------------------------------------------

static const char registers[] =
    ".reg .b32 %r<10>, %u<3>, %t<3>, %n<8>, %m<48>, %me, %junk, %slot; .reg .b64 %d<5>, %t64, %t65, %own, "
    "%table, %counts, %local, "
    "%glocal, %gslot, %junk64; .reg .f32 %f<6>; .reg .f64 %g<3>; .reg .b16 %h<4>; .reg .pred %p<5>, %q;\n";

// Registers begin with what tells threads apart.
static void initialize(Gen *g, const char *seed) {
    for (unsigned k = 0; k < 10; k++) {
        gr_str_addf(g->out, "mad.lo.u32 %%r%u, %s, ", k, seed);
        emit(g, "$w, $w;");
    }
    for (unsigned k = 0; k < 5; k++)
        gr_str_addf(g->out, "mul.wide.u32 %%d%u, %%r%u, %%r%u; setp.lt.s32 %%p%u, %%r%u, 0;\n", k, k, k + 5,
                    k, k);
    for (unsigned k = 0; k < 6; k++)
        gr_str_addf(g->out, "and.b32 %%t0, %%r%u, 1023; cvt.rn.f32.s32 %%f%u, %%t0;\n", k, k);
    gr_str_add(g->out, "cvt.f64.f32 %g0, %f0; cvt.f64.f32 %g1, %f1; cvt.f64.f32 %g2, %f2;\n");
    for (unsigned k = 0; k < 4; k++)
        gr_str_addf(g->out, "cvt.u16.u32 %%h%u, %%r%u;\n", k, k);
}

// All registers, in one.
static void combine(Gen *g, unsigned into) {
    for (unsigned k = 0; k < 10; k++)
        if (k != into)
            gr_str_addf(g->out, "mad.lo.u32 %%r%u, %%r%u, 31, %%r%u;\n", into, into, k);
    for (unsigned k = 0; k < 5; k++)
        gr_str_addf(g->out,
                    "cvt.u32.u64 %%t0, %%d%u; xor.b32 %%r%u, %%r%u, %%t0; selp.u32 %%t0, %u, 0, %%p%u; "
                    "add.u32 %%r%u, %%r%u, %%t0;\n",
                    k, into, into, 1u << k, k, into, into);
    for (unsigned k = 0; k < 6; k++)
        gr_str_addf(g->out, "mov.b32 %%t0, %%f%u; mad.lo.u32 %%r%u, %%r%u, 17, %%t0;\n", k, into, into);
    for (unsigned k = 0; k < 3; k++)
        gr_str_addf(g->out, "mov.b64 %%t64, %%g%u; cvt.u32.u64 %%t0, %%t64; xor.b32 %%r%u, %%r%u, %%t0;\n", k,
                    into, into);
    for (unsigned k = 0; k < 4; k++)
        gr_str_addf(g->out, "cvt.u32.u16 %%t0, %%h%u; mad.lo.u32 %%r%u, %%r%u, 5, %%t0;\n", k, into, into);
}

static void function(Gen *g, unsigned n) {
    gr_str_addf(g->out, ".func (.param .b32 v) f%u (.param .b32 a0, .param .b64 a1) {\n%s", n, registers);
    g->function = true;
    g->budget = 1 + below(g, 12);
    emit(g, "ld.param.b32 %me, [a0];");
    initialize(g, "%me");
    emit(g, "ld.param.b64 %d0, [a1];");
    Place at = {.block = false, .mask = -2, .depth = MAX_DEPTH};
    while (g->budget > 0)
        body(g, &at, 8);
    combine(g, 0);
    gr_str_add(g->out, "st.param.b32 [v], %r0; ret;\n}\n");
    g->function = false;
}

bool random_kernel(uint64_t seed, RandomKernel *out) {
    static const uint32_t sizes[] = {32, 64, 64, 96, 128, 128, 33, 40, 100, 7};
    Gen gen = {.rng = gr_rng_fork(seed, 77, 0), .out = &out->text}, *g = &gen;
    out->text.len = 0;
    out->block = g->block = PICK(g, sizes);
    out->grid = 1 + below(g, RANDOM_BLOCKS);
    gr_str_add(g->out, ".version 8.4\n.target sm_90\n.address_size 64\n.const .align 4 .b32 numbers[16] = {");
    for (unsigned k = 0; k < 16; k++)
        gr_str_addf(g->out, "%s%u", k ? ", " : "", (uint32_t)gr_rng_next(&g->rng));
    gr_str_add(g->out, "};\n");
    for (unsigned k = 0; k < FUNCTIONS; k++)
        function(g, k);
    gr_str_addf(g->out, ".visible .entry k(.param .u64 own, .param .u64 table, .param .u64 counts) {\n%s",
                registers);
    gr_str_addf(g->out, ".shared .align 16 .b8 slots[%u]; .local .align 16 .b8 stack[128];\n",
                RANDOM_THREADS * 16);
    gr_str_addf(g->out,
                "mov.u32 %%me, %%tid.x; mov.u32 %%u0, %%ctaid.x; mad.lo.u32 %%t0, %%u0, %u, %%me;\n"
                "ld.param.u64 %%own, [own]; cvta.to.global.u64 %%own, %%own; mul.wide.u32 %%t64, %%t0, %u; "
                "add.s64 %%own, %%own, %%t64;\n"
                "ld.param.u64 %%table, [table]; ld.param.u64 %%counts, [counts]; mov.u64 %%local, stack; "
                "cvta.local.u64 %%glocal, %%local;\n"
                "mov.u32 %%slot, slots; shl.b32 %%t1, %%me, 4; add.u32 %%slot, %%slot, %%t1; cvt.u64.u32 "
                "%%gslot, %%slot; "
                "cvta.shared.u64 %%gslot, %%gslot; mov.u32 %%u1, 7; mov.u32 %%u2, %%nctaid.x;\n",
                g->block, RANDOM_OWN);
    gr_str_add(g->out, "mov.u32 %t2, %t0;\n");
    initialize(g, "%t2");
    // The stack begins as zeros: what it holds at first is not defined.
    for (unsigned k = 0; k < 8; k++)
        gr_str_addf(g->out, "st.local.v2.u64 [%%local+%u], {0, 0}; ", k * 16);
    gr_str_add(g->out,
               "\nst.shared.v2.u64 [%slot], {0, 0}; bar.sync 0;\n"); // nor is what shared memory holds
    Place top = {.block = true, .mask = -1, .depth = 0};
    g->budget = 5 + below(g, 60);
    while (g->budget > 0)
        body(g, &top, 10);
    if (below(g, 3) == 0) { // some leave before the end
        emit(g, "@$p st.global.u32 [%own+120], $r; @$p exit;");
    }
    combine(g, 0);
    gr_str_add(g->out, "st.global.u32 [%own+124], %r0; ret;\n}\n");
    return !out->text.oom;
}
