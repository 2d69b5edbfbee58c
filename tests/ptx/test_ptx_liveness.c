// SPDX-License-Identifier: Apache-2.0
// Which registers are live: on instructions of each kind, and against the definition on random functions.
#include "base/rng.h"
#include "ptx/liveness.h"
#include "ptx_test.h"

static Arena arena;
static PtxModule *module_;
static Cfg cfg;
static Liveness live;
static uint64_t *set;

static const PtxFunc *build(const char *body) {
    module_ = parse_body(body);
    const PtxFunc *f = module_->funcs[0];
    gr_error err = {0};
    if (gr_cfg_build(f, &arena, &cfg, &err) != GR_OK || gr_liveness_build(&cfg, &arena, &live, &err) != GR_OK)
        fail_msg("%s", err.msg);
    set = GR_NEW_ARRAY(&arena, uint64_t, live.n_words);
    return f;
}

static void done(void) {
    gr_ptx_free(module_);
    gr_arena_free(&arena);
}

// "a b": the registers of the set, in order of their names.
static void check_set(const PtxFunc *f, const char *where, const char *want) {
    const char *names[16];
    unsigned n = 0;
    for (uint32_t k = 0; k < f->n_regs; k++)
        if (gr_live_has(&live, set, f->regs[k]))
            names[n++] = f->regs[k]->name;
    for (unsigned k = 1; k < n; k++)
        for (unsigned j = k; j && strcmp(names[j], names[j - 1]) < 0; j--) {
            const char *other = names[j];
            names[j] = names[j - 1], names[j - 1] = other;
        }
    StrBuf s = {0};
    gr_str_add(&s, "");
    for (unsigned k = 0; k < n; k++)
        gr_str_addf(&s, k ? " %s" : "%s", names[k]);
    if (strcmp(s.data ? s.data : "", want) != 0)
        fail_msg("%s: '%s', not '%s'", where, s.data ? s.data : "", want);
    gr_str_free(&s);
}

#define REGS ".reg .pred p, q; .reg .b32 a, b, c, d; .reg .b64 x, y; .reg .v2 .b32 v;\n"

// One instruction, what is read behind it, and what is live before it then.
static const struct {
    const char *text, *behind, *before;
} rows[] = {
    {"add.u32 a, b, c;", "a d", "b c d"},
    {"@p add.u32 a, b, c;", "a d", "a b c d p"},
    {"@!p mov.b32 a, b;", "a", "a b p"},
    {"add.u32 a, a, a;", "a", "a"},
    {"setp.eq.u32 p|q, a, b;", "p q", "a b"},
    {"ld.global.u32 a, [x];", "a x", "x"},
    {"ld.global.v2.u32 {a, b}, [x+8];", "a b c", "c x"},
    {"st.global.u32 [x], a;", "a x", "a x"},
    {"st.global.v2.u32 [x], {a, b};", "", "a b x"},
    {"atom.global.add.u32 a, [x], b;", "a", "b x"},
    {"red.global.add.u32 [x], b;", "b", "b x"},
    {"mov.b64 {a, b}, x;", "a b", "x"},
    {"mov.b64 x, {a, b};", "x", "a b"},
    {"mov.b32 v.x, a;", "v", "a v"},
    {"mov.b32 a, v.y;", "a", "v"},
    {"selp.b32 a, b, c, p;", "a", "b c p"},
    {"shfl.sync.idx.b32 a|p, b, c, 31, -1;", "a p", "b c"},
    {"bar.sync 0;", "a b", "a b"},
    {"cvt.u64.u32 x, a;", "", "a"},
    {"mbarrier.init.shared.b64 [a], b;", "", "a b"},
    {"mbarrier.arrive.shared.b64 x, [a];", "x", "a"},
    {"cp.async.ca.shared.global [a], [x], 4;", "", "a x"},
    {"prefetch.global.L1 [x];", "", "x"},
};

static void test_rows(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        StrBuf body = {0};
        gr_str_addf(&body, REGS "%s\n", rows[k].text);
        char *behind = strdup(rows[k].behind), *rest = behind;
        for (char *name; (name = strtok_r(rest, " ", &rest));)
            gr_str_addf(&body,
                        *name == 'p' || *name == 'q'   ? "@%s st.shared.u32 [8], 1;\n"
                        : *name == 'x' || *name == 'y' ? "st.shared.u64 [8], %s;\n"
                        : *name == 'v'                 ? "st.shared.v2.b32 [8], %s;\n"
                                                       : "st.shared.u32 [8], %s;\n",
                        name);
        gr_str_add(&body, "ret;");
        const PtxFunc *f = build(body.data);
        const PtxStmt *s = nth_instr(f, 0);
        assert_true(gr_live_behind(&live, s, set));
        check_set(f, rows[k].text, rows[k].behind);
        assert_true(gr_live_before(&live, s, set));
        check_set(f, rows[k].text, rows[k].before);
        done();
        free(behind);
        gr_str_free(&body);
    }
}

