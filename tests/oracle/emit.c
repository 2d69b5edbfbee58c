// SPDX-License-Identifier: Apache-2.0
// emit — the PTX of a kernel. One instruction that accesses memory per line, so that lines name sites.
#include "emit.h"

#include <stdio.h>
#include <string.h>

enum { TRIES = 6 };

static const char *sem_text(PtxSem s) {
    switch (s) {
    case PTX_RELAXED: return ".relaxed";
    case PTX_ACQUIRE: return ".acquire";
    case PTX_RELEASE: return ".release";
    case PTX_ACQ_REL: return ".acq_rel";
    case PTX_SC: return ".sc";
    case PTX_VOLATILE: return ".volatile";
    default: return "";
    }
}

static const char *scope_text(PtxScope s) {
    static const char *const text[] = {"", ".cta", ".cluster", ".gpu", ".sys"};
    return text[s];
}

void emit_head(StrBuf *o, const char *op, const Statement *s) {
    bool plain = s->sem == PTX_SEM_NONE || s->sem == PTX_WEAK || s->sem == PTX_VOLATILE;
    static const char *const spaces[] = {".global", ".shared", ".shared::cluster"};
    gr_str_addf(o, "%s%s%s%s", op, sem_text(s->sem), plain ? "" : scope_text(s->scope),
                s->generic && s->where != IN_REMOTE ? "" : spaces[s->where]);
}

void emit_address(StrBuf *o, const Statement *s) {
    static const char *const base[] = {"%rd1", "%r5", "%r7"}, *const generic[] = {"%rd2", "%rd3", "%r7"};
    gr_str_addf(o, "[%s+%u]", s->generic ? generic[s->where] : base[s->where], s->at);
}

static void access(StrBuf *o, const Statement *s, bool store) {
    const char *r = s->size == 8 ? "%rd1" : "%r1"; // %r12, %r13
    char data[64];
    if (s->vec == 2)
        snprintf(data, sizeof data, "{%s2, %s3}", r, r);
    else if (store)
        snprintf(data, sizeof data, "%u", s->value);
    else
        snprintf(data, sizeof data, "%s2", r);
    emit_head(o, store ? "st" : "ld", s);
    gr_str_addf(o, "%s.u%u ", s->vec == 2 ? ".v2" : "", s->size * 8u);
    if (!store)
        gr_str_addf(o, "%s, ", data);
    emit_address(o, s);
    if (store)
        gr_str_addf(o, ", %s", data);
    gr_str_add(o, ";\n");
}

static void atomic(StrBuf *o, const Statement *s) {
    const char *d = s->size == 8 ? "%rd12" : "%r12";
    emit_head(o, s->op == OP_RED ? "red" : "atom", s);
    gr_str_addf(o, ".%s.%c%u ", s->op == OP_EXCH ? "exch" : "add", s->op == OP_EXCH ? 'b' : 'u',
                s->size * 8u);
    if (s->op != OP_RED)
        gr_str_addf(o, "%s, ", d);
    emit_address(o, s);
    gr_str_addf(o, ", %u;\n", s->op == OP_EXCH ? s->value : 1u);
    if (s->tests)
        gr_str_addf(o, "setp.eq.u%u %%p5, %s, %u;\n", s->size * 8u, d, s->value);
}

static void await(StrBuf *o, const Statement *s, unsigned k) {
    gr_str_addf(o, "mov.u32 %%r21, 0;\nT%u:\n", k);
    if (s->op == OP_LOCK) {
        emit_head(o, "atom", s);
        gr_str_add(o, ".cas.b32 %r12, ");
        emit_address(o, s);
        gr_str_add(o, ", 0, 1;\nsetp.eq.u32 %p5, %r12, 0;\n");
    } else {
        emit_head(o, "ld", s);
        gr_str_addf(o, ".u%u %s, ", s->size * 8u, s->size == 8 ? "%rd12" : "%r12");
        emit_address(o, s);
        gr_str_addf(o, ";\nsetp.eq.u%u %%p5, %s, %u;\n", s->size == 8 ? 64 : 32,
                    s->size == 8 ? "%rd12" : "%r12", s->value);
    }
    gr_str_addf(o,
                "@%%p5 bra U%u; add.u32 %%r21, %%r21, 1; setp.lt.u32 %%p6, %%r21, %u; @%%p6 bra T%u;\nU%u:\n",
                k, TRIES, k, k);
}

// The lanes of the executing slots in each warp.
static void warp_sync(StrBuf *o, const Kernel *k, const Statement *s) {
    unsigned slots = (s->who | s->who >> 4 | s->who >> 8) & 15;
    if (s->who == EVERYONE)
        gr_str_add(o, "bar.warp.sync 0xffffffff;\n");
    else if (k->block <= 4)
        gr_str_addf(o, "bar.warp.sync %u;\n", slots);
    else
        gr_str_addf(o, "setp.lt.u32 %%p7, %%r1, 32; selp.b32 %%r13, %u, %u, %%p7; bar.warp.sync %%r13;\n",
                    slots & 3, slots >> 2);
}

