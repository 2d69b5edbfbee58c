// SPDX-License-Identifier: Apache-2.0
// shuffle — see shuffle.h.
#include "passes/shuffle.h"

#include "base/rng.h"
#include "base/str.h"
#include "passes/emit.h"

#include <string.h>

enum { AXES = 3 };

// ---- A multiplier that no grid divides -----------------------------------------------------------------------------

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t n) {
    unsigned __int128 r = 1, b = base % n;
    for (; exponent; exponent >>= 1, b = b * b % n)
        if (exponent & 1)
            r = r * b % n;
    return (uint64_t)r;
}

// Miller and Rabin's test; with these bases it is exact for 64 bits (Sorenson and Webster, 2015).
static bool is_prime(uint64_t n) {
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    unsigned twos = (unsigned)__builtin_ctzll(n - 1);
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
        uint64_t x = power(bases[k], (n - 1) >> twos, n);
        bool witness = x != 1 && x != n - 1;
        for (unsigned i = 1; witness && i < twos; i++) {
            x = power(x, 2, n);
            witness = x != n - 1;
        }
        if (witness)
            return false;
    }
    return true;
}

// A prime beyond every number of blocks that is shuffled: coprime to it.
static uint64_t draw_prime(Rng *rng) {
    uint64_t n = gr_rng_next(rng) >> 1 | UINT64_C(1) << 40 | 1;
    while (!is_prime(n))
        n += 2;
    return n;
}

// ---- Reads of the index --------------------------------------------------------------------------------------------

typedef struct Shuffle {
    uint64_t by, from;
    bool clusters;           // the module may have some
    PtxReg *ctaid[AXES];     // of the function at hand; NULL: not wanted yet
    PtxReg *clusterid[AXES]; // of the function at hand; NULL: not wanted yet
    gr_error *err;
} Shuffle;

static gr_status refuse(const Shuffle *s, const PtxFunc *f, const PtxStmt *at, const char *what) {
    return gr_fail_at(s->err, GR_ERR_UNSUPPORTED, f->module->name, at->line, at->col,
                      "blocks cannot be shuffled: %s", what);
}

static gr_status replace(Shuffle *s, PtxFunc *f, const PtxStmt *at, PtxOperand *o) {
    for (unsigned k = 0; k < o->n_sub; k++)
        GR_MUST(replace(s, f, at, &o->sub[k]));
    if (o->kind != PTX_O_SREG)
        return GR_OK;
    bool cluster = !strncmp(o->text, "%clusterid", strlen("%clusterid"));
    const char *axis = o->text + strlen(cluster ? "%clusterid" : "%ctaid");
    if (!cluster && strncmp(o->text, "%ctaid", strlen("%ctaid")) != 0)
        return GR_OK;
    if (axis[0] != '.' || axis[1] < 'x' || axis[1] > 'z')
        return refuse(s, f, at, "the index of the block is read as a vector");
    if (at->kind != PTX_INSTR || gr_ptx_type_bits(at->instr->type[0]) != 32)
        return refuse(s, f, at, "the index of the block is not read with 32 bits");
    PtxReg **reg = &(cluster ? s->clusterid : s->ctaid)[axis[1] - 'x'];
    if (!*reg)
        *reg = gr_ptx_new_reg(f, PTX_U32);
    *o = gr_ptx_reg_operand(*reg);
    return GR_OK;
}

// ---- The permutation -----------------------------------------------------------------------------------------------

