// SPDX-License-Identifier: Apache-2.0
// tables — opcodes.def and modifiers.def as hash tables, and what a modifier means for an instruction.
//
// The tables are built once per process. A modifier's meaning (type, space, semantics, scope, vector width)
// is worked out there too, so that an instruction is summed up by indexing.
#include "ptx/tables.h"

#include <pthread.h>
#include <string.h>

static const struct {
    const char *text;
    unsigned flags;
} ops[PTX_OP_COUNT] = {
    [PTX_OP_UNKNOWN] = {"", 0},
#define OP(id, text, flags) [PTX_OP_##id] = {text, flags},
#include "ptx/opcodes.def"
#undef OP
};

static const char *const mods[PTX_MOD_COUNT] = {
    [PTX_MOD_UNKNOWN] = "",
#define MOD(id, text) [PTX_MOD_##id] = text,
#include "ptx/modifiers.def"
#undef MOD
};

typedef struct ModMeaning {
    uint8_t type, space, sem, scope, vec;
} ModMeaning;

enum { SLOTS = 2048 };
_Static_assert(PTX_OP_COUNT * 4 < SLOTS && PTX_MOD_COUNT * 4 < SLOTS, "tables at most a quarter full");

static struct {
    uint16_t op_slot[SLOTS], mod_slot[SLOTS];
    ModMeaning meaning[PTX_MOD_COUNT];
} index_;
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

static unsigned slot_of(const char *s, size_t len) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return (h ^ (h >> 15)) & (SLOTS - 1);
}

static bool equal(const char *entry, const char *s, size_t len) {
    return !memcmp(entry, s, len) && !entry[len];
}

static void meaning_init(PtxMod id) {
    ModMeaning *m = &index_.meaning[id];
    const char *t = mods[id];
    size_t len = strlen(t);
    m->type = (uint8_t)gr_ptx_type_find(t, len);
    m->space = (uint8_t)gr_ptx_space_find(t, len);
    switch (id) {
    case PTX_MOD_weak: m->sem = PTX_WEAK; break;
    case PTX_MOD_relaxed: m->sem = PTX_RELAXED; break;
    case PTX_MOD_acquire: m->sem = PTX_ACQUIRE; break;
    case PTX_MOD_release: m->sem = PTX_RELEASE; break;
    case PTX_MOD_acq_rel: m->sem = PTX_ACQ_REL; break;
    case PTX_MOD_sc: m->sem = PTX_SC; break;
    case PTX_MOD_volatile: m->sem = PTX_VOLATILE; break;
    case PTX_MOD_mmio: m->sem = PTX_MMIO; break;
    case PTX_MOD_cta: m->scope = PTX_SCOPE_CTA; break;
    case PTX_MOD_cluster: m->scope = PTX_SCOPE_CLUSTER; break;
    case PTX_MOD_gl: // membar.gl is fence.sc.gpu (9.7.13.4)
    case PTX_MOD_gpu: m->scope = PTX_SCOPE_GPU; break;
    case PTX_MOD_sys: m->scope = PTX_SCOPE_SYS; break;
    case PTX_MOD_v2: m->vec = 2; break;
    case PTX_MOD_v4: m->vec = 4; break;
    case PTX_MOD_v8: m->vec = 8; break;
    default: break;
    }
}

static void build_index(void) {
    for (unsigned id = 1; id < PTX_OP_COUNT; id++) {
        unsigned k = slot_of(ops[id].text, strlen(ops[id].text));
        while (index_.op_slot[k])
            k = (k + 1) & (SLOTS - 1);
        index_.op_slot[k] = (uint16_t)id;
    }
    for (unsigned id = 1; id < PTX_MOD_COUNT; id++) {
        unsigned k = slot_of(mods[id], strlen(mods[id]));
        while (index_.mod_slot[k])
            k = (k + 1) & (SLOTS - 1);
        index_.mod_slot[k] = (uint16_t)id;
        meaning_init((PtxMod)id);
    }
}

PtxOp gr_ptx_op_find(const char *text, size_t len) {
    pthread_once(&index_once, build_index);
    for (unsigned k = slot_of(text, len); index_.op_slot[k]; k = (k + 1) & (SLOTS - 1)) {
        const char *entry = ops[index_.op_slot[k]].text;
        if (strnlen(entry, len + 1) == len && equal(entry, text, len))
            return (PtxOp)index_.op_slot[k];
    }
    return PTX_OP_UNKNOWN;
}