static void mbarrier(StrBuf *o, const Statement *s, unsigned k) {
    char sem[32];
    snprintf(sem, sizeof sem, "%s%s", sem_text(s->sem), s->sem == PTX_SEM_NONE ? "" : scope_text(s->scope));
    switch (s->op) {
    case OP_MBAR_INIT: gr_str_addf(o, "mbarrier.init.shared.b64 [%%r5+%u], %u;\n", s->at, s->count); break;
    case OP_MBAR_ARRIVE:
        if (s->where == IN_REMOTE)
            gr_str_addf(o, "mbarrier.arrive%s.shared::cluster.b64 _, [%%r7+%u];\n", sem, s->at);
        else
            gr_str_addf(o, "mbarrier.arrive%s.shared::cta.b64 _, [%%r5+%u];\n", sem, s->at);
        break;
    case OP_MBAR_EXPECT:
        gr_str_addf(o, "mbarrier.arrive.expect_tx%s.shared::cta.b64 _, [%%r5+%u], %u;\n", sem, s->at,
                    s->count);
        break;
    default:
        gr_str_addf(
            o,
            "mov.u32 %%r21, 0;\nT%u: mbarrier.test_wait.parity%s.shared::cta.b64 %%p5, [%%r5+%u], %u;\n"
            "@%%p5 bra U%u; add.u32 %%r21, %%r21, 1; setp.lt.u32 %%p6, %%r21, %u; @%%p6 bra T%u;\nU%u:\n",
            k, sem, s->at, s->value, k, 4 * TRIES, k, k);
    }
}

static void async(StrBuf *o, const Statement *s) {
    switch (s->op) {
    case OP_CP_ASYNC:
        gr_str_addf(o, "cp.async.c%c.shared.global [%%r5+%u], [%%rd1+%u], %u;\n", s->size == 16 ? 'g' : 'a',
                    s->at, s->other, s->size);
        break;
    case OP_CP_COMMIT: gr_str_add(o, "cp.async.commit_group;\n"); break;
    case OP_CP_WAIT:
        if (s->count == 9)
            gr_str_add(o, "cp.async.wait_all;\n");
        else
            gr_str_addf(o, "cp.async.wait_group %u;\n", s->count);
        break;
    case OP_CP_ARRIVE: gr_str_addf(o, "cp.async.mbarrier.arrive.noinc.shared.b64 [%%r5+%u];\n", s->at); break;
    case OP_BULK_LOAD:
        gr_str_addf(
            o,
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r5+%u], [%%rd1+%u], 16, "
            "[%%r5+%u];\n",
            s->at, s->other, 256u + s->value);
        break;
    case OP_BULK_STORE:
        gr_str_addf(o, "cp.async.bulk.global.shared::cta.bulk_group [%%rd1+%u], [%%r5+%u], 16;\n", s->at,
                    s->other);
        break;
    case OP_BULK_REDUCE:
        gr_str_addf(o,
                    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u%u [%%rd1+%u], [%%r5+%u], 16;\n",
                    s->size * 8u, s->at, s->other);
        break;
    case OP_BULK_COMMIT: gr_str_add(o, "cp.async.bulk.commit_group;\n"); break;
    default: gr_str_addf(o, "cp.async.bulk.wait_group%s %u;\n", s->tests ? ".read" : "", s->count);
    }
}

static void statement(StrBuf *o, const Kernel *k, const Statement *s, unsigned n) {
    switch (s->op) {
    case OP_LOAD:
    case OP_STORE: access(o, s, s->op == OP_STORE); break;
    case OP_ATOM:
    case OP_EXCH:
    case OP_RED: atomic(o, s); break;
    case OP_AWAIT:
    case OP_LOCK: await(o, s, n); break;
    case OP_FENCE: gr_str_addf(o, "fence%s%s;\n", sem_text(s->sem), scope_text(s->scope)); break;
    case OP_PROXY_FENCE: gr_str_add(o, "fence.proxy.async;\n"); break;
    case OP_BARRIER:
    case OP_BAR_ARRIVE:
        gr_str_addf(o, "barrier.%s %u", s->op == OP_BARRIER ? "sync" : "arrive", s->value);
        if (s->count)
            gr_str_addf(o, ", %u", s->count);
        gr_str_add(o, ";\n");
        break;
    case OP_WARP_SYNC: warp_sync(o, k, s); break;
    case OP_EXIT: gr_str_add(o, "ret;\n"); break;
    case OP_LOOP: gr_str_addf(o, "mov.u32 %%r30, 0;\nL%u:\n", n); break;
    case OP_MBAR_INIT:
    case OP_MBAR_ARRIVE:
    case OP_MBAR_EXPECT:
    case OP_MBAR_WAIT: mbarrier(o, s, n); break;
    case OP_CLUSTER_ARRIVE:
        gr_str_addf(o, "barrier.cluster.arrive%s;\n", s->sem == PTX_RELAXED ? ".relaxed" : "");
        break;
    case OP_CLUSTER_WAIT: gr_str_add(o, "barrier.cluster.wait;\n"); break;
    case OP_HOLD: emit_hold(o, k, s); break;
    case OP_CHOOSE: emit_choose(o, s); break;
    case OP_MEET: emit_meet(o, k, s); break;
    case OP_AWAY: emit_away(o, k, s); break;
    default: async(o, s);
    }
}

