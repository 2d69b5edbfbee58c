// SPDX-License-Identifier: Apache-2.0
// emit_meet — the PTX of loads that are held back, of what becomes of their values, and of meetings.
#include "emit.h"

const char emit_registers[] =
    ".reg .b32 %h<16>; .reg .b32 %g<16>; .reg .b32 %v<16>; .reg .b32 %u<16>; .reg .b32 %q<32>;\n"
    ".reg .pred %y<16>; .reg .b32 %m<16>; .reg .f32 %f<8>; .reg .b64 %rh;\n";

// What a meeting of lanes is called: the mark before it says.
MeetKind statement_meeting(const Statement *s) {
    switch (s->op) {
    case OP_WARP_SYNC: return MEET_WARP_SYNC;
    case OP_BARRIER: return s->count ? MEET_COUNTED : MEET_BARRIER;
    case OP_BAR_ARRIVE: return MEET_ARRIVE;
    case OP_CLUSTER_ARRIVE: return MEET_CLUSTER;
    case OP_MBAR_ARRIVE: return MEET_MBAR_ARRIVE;
    case OP_MBAR_WAIT: return MEET_MBAR_WAIT;
    case OP_CP_WAIT: return MEET_CP_WAIT;
    case OP_BULK_WAIT: return MEET_BULK_WAIT;
    case OP_FENCE: return MEET_FENCE;
    case OP_ATOM:
    case OP_RED:
    case OP_EXCH: return MEET_STRONG;
    case OP_AWAY: return MEET_AWAY;
    case OP_EXIT: return MEET_EXIT;
    case OP_MEET: return (MeetKind)s->value;
    default: return MEET_NONE;
    }
}

void emit_mark(StrBuf *o, char letter, unsigned number) {
    gr_str_addf(o, "ld.global.u32 %%%c%u, [%%rd1+%u];\n", letter, number, MARKED);
}

// ---- Loads that are held back --------------------------------------------------------------------------------------

// A load whose value is nobody's to choose is one like any other: statements may be left out.
static bool is_chosen(const Kernel *k, const Statement *load) {
    for (const Statement *s = load; s < k->s + k->n; s++)
        if (s->op == OP_CHOOSE && s->value == load->value)
            return true;
    return false;
}

void emit_hold(StrBuf *o, const Kernel *kernel, const Statement *s) {
    unsigned k = s->value;
    bool chosen = is_chosen(kernel, s);
    if (chosen)
        emit_mark(o, 'h', k);
    emit_head(o, "ld", s);
    gr_str_addf(o, ".u%u %%%c%u, ", s->size * 8u, chosen ? 'v' : 'u', k);
    emit_address(o, s);
    gr_str_add(o, ";\n");
    if (!chosen)
        return;
    if (s->count == HOLD_COMPUTES)
        gr_str_addf(o, "mad.lo.u32 %%u%u, %%v%u, 3, 7;\n", k, k);
    else if (s->count == HOLD_TESTS)
        gr_str_addf(o, "setp.ne.u32 %%y%u, %%v%u, 5;\n", k, k);
}

// The mark before it reads one word further for the lanes that choose the value.
void emit_choose(StrBuf *o, const Statement *s) {
    unsigned k = s->value;
    gr_str_addf(o,
                "and.b32 %%r14, %%r9, %u; setp.ne.u32 %%p2, %%r14, 0; selp.b32 %%r15, 4, 0, %%p2;\n"
                "cvt.u64.u32 %%rh, %%r15; add.u64 %%rh, %%rh, %%rd1; ld.global.u32 %%g%u, [%%rh+%u];\n",
                s->other, k, MARKED);
    switch (s->count) {
    case HOLD_SELECTS: gr_str_addf(o, "selp.b32 %%r16, %%v%u, 0, %%p2;\n", k); break;
    case HOLD_COMPUTES: gr_str_addf(o, "not.pred %%p3, %%p2; selp.b32 %%r16, 0, %%u%u, %%p3;\n", k); break;
    default: gr_str_addf(o, "and.pred %%p3, %%y%u, %%p2;\n", k);
    }
}

