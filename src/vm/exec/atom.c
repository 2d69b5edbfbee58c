// SPDX-License-Identifier: Apache-2.0
// atom — atom and red: decoding and execution. Lanes commit one after the other from a seeded start.
#include "vm/alu/alu_half.h"
#include "vm/core/commit.h"
#include "vm/core/decode.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/launch.h"
#include "vm/core/warp.h"
#include "vm/mem/mem_kernels.h"
#include "vm/mem/weak.h"

#include <math.h>
#include <string.h>

// ---- Operations --------------------------------------------------------------------------------------------

#define OP2(name, expr)                                                                                      \
    static uint64_t name(uint64_t old, uint64_t a, uint64_t b) {                                             \
        (void)old;                                                                                           \
        (void)b;                                                                                             \
        return (expr);                                                                                       \
    }
OP2(op_and, old &a)
OP2(op_or, old | a)
OP2(op_xor, old ^ a)
OP2(op_exch, a)
OP2(op_add, old + a)
OP2(op_inc, (uint32_t)old >= (uint32_t)a ? 0 : old + 1)
OP2(op_dec, (uint32_t)old == 0 || (uint32_t)old > (uint32_t)a ? a : old - 1)
OP2(op_min_u, old < a ? old : a)
OP2(op_max_u, old > a ? old : a)
OP2(op_min_s32, (int32_t)old < (int32_t)a ? old : a)
OP2(op_max_s32, (int32_t)old > (int32_t)a ? old : a)
OP2(op_min_s64, (int64_t)old < (int64_t)a ? old : a)
OP2(op_max_s64, (int64_t)old > (int64_t)a ? old : a)

static uint64_t op_cas(uint64_t old, uint64_t a, uint64_t b) { return old == a ? b : old; }

static uint64_t op_add_f32(uint64_t old, uint64_t a, uint64_t b) {
    (void)b;
    float s = bits_float((uint32_t)old) + bits_float((uint32_t)a);
    return s != s ? 0x7fffffff : float_bits(s);
}

// On global memory subnormal inputs and results become zeros of the same sign (PTX ISA 9.7.13.6).
static uint64_t flush(uint64_t v) { return v & 0x7f800000 ? v : v & 0x80000000; }
static uint64_t op_add_f32_ftz(uint64_t old, uint64_t a, uint64_t b) {
    return flush(op_add_f32(flush(old), flush(a), b));
}

static bool is_nan64(uint64_t v) { return (v & INT64_MAX) > UINT64_C(0x7ff0000000000000); }

static uint64_t op_add_f64(uint64_t old, uint64_t a, uint64_t b) {
    (void)b;
    double s = bits_double(old) + bits_double(a);
    // NaN as on an H200: the cell's before the operand's, made quiet; or a new one.
    if (s == s)
        return double_bits(s);
    uint64_t nan = is_nan64(old) ? old : is_nan64(a) ? a : UINT64_C(0xfff8000000000000);
    return nan | UINT64_C(1) << 51;
}
// In global memory the operand's NaN comes first, and signalling NaN stay as they are.
static uint64_t op_add_f64_global(uint64_t old, uint64_t a, uint64_t b) {
    return is_nan64(a) ? a : is_nan64(old) ? old : op_add_f64(old, a, b);
}

// One half or both halves of a pair: the upper one is zero in the single forms, and 0+0 stays 0.
typedef uint16_t (*Half)(uint16_t x, uint16_t y);
static uint64_t halves(Half f, uint64_t old, uint64_t a) {
    return f((uint16_t)old, (uint16_t)a) | (uint64_t)f((uint16_t)(old >> 16), (uint16_t)(a >> 16)) << 16;
}

// The sum of two halves in an f32 is exact enough: 24 bits are more than twice 11 plus 2, so rounding twice is once.
static uint16_t add_f16(uint16_t x, uint16_t y) { return f16_of_float(float_of_f16(x) + float_of_f16(y)); }
static uint16_t add_bf16(uint16_t x, uint16_t y) {
    return bf16_of_float(float_of_bf16(x) + float_of_bf16(y));
}