static void test_ways(void **state) {
    (void)state;
    const PtxFunc *f = build(REGS "mov.b32 a, 1;\n"         // 0
                                  "mov.b32 b, 2;\n"         // 1
                                  "L: add.u32 a, a, b;\n"   // 2
                                  "setp.lt.u32 p, a, 9;\n"  // 3
                                  "bar.sync 0;\n"           // 4
                                  "@p bra L;\n"             // 5
                                  "@q bra E;\n"             // 6
                                  "st.shared.u32 [8], c;\n" // 7
                                  "E: exit;");
    static const char *const before[] = {"c q",       "a c q",     "a b c q", "a b c q",
                                         "a b c p q", "a b c p q", "c q",     "c"};
    for (unsigned k = 0; k < sizeof before / sizeof *before; k++) {
        char where[8];
        snprintf(where, sizeof where, "%u", k);
        assert_true(gr_live_before(&live, nth_instr(f, k), set));
        check_set(f, where, before[k]);
    }
    done();
}

static void test_dead(void **state) {
    (void)state;
    const PtxFunc *f = build(REGS "atom.global.add.u32 a, [x], 1;\n" // 0
                                  "atom.global.add.u32 b, [x], 1;\n" // 1
                                  "atom.global.add.u32 _, [x], 1;\n" // 2
                                  "red.global.add.u32 [x], 1;\n"     // 3
                                  "mov.b64 {c, d}, x;\n"             // 4
                                  "st.global.u32 [x], b;\n"          // 5
                                  "st.global.u32 [x], d;\nret;");
    static const bool dead[] = {true, false, true, false, false, false};
    for (unsigned k = 0; k < sizeof dead / sizeof *dead; k++)
        assert_int_equal(gr_live_is_dead(&live, nth_instr(f, k), set), dead[k]);
    done();
}

// ---- Random functions ------------------------------------------------------------------------------------------

// `add.u32 rA, rB, rC` with and without guard p, and branches. The definition: some way leads to a statement that reads
// r, and none of the statements before it on that way writes r for certain.
static bool is_live(const PtxStmt *s, const PtxReg *r, uint8_t *seen, const PtxFunc *f) {
    for (; s; s = s->next) {
        if (s->kind != PTX_INSTR)
            continue;
        const PtxInstr *i = s->instr;
        if (seen[s->line])
            return false;
        seen[s->line] = 1;
        if (i->guard == r)
            return true;
        if (i->op == PTX_OP_RET)
            return false;
        if (i->op == PTX_OP_BRA) {
            if (is_live(i->operands[0].label->stmt, r, seen, f))
                return true;
            if (!i->guard)
                return false;
            continue;
        }
        if (i->operands[1].reg == r || i->operands[2].reg == r)
            return true;
        if (i->operands[0].reg == r && !i->guard)
            return false;
    }
    return false;
}

static void test_random(void **state) {
    (void)state;
    enum { FUNCTIONS = 300, LINES = 40 };
    unsigned found = 0, all = 0;
    for (uint64_t seed = 1; seed <= FUNCTIONS; seed++) {
        Rng rng = gr_rng(seed);
        StrBuf body = {0};
        gr_str_add(&body, ".reg .pred p; .reg .b32 r<6>;\n");
        for (unsigned k = 0; k < LINES; k++) {
            gr_str_addf(&body, "L%u:%s", k, gr_rng_below(&rng, 4) ? " " : " @p ");
            if (gr_rng_below(&rng, 4))
                gr_str_addf(&body, "add.u32 r%u, r%u, r%u;\n", gr_rng_below(&rng, 6), gr_rng_below(&rng, 6),
                            gr_rng_below(&rng, 6));
            else
                gr_str_addf(&body, "bra L%u;\n", gr_rng_below(&rng, LINES + 1));
        }
        gr_str_addf(&body, "L%u: ret;", LINES);
        const PtxFunc *f = build(body.data);
        for (const PtxStmt *s = f->first; s; s = s->next) {
            if (s->kind != PTX_INSTR || cfg.blocks[gr_cfg_block_of(&cfg, s)].rpo == UINT32_MAX)
                continue;
            assert_true(gr_live_before(&live, s, set));
            for (uint32_t k = 0; k < f->n_regs; k++) {
                uint8_t seen[LINES + 16] = {0};
                bool is = is_live(s, f->regs[k], seen, f);
                if (is != gr_live_has(&live, set, f->regs[k]))
                    fail_msg("seed %u, line %u: %s is %slive\n%s", (unsigned)seed, s->line, f->regs[k]->name,
                             is ? "" : "not ", body.data);
                found += is, all++;
            }
        }
        done();
        gr_str_free(&body);
    }
    assert_in_range(found * 100 / all, 10, 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_ways),
                                       cmocka_unit_test(test_dead), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