// ---- Meetings ------------------------------------------------------------------------------------------------------

void emit_lanes(StrBuf *o, const Kernel *k, const Statement *s) {
    unsigned slots = (s->who | s->who >> 4 | s->who >> 8) & 15;
    if (s->who == EVERYONE)
        gr_str_add(o, "mov.b32 %r13, 0xffffffff;\n");
    else if (k->block <= 4)
        gr_str_addf(o, "mov.b32 %%r13, %u;\n", slots);
    else
        gr_str_addf(o, "setp.lt.u32 %%p7, %%r1, 32; selp.b32 %%r13, %u, %u, %%p7;\n", slots & 3, slots >> 2);
}

void emit_meet(StrBuf *o, const Kernel *k, const Statement *s) {
    emit_lanes(o, k, s);
    switch ((MeetKind)s->value) {
    case MEET_VOTE: gr_str_add(o, "vote.sync.ballot.b32 %m0, %p2, %r13;\n"); break;
    case MEET_SHFL: gr_str_add(o, "shfl.sync.idx.b32 %m0|%p3, %r1, 0, 31, %r13;\n"); break;
    case MEET_MATCH: gr_str_add(o, "match.any.sync.b32 %m0, %r4, %r13;\n"); break;
    case MEET_REDUX: gr_str_add(o, "redux.sync.add.s32 %m0, %r1, %r13;\n"); break;
    case MEET_ELECT: gr_str_add(o, "elect.sync %m0|%p3, %r13;\n"); break;
    case MEET_ACTIVEMASK: gr_str_add(o, "activemask.b32 %m0;\n"); break;
    case MEET_LDMATRIX:
        gr_str_addf(o, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%%m0}, [%%r5+%u];\n", s->at);
        break;
    case MEET_STMATRIX: // a row for each lane
        gr_str_addf(o,
                    "shl.b32 %%m1, %%r3, 4; add.u32 %%m1, %%m1, %%r5;\n"
                    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%%m1+%u], {%%r1};\n",
                    s->at);
        break;
    case MEET_MOVMATRIX: gr_str_add(o, "movmatrix.sync.aligned.m8n8.trans.b16 %m0, %r1;\n"); break;
    case MEET_MMA:
        gr_str_add(o, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r1}, "
                      "{%r1}, {%f4, %f5, %f6, %f7};\n");
        break;
    case MEET_WMMA: // all rows in one place
        gr_str_addf(o,
                    "mov.b32 %%m8, 0;\nwmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
                    "{%%m0, %%m1, %%m2, %%m3, %%m4, %%m5, %%m6, %%m7}, [%%r5+%u], %%m8;\n",
                    s->at);
        break;
    default: gr_str_add(o, "barrier.red.popc.u32 %m0, 0, %p2;\n");
    }
}

// ---- In a function -------------------------------------------------------------------------------------------------

void emit_away(StrBuf *o, const Kernel *k, const Statement *s) {
    emit_lanes(o, k, s);
    gr_str_addf(o, "{ .param .b32 lanes; st.param.b32 [lanes], %%r13; call %s, (lanes); }\n",
                s->value ? "away_meet" : "away_fence");
}

void emit_away_functions(StrBuf *o, bool declared) {
    const char *end = declared
                          ? ";\n"
                          : "{\n.reg .b32 %r<2>; .reg .pred %p; ld.param.b32 %r0, [lanes]; mov.b32 %r1, 0;\n"
                            "L: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 16; @%p bra L;\n";
    gr_str_addf(o, "%s .func away_meet(.param .b32 lanes)%s", declared ? ".extern" : ".visible", end);
    if (!declared)
        gr_str_add(o, "bar.warp.sync %r0;\nret;\n}\n");
    gr_str_addf(o, "%s .func away_fence(.param .b32 lanes)%s", declared ? ".extern" : ".visible", end);
    if (!declared)
        gr_str_add(o, "fence.acq_rel.gpu;\nret;\n}\n");
}

void kernel_away(StrBuf *out) {
    gr_str_add(out, ".version 8.6\n.target sm_90\n.address_size 64\n");
    emit_away_functions(out, false);
}