PtxMod gr_ptx_mod_find(const char *text, size_t len) {
    pthread_once(&index_once, build_index);
    for (unsigned k = slot_of(text, len); index_.mod_slot[k]; k = (k + 1) & (SLOTS - 1)) {
        const char *entry = mods[index_.mod_slot[k]];
        if (strnlen(entry, len + 1) == len && equal(entry, text, len))
            return (PtxMod)index_.mod_slot[k];
    }
    return PTX_MOD_UNKNOWN;
}

unsigned gr_ptx_op_flags(PtxOp op) { return (unsigned)op < PTX_OP_COUNT ? ops[op].flags : 0; }

const char *gr_ptx_op_text(PtxOp op) { return (unsigned)op < PTX_OP_COUNT ? ops[op].text : ""; }

const char *gr_ptx_mod_text(PtxMod mod) { return (unsigned)mod < PTX_MOD_COUNT ? mods[mod] : ""; }

bool gr_ptx_instr_has(const PtxInstr *i, PtxMod mod) {
    for (unsigned k = 0; k < i->n_mods; k++)
        if (i->mods[k].id == mod)
            return true;
    return false;
}

void gr_ptx_instr_summarize(PtxInstr *i) {
    pthread_once(&index_once, build_index);
    unsigned n_types = 0, n_spaces = 0;
    memset(i->type, 0, sizeof i->type);
    i->space = i->space2 = PTX_GENERIC;
    i->sem = PTX_SEM_NONE;
    i->scope = PTX_SCOPE_NONE;
    i->vec = 1;
    for (unsigned k = 0; k < i->n_mods; k++) {
        ModMeaning m = {0};
        if ((unsigned)i->mods[k].id < PTX_MOD_COUNT)
            m = index_.meaning[i->mods[k].id];
        if (m.type && n_types < 4)
            i->type[n_types++] = (PtxType)m.type;
        if (m.space && n_spaces < 2) {
            *(n_spaces ? &i->space2 : &i->space) = (PtxSpace)m.space;
            n_spaces++;
        }
        // ld.mmio.relaxed.sys: .mmio says more than the .relaxed it requires (9.7.9.8).
        if (m.sem && i->sem != PTX_MMIO)
            i->sem = (PtxSem)m.sem;
        if (m.scope && !i->scope)
            i->scope = (PtxScope)m.scope;
        if (m.vec)
            i->vec = m.vec;
    }
}

PtxCallParts gr_ptx_call_parts(const PtxInstr *i) {
    PtxCallParts c = {0};
    for (unsigned k = 0; k < i->n_operands; k++) {
        const PtxOperand *o = &i->operands[k];
        if (o->kind == PTX_O_PAREN)
            *(c.callee ? &c.params : &c.rets) = o;
        else if (!c.callee)
            c.callee = o;
        else if (o->kind == PTX_O_LABEL)
            c.proto = o->label;
    }
    return c;
}