static uint16_t pick(float fx, float fy, uint16_t x, uint16_t y, bool min) {
    if (fx != fx)
        return fy != fy ? 0x7fff : y;
    if (fy != fy)
        return x;
    if (fx == fy)
        return (x >> 15) == min ? x : y; // -0 is less than +0
    return (fx < fy) == min ? x : y;
}
static uint16_t min_f16(uint16_t x, uint16_t y) { return pick(float_of_f16(x), float_of_f16(y), x, y, true); }
static uint16_t max_f16(uint16_t x, uint16_t y) {
    return pick(float_of_f16(x), float_of_f16(y), x, y, false);
}
static uint16_t min_bf16(uint16_t x, uint16_t y) {
    return pick(float_of_bf16(x), float_of_bf16(y), x, y, true);
}
static uint16_t max_bf16(uint16_t x, uint16_t y) {
    return pick(float_of_bf16(x), float_of_bf16(y), x, y, false);
}
OP2(op_add_f16, halves(add_f16, old, a))
OP2(op_add_bf16, halves(add_bf16, old, a))
OP2(op_min_f16, halves(min_f16, old, a))
OP2(op_max_f16, halves(max_f16, old, a))
OP2(op_min_bf16, halves(min_bf16, old, a))
OP2(op_max_bf16, halves(max_bf16, old, a))

// ---- Decoding ----------------------------------------------------------------------------------------------

static bool listed(const char *types, const char *t) {
    size_t len = strlen(t);
    for (const char *p = types; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!strncmp(p, t, len) && (p[len] == ',' || !p[len]))
            return true;
    return false;
}