static void guarded(StrBuf *o, const Kernel *k, const Statement *s, unsigned n) {
    bool some = s->who != EVERYONE;
    if (s->op == OP_HOLD) // those who do not load have no value, either
        gr_str_addf(o, "mov.b32 %%v%u, 0; mov.b32 %%u%u, 0; setp.ne.u32 %%y%u, 0, 0;\n", s->value, s->value,
                    s->value);
    if (some)
        gr_str_addf(o, "and.b32 %%r8, %%r9, %u; setp.eq.u32 %%p1, %%r8, 0; @%%p1 bra S%u;\n", s->who, n);
    if (s->warp >= 0)
        gr_str_addf(o, "setp.ne.u32 %%p1, %%r4, %d; @%%p1 bra S%u;\n", s->warp, n);
    if (s->if_seen)
        gr_str_addf(o, "@!%%p5 bra S%u;\n", n);
    for (unsigned twice = 0; twice < 2 && k->marks && statement_meeting(s) != MEET_NONE; twice++)
        emit_mark(o, 'q', statement_meeting(s)); // the device may part lanes before each
    statement(o, k, s, n);
    if (some || s->warp >= 0 || s->if_seen)
        gr_str_addf(o, "S%u:\n", n);
}

void kernel_text(const Kernel *k, StrBuf *out) {
    gr_str_add(out, ".version 8.6\n.target sm_90\n.address_size 64\n");
    if (k->marks)
        emit_away_functions(out, k->linked);
    gr_str_addf(out,
                ".visible .entry k(.param .u64 p)%s {\n"
                ".reg .pred %%p<8>; .reg .b32 %%r<32>; .reg .b64 %%rd<16>; .shared .align 128 .b8 s[%u];\n"
                "ld.param.u64 %%rd1, [p]; cvta.to.global.u64 %%rd1, %%rd1; ld.param.u64 %%rd2, [p];\n"
                "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r5, s; shr.u32 %%r4, %%r1, 5;\n"
                "cvt.u64.u32 %%rd3, %%r5; cvta.shared.u64 %%rd3, %%rd3; setp.ne.u32 %%p5, %%r1, %%r1;\n"
                "mov.u32 %%r12, 1; mov.u32 %%r13, 1; mov.u64 %%rd12, 1; mov.u64 %%rd13, 1;\n%s",
                k->cluster ? " .reqnctapercluster 2, 1, 1" : "", MEMORY, k->marks ? emit_registers : "");
    // %r9: the bit of the slot; of blocks with two warps the slots are threads 0, 1, 32 and 33.
    gr_str_add(out, "and.b32 %r3, %r1, 31; shl.b32 %r8, %r4, 1; add.u32 %r8, %r8, %r3;\n"
                    "shl.b32 %r9, %r2, 2; add.u32 %r9, %r9, %r8; mov.u32 %r6, 1; shl.b32 %r9, %r6, %r9;\n");
    gr_str_addf(out, "setp.ge.u32 %%p1, %%r3, %u; selp.b32 %%r9, 0, %%r9, %%p1;\n", k->block <= 4 ? 4 : 2);
    if (k->cluster)
        gr_str_add(
            out,
            "mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1; mapa.shared::cluster.u32 %r7, %r5, %r8;\n");
    unsigned loops[8], depth = 0;
    if (k->repeats)
        gr_str_add(out, "mov.u32 %r31, 0;\nR:\n");
    for (unsigned n = 0; n < k->n; n++) {
        const Statement *s = &k->s[n];
        if (s->op == OP_END_LOOP) {
            if (depth)
                gr_str_addf(out, "add.u32 %%r30, %%r30, 1; setp.lt.u32 %%p7, %%r30, %u; @%%p7 bra L%u;\n",
                            k->s[loops[depth - 1]].count, loops[depth - 1]);
            depth = 0;
            continue;
        }
        if (s->op == OP_LOOP) {
            loops[0] = n;
            depth = 1;
        }
        guarded(out, k, s, n);
    }
    if (k->repeats)
        gr_str_addf(out, "add.u32 %%r31, %%r31, 1; setp.le.u32 %%p7, %%r31, %u; @%%p7 bra R;\n", k->repeats);
    gr_str_add(out, "ret;\n}\n");
}