// Computes the wanted registers: %ctaid number n of its grid, or the cluster's, is block (by * n + from) mod all.
static gr_status put_permutation(Shuffle *s, PtxFunc *f) {
    const char *unit = s->clusters ? "clusterid" : "ctaid";
    PtxReg *size[AXES], *index[AXES], *n = gr_ptx_new_reg(f, PTX_U64), *all = gr_ptx_new_reg(f, PTX_U64),
                                      *t = gr_ptx_new_reg(f, PTX_U64), *u = gr_ptx_new_reg(f, PTX_U64),
                                      *word = gr_ptx_new_reg(f, PTX_U32), *many = gr_ptx_new_reg(f, PTX_PRED);
    for (unsigned k = 0; k < AXES; k++) {
        size[k] = gr_ptx_new_reg(f, PTX_U64);
        index[k] = gr_ptx_new_reg(f, PTX_U32);
    }
    StrBuf b = {0};
    for (unsigned k = 0; k < AXES; k++)
        gr_str_addf(&b, "mov.u32 %s, %%n%s.%c; cvt.u64.u32 %s, %s;", word->name, unit, "xyz"[k],
                    size[k] -> name, word -> name);
    gr_str_addf(&b, "mul.lo.u64 %s, %s, %s; mul.lo.u64 %s, %s, %s;", all->name, size[0]->name, size[1]->name,
                all->name, all->name, size[2]->name);
    gr_str_addf(&b, "mov.u32 %s, %%%s.z; cvt.u64.u32 %s, %s;", word->name, unit, n->name, word->name);
    for (unsigned k = 2; k-- > 0;)
        gr_str_addf(&b, "mov.u32 %s, %%%s.%c; cvt.u64.u32 %s, %s; mad.lo.u64 %s, %s, %s, %s;", word->name,
                    unit, "xyz"[k], t -> name, word -> name, n -> name, n -> name, size[k] -> name,
                    t -> name);
    // (all - 1) * (all - 1) + all - 1 must fit.
    gr_str_addf(&b, "setp.gt.u64 %s, %s, 0xFFFFFFFF; rem.u64 %s, %llu, %s; rem.u64 %s, %llu, %s;", many->name,
                all->name, t->name, (unsigned long long)s->by, all->name, u->name,
                (unsigned long long)s->from, all->name);
    gr_str_addf(&b, "mad.lo.u64 %s, %s, %s, %s; rem.u64 %s, %s, %s; selp.b64 %s, %s, %s, %s;", t->name,
                n->name, t->name, u->name, t->name, t->name, all->name, n->name, n->name, t->name,
                many->name);
    for (unsigned k = 0; k < AXES; k++) {
        gr_str_addf(&b, "rem.u64 %s, %s, %s; cvt.u32.u64 %s, %s; div.u64 %s, %s, %s;", t->name, n->name,
                    size[k]->name, index[k]->name, t->name, n->name, n->name, size[k]->name);
        if (s->clusterid[k])
            gr_str_addf(&b, "mov.u32 %s, %s;", s->clusterid[k]->name, index[k]->name);
        if (!s->ctaid[k])
            continue;
        if (s->clusters)
            gr_str_addf(&b,
                        "mov.u32 %s, %%cluster_nctaid.%c; mul.lo.u32 %s, %s, %s; mov.u32 %s, "
                        "%%cluster_ctaid.%c; add.u32 %s, %s, %s;",
                        word->name, "xyz"[k], index[k] -> name, index[k] -> name, word -> name, word -> name,
                        "xyz"[k], s -> ctaid[k] -> name, index[k] -> name, word -> name);
        else
            gr_str_addf(&b, "mov.u32 %s, %s;", s->ctaid[k]->name, index[k]->name);
    }
    PtxStmt *at = gr_function_start(f);
    return gr_emit_str(f, at, 0, &b, NULL, 0, s->err);
}

gr_status gr_shuffle_blocks(PtxModule *m, uint64_t seed, gr_error *err) {
    Rng rng = gr_rng_fork(seed, RNG_SHUFFLE, 0);
    uint64_t by = draw_prime(&rng), from = gr_rng_next(&rng);
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        PtxFunc *f = m->funcs[k];
        Shuffle s = {.by = by, .from = from, .clusters = m->sm >= 90, .err = err}; // PTX ISA 10.9, %clusterid
        bool wanted = false;
        if (!f->has_body)
            continue;
        for (PtxStmt *at = f->first; at; at = at->next)
            for (unsigned o = 0; at->kind == PTX_INSTR && o < at->instr->n_operands; o++)
                GR_MUST(replace(&s, f, at, &at->instr->operands[o]));
        for (unsigned a = 0; a < AXES; a++)
            wanted |= s.ctaid[a] || s.clusterid[a];
        if (wanted)
            GR_MUST(put_permutation(&s, f));
    }
    return GR_OK;
}