static bool find_op(const PtxInstr *i, PtxType t, VmAtomOp *out) {
    static const struct {
        PtxMod mod;
        const char *types;
        uint64_t (*apply)(uint64_t, uint64_t, uint64_t);
    } rows[] = {
#define ATOM(mod, types, f) {PTX_MOD_##mod, types, f},
#include "vm/exec/atom_ops.def"
#undef ATOM
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (gr_ptx_instr_has(i, rows[k].mod) && listed(rows[k].types, gr_ptx_type_text(t))) {
            *out = (VmAtomOp){.apply = rows[k].apply,
                              .cas = rows[k].mod == PTX_MOD_cas,
                              .exch = rows[k].mod == PTX_MOD_exch};
            return true;
        }
    return false;
}

bool gr_vm_atom_op(const PtxInstr *i, PtxType t, VmAtomOp *out) { return find_op(i, t, out); }

static bool operand_slots(Decoder *d, const PtxOperand *o, VmMemInfo *info, PtxType t, uint32_t *slots,
                          bool dst) {
    PtxOperand tmp[8];
    unsigned n;
    const PtxOperand *e = gr_vm_elements(d, o, tmp, &n);
    if (n != info->vec)
        return false;
    for (unsigned k = 0; k < n; k++) {
        slots[k] = dst && e[k].kind == PTX_O_SINK ? VM_NO_SLOT
                   : dst                          ? gr_vm_dst(d, &e[k], t)
                                                  : gr_vm_src(d, &e[k], t);
        if (slots[k] == VM_NO_SLOT && !(dst && e[k].kind == PTX_O_SINK))
            return false;
    }
    return true;
}

static VmExec quick(const Decoder *d, const VmMemInfo *info) {
    int where = info->space == PTX_GLOBAL    ? MEM_GLOBAL
                : info->space == PTX_GENERIC ? MEM_GENERIC
                : info->address_size == 4    ? MEM_SHARED32
                                             : MEM_SHARED64;
    if (d->m->device->weak || info->vec != 1 || (info->elem != 4 && info->elem != 8) ||
        info->op.apply == op_add_f32 || info->op.apply == op_add_f64 ||
        (where != MEM_SHARED32 && info->address_size != 8))
        return gr_vm_x_atom;
    return gr_vm_mem_kernels()->atom[where][info->op.apply == op_add][info->elem == 8];
}

bool gr_vm_decode_atom(Decoder *d, const PtxInstr *i) {
    bool atom = i->op == PTX_OP_ATOM;
    if ((!atom && i->op != PTX_OP_RED) || gr_ptx_instr_has(i, PTX_MOD_async))
        return false;
    VmMemInfo *info = gr_vm_mem_insn(d, i, PTX_ACCESS_RMW);
    unsigned at = atom ? 1 : 0, need = at + 2;
    if (!info || i->n_operands < need)
        return false;
    PtxType t = i->type[0];
    if (!find_op(i, t, &info->op) || (info->op.cas && i->n_operands < need + 1) ||
        (info->space != PTX_GENERIC && info->space != PTX_GLOBAL && info->space != PTX_SHARED))
        return false;
    info->sem = i->sem == PTX_SEM_NONE ? PTX_RELAXED : i->sem;
    if (info->scope == PTX_SCOPE_NONE)
        info->scope = PTX_SCOPE_GPU;
    info->has_result = atom && i->operands[0].kind != PTX_O_SINK;
    info->wide = info->elem == 16;
    uint32_t slot;
    uint64_t offset;
    if ((info->has_result && !operand_slots(d, &i->operands[0], info, t, info->slot, true)) ||
        !gr_vm_decode_address(d, &i->operands[at], info->space, &slot, &info->address_size, &offset) ||
        !operand_slots(d, &i->operands[at + 1], info, t, info->b, false) ||
        (info->op.cas && !operand_slots(d, &i->operands[at + 2], info, t, info->c, false)))
        return false;
    VmExec x = quick(d, info), exec[2] = {x, x};
    gr_vm_decode_arrival(d, info, exec);
    VmInsn *n = gr_vm_emit(d, exec[0], exec[1]);
    if (!n)
        return true;
    n->a = slot;
    n->imm = offset;
    n->e = d->m->counts.caches++;
    n->extra = info;
    gr_vm_fix_rejoin(d);
    return true;
}

// ---- Execution ---------------------------------------------------------------------------------------------

static uint64_t read_reg(const VmWarp *w, uint32_t slot, unsigned elem, unsigned l) {
    return elem == 2 ? VM_U16(w, slot)[l] : elem == 4 ? VM_U32(w, slot)[l] : VM_U64(w, slot)[l];
}

static void write_reg(VmWarp *w, uint32_t slot, unsigned elem, unsigned l, uint64_t v) {
    if (elem == 2)
        VM_U16(w, slot)[l] = (uint16_t)v;
    else if (elem == 4)
        VM_U32(w, slot)[l] = (uint32_t)v;
    else
        VM_U64(w, slot)[l] = v;
}

#ifdef __x86_64__
// Without -mcx16 the compiler calls a library for this; every x86-64 that runs us has the instruction.
static bool exchange_wide(void *p, uint64_t old[2], const uint64_t value[2]) {
    bool done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*(unsigned __int128 *)p), "+a"(old[0]), "+d"(old[1])
                     : "b"(value[0]), "c"(value[1])
                     : "memory");
    return done;
}
#else
static bool exchange_wide(void *p, uint64_t old[2], const uint64_t value[2]) {
    static char lock;
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
        ;
    uint64_t now[2];
    memcpy(now, p, 16);
    bool same = now[0] == old[0] && now[1] == old[1];
    if (same)
        memcpy(p, value, 16);
    memcpy(old, now, 16);
    __atomic_clear(&lock, __ATOMIC_RELEASE);
    return same;
}
#endif

void gr_vm_commit_wide(void *p, const uint64_t *expected, const uint64_t value[2], uint64_t old[2]) {
    if (expected) {
        memcpy(old, expected, 16);
        (void)exchange_wide(p, old, value);
        return;
    }
    memcpy(old, p, 16);
    while (!exchange_wide(p, old, value))
        ;
}