unsigned gr_ptx_instr_flags(const PtxInstr *i) {
    unsigned f = gr_ptx_op_flags(i->op);
    PtxMod first = i->n_mods ? i->mods[0].id : PTX_MOD_UNKNOWN;
    switch (i->op) {
    case PTX_OP_CP:
        if (gr_ptx_instr_has(i, PTX_MOD_commit_group) || gr_ptx_instr_has(i, PTX_MOD_wait_group) ||
            gr_ptx_instr_has(i, PTX_MOD_wait_all) || gr_ptx_instr_has(i, PTX_MOD_mbarrier) ||
            gr_ptx_instr_has(i, PTX_MOD_prefetch))
            f = PTX_F_NO_DST;
        else if (first == PTX_MOD_reduce)
            f |= PTX_F_ATOMIC;
        break;
    case PTX_OP_ST:
    case PTX_OP_RED:
        if (gr_ptx_instr_has(i, PTX_MOD_async) || (i->op == PTX_OP_ST && first == PTX_MOD_bulk))
            f |= PTX_F_ASYNC;
        break;
    case PTX_OP_MULTIMEM:
        if (first == PTX_MOD_ld_reduce)
            f = PTX_F_READS;
        else if (first == PTX_MOD_st)
            f = PTX_F_WRITES | PTX_F_NO_DST;
        else if (first == PTX_MOD_red)
            f = PTX_F_READS | PTX_F_WRITES | PTX_F_ATOMIC | PTX_F_NO_DST;
        else // multimem.cp.async.bulk, multimem.cp.reduce.async.bulk
            f |= PTX_F_ASYNC | PTX_F_NO_DST;
        break;
    case PTX_OP_CLUSTERLAUNCHCONTROL: // try_cancel writes its answer to shared memory, later
        if (first != PTX_MOD_try_cancel)
            f = 0;
        break;
    case PTX_OP_TENSORMAP:
        if (first != PTX_MOD_replace)
            f = PTX_F_FENCE | PTX_F_NO_DST;
        break;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        if (gr_ptx_instr_has(i, PTX_MOD_red))
            f &= ~(unsigned)PTX_F_NO_DST;
        break;
    case PTX_OP_WMMA:
        f = PTX_F_COLLECTIVE;
        if (first == PTX_MOD_load)
            f |= PTX_F_READS;
        else if (first == PTX_MOD_store)
            f |= PTX_F_WRITES | PTX_F_NO_DST;
        break;
    case PTX_OP_WGMMA:
        if (first != PTX_MOD_mma_async)
            f = PTX_F_COLLECTIVE | PTX_F_NO_DST;
        break;
    case PTX_OP_TCGEN05:
        f = PTX_F_COLLECTIVE;
        if (first == PTX_MOD_ld)
            f |= PTX_F_READS | PTX_F_ASYNC;
        else if (first == PTX_MOD_st)
            f |= PTX_F_WRITES | PTX_F_ASYNC | PTX_F_NO_DST;
        else if (first == PTX_MOD_mma || first == PTX_MOD_cp || first == PTX_MOD_shift)
            f |= PTX_F_READS | PTX_F_WRITES | PTX_F_ASYNC | PTX_F_NO_DST;
        else // alloc writes the address it got to shared memory; fence, commit, wait, dealloc touch nothing
            f |= PTX_F_NO_DST | (first == PTX_MOD_alloc ? PTX_F_WRITES : 0);
        break;
    case PTX_OP_MBARRIER: {
        // arrive, arrive_drop, test_wait, try_wait and pending_count have a destination; init, inval and the
        // tx forms do not.
        if (first == PTX_MOD_init || first == PTX_MOD_inval || first == PTX_MOD_expect_tx ||
            first == PTX_MOD_complete_tx)
            f |= PTX_F_NO_DST;
        break;
    }
    default: break;
    }
    return f;
}

bool gr_ptx_is_sreg(const char *text, size_t len) {
    // PTX ISA chapter 10, without component suffixes. Families that end in a number are matched by prefix
    // below.
#define SREG(text)                                                                                           \
    { text, sizeof text - 1 }
    static const struct {
        const char *text;
        size_t len;
    } names[] = {SREG("%tid"),
                 SREG("%ntid"),
                 SREG("%laneid"),
                 SREG("%warpid"),
                 SREG("%nwarpid"),
                 SREG("%ctaid"),
                 SREG("%nctaid"),
                 SREG("%smid"),
                 SREG("%nsmid"),
                 SREG("%gridid"),
                 SREG("%is_explicit_cluster"),
                 SREG("%clusterid"),
                 SREG("%nclusterid"),
                 SREG("%cluster_ctaid"),
                 SREG("%cluster_nctaid"),
                 SREG("%cluster_ctarank"),
                 SREG("%cluster_nctarank"),
                 SREG("%lanemask_eq"),
                 SREG("%lanemask_le"),
                 SREG("%lanemask_lt"),
                 SREG("%lanemask_ge"),
                 SREG("%lanemask_gt"),
                 SREG("%clock"),
                 SREG("%clock_hi"),
                 SREG("%clock64"),
                 SREG("%globaltimer"),
                 SREG("%globaltimer_lo"),
                 SREG("%globaltimer_hi"),
                 SREG("%total_smem_size"),
                 SREG("%aggr_smem_size"),
                 SREG("%dynamic_smem_size"),
                 SREG("%current_graph_exec")};
#undef SREG
    static const char *const families[] = {"%envreg", "%pm", "%reserved_smem_offset_"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (names[k].len == len && !memcmp(names[k].text, text, len))
            return true;
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        size_t n = strlen(families[k]);
        if (len > n && !memcmp(families[k], text, n))
            return true;
    }
    return false;
}

bool gr_ptx_instr_writes(const PtxInstr *i, const PtxReg *r) {
    if (!i->n_operands || gr_ptx_op_flags(i->op) & PTX_F_NO_DST)
        return false;
    const PtxOperand *o = &i->operands[0];
    bool found = o->kind == PTX_O_REG && o->reg == r;
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        found |= o->sub[k].kind == PTX_O_REG && o->sub[k].reg == r;
    return found;
}