static void apply_wide(VmWarp *w, const VmMemInfo *info, unsigned l, uint8_t *p) {
    uint64_t old[2], a[2] = {VM_U64(w, info->b[0])[l], VM_U64(w, info->b[0])[VM_LANES + l]}, c[2] = {0, 0};
    if (info->op.cas) {
        c[0] = VM_U64(w, info->c[0])[l];
        c[1] = VM_U64(w, info->c[0])[VM_LANES + l];
    }
    gr_vm_commit_wide(p, info->op.cas ? a : NULL, info->op.cas ? c : a, old);
    if (info->has_result && info->slot[0] != VM_NO_SLOT) {
        VM_U64(w, info->slot[0])[l] = old[0];
        VM_U64(w, info->slot[0])[VM_LANES + l] = old[1];
    }
}

VM_HANDLER(gr_vm_x_atom) {
    return --w->budget <= 0 && gr_vm_access_hook(w, i) ? NULL : gr_vm_x_atom_rest(w, i);
}

// The operation at `address` must be a machine's atomic one. The instruction's cache knows only the range of its last
// lane; for others the answer is yes, which is always right.
static bool is_real(const VmWarp *w, const VmInsn *i, uint64_t address, bool global) {
    const VmCache *c = &w->caches[i->e];
    return w->atomics || (global && (c->host || address - c->lo >= c->hi - c->lo));
}

static void update_lane(VmWarp *w, const VmInsn *i, unsigned l, uint64_t address, uint8_t *host) {
    const VmMemInfo *info = i->extra;
    bool global = info->space == PTX_GLOBAL ||
                  (info->space == PTX_GENERIC && address - VM_SHARED_BASE >= VM_SHARED_SIZE);
    for (unsigned e = 0; e < info->vec; e++) {
        uint64_t old = 0, (*apply)(uint64_t, uint64_t, uint64_t) = info->op.apply;
        uint8_t *p = host + e * info->elem;
        if (apply == op_add_f32 && global)
            apply = op_add_f32_ftz;
        if (apply == op_add_f64 && global)
            apply = op_add_f64_global;
        uint64_t a = read_reg(w, info->b[e], info->elem, l);
        uint64_t c = info->op.cas ? read_reg(w, info->c[e], info->elem, l) : 0;
        if (is_real(w, i, address, global))
            old = gr_vm_commit(p, info->elem, apply, a, c, gr_vm_may_idle(info->sem));
        else {
            memcpy(&old, p, info->elem);
            uint64_t v = apply(old, a, c);
            memcpy(p, &v, info->elem);
        }
        if (info->has_result && info->slot[e] != VM_NO_SLOT)
            write_reg(w, info->slot[e], info->elem, l, old);
    }
}

static void update_lanes(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES],
                         uint8_t *host[VM_LANES]) {
    const VmMemInfo *info = i->extra;
    gr_vm_report_access(w, i, address);
    unsigned turn = gr_vm_rotation(w);
    bool weak = rest_of(w)->launch->device->weak && info->space != PTX_LOCAL;
    for (unsigned k = 0; k < VM_LANES; k++) {
        unsigned l = commit_lane(k, turn);
        if (!(w->mask >> l & 1))
            continue;
        if (weak)
            gr_vm_weak_strong(w, l, host[l], info->size, info->sem, true);
        if (info->wide)
            apply_wide(w, info, l, host[l]);
        else
            update_lane(w, i, l, address[l], host[l]);
    }
}

// The lanes' operations go nowhere: they read zero.
static void read_zero(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES], uint32_t lanes) {
    const VmMemInfo *info = i->extra;
    (void)address;
    for (uint32_t m = info->has_result ? lanes : 0; m; m &= m - 1)
        for (unsigned e = 0, l = (unsigned)__builtin_ctz(m); e < info->vec; e++) {
            if (info->slot[e] == VM_NO_SLOT)
                continue;
            write_reg(w, info->slot[e], info->elem, l, 0);
            if (info->wide)
                VM_U64(w, info->slot[e])[VM_LANES + l] = 0;
        }
}

VM_HANDLER(gr_vm_x_atom_rest) { return gr_vm_access_lanes(w, i, update_lanes, read_zero); }
