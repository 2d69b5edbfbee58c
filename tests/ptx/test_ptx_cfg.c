// SPDX-License-Identifier: Apache-2.0
// Control-flow graphs: blocks, edges, dominators and post-dominators, on shapes drawn by hand and, against the
// definitions, on random ones.
#include "base/rng.h"
#include "ptx/cfg.h"
#include "ptx_test.h"

static Arena arena;

static PtxModule *module_;
static Cfg build(const char *body) {
    module_ = parse_body(body);
    Cfg g;
    gr_error err = {0};
    if (gr_cfg_build(module_->funcs[0], &arena, &g, &err) != GR_OK)
        fail_msg("%s", err.msg);
    return g;
}

static void done(void) {
    gr_ptx_free(module_);
    gr_arena_free(&arena);
}

// "1 2" for the successors of a block.
static void check_succs(const Cfg *g, uint32_t block, const char *want) {
    StrBuf s = {0};
    gr_str_add(&s, "");
    for (uint32_t k = 0; k < g->blocks[block].n_succs; k++)
        gr_str_addf(&s, k ? " %u" : "%u", g->blocks[block].succs[k]);
    if (strcmp(s.data ? s.data : "", want) != 0)
        fail_msg("block %u goes to '%s', not '%s'", block, s.data, want);
    gr_str_free(&s);
}

static void test_diamond(void **state) {
    (void)state;
    Cfg g = build(
        ".reg .pred p; .reg .b32 r;\n@p bra B;\nmov.b32 r, 1;\nbra.uni C;\nB: mov.b32 r, 2;\nC: D: ret;");
    assert_int_equal(g.n_blocks, 5);
    check_succs(&g, 0, "1 2");
    check_succs(&g, 1, "3");
    check_succs(&g, 2, "3");
    check_succs(&g, 3, "4");
    assert_int_equal(g.blocks[0].idom, UINT32_MAX);
    assert_int_equal(g.blocks[3].idom, 0);
    assert_int_equal(g.blocks[0].ipdom, 3);
    assert_int_equal(g.blocks[1].ipdom, 3);
    assert_int_equal(g.blocks[3].ipdom, 4);
    assert_int_equal(g.blocks[4].ipdom, UINT32_MAX);
    assert_true(gr_cfg_dominates(&g, 0, 4));
    assert_false(gr_cfg_dominates(&g, 1, 3));
    assert_true(gr_cfg_postdominates(&g, 3, 0));
    assert_false(gr_cfg_postdominates(&g, 1, 0));
    assert_null(g.blocks[4].first);
    assert_int_equal(g.blocks[3].n_preds, 2);
    for (PtxStmt *s = g.func->first; s; s = s->next)
        assert_true(gr_cfg_block_of(&g, s) < 4);
    assert_int_equal(gr_cfg_block_of(&g, g.func->last), 3);
    assert_int_equal(gr_cfg_block_of(&g, g.func->first), 0);
    done();
}

static void test_loops_exits_and_tables(void **state) {
    (void)state;
    Cfg g = build(".reg .pred p; .reg .b32 r;\n"
                  "ts: .branchtargets A, B, A;\n" // 0
                  "brx.idx r, ts;\n"
                  "dead: mov.b32 r, 1;\n"           // 1: nobody comes here
                  "A: @p exit;\n"                   // 2
                  "L: add.u32 r, r, 1; @p bra L;\n" // 3 4
                  "trap;\n"                         // 5
                  "B: @p bra A;\n"                  // 6
                  "spin: bra spin;\n");             // 7
    assert_int_equal(g.n_blocks, 8);
    check_succs(&g, 0, "2 5");
    check_succs(&g, 1, "2");
    check_succs(&g, 2, "3 7");
    check_succs(&g, 3, "4 3");
    check_succs(&g, 4, "7");
    check_succs(&g, 5, "6 2");
    check_succs(&g, 6, "6");
    assert_true(g.blocks[6].to_exit);
    assert_int_equal(g.blocks[6].ipdom, 7);
    assert_int_equal(g.blocks[5].ipdom, 7);
    assert_int_equal(g.blocks[1].rpo, UINT32_MAX);
    assert_int_equal(g.blocks[1].idom, UINT32_MAX);
    assert_int_equal(g.blocks[1].ipdom, 2);
    assert_int_equal(g.n_order, 7);
    assert_int_equal(g.order[0], 0);
    done();
}

static void test_calls_that_do_not_return(void **state) {
    (void)state;
    module_ = parse(
        HEADER
        ".func die() .noreturn { trap; }\n.entry k() { .reg .pred p; @p bra L; call.uni die; L: ret; }");
    Cfg g;
    assert_int_equal(gr_cfg_build(gr_ptx_find_func(module_, "k"), &arena, &g, NULL), GR_OK);
    check_succs(&g, 1, "3");
    done();
}

static void test_empty_and_foreign(void **state) {
    (void)state;
    Cfg g = build("");
    assert_int_equal(g.n_blocks, 1);
    assert_int_equal(g.n_order, 1);
    done();
    module_ = parse(HEADER ".entry a() { L: ret; }\n.entry b() { M: bra M; }");
    PtxFunc *a = gr_ptx_find_func(module_, "a"), *b = gr_ptx_find_func(module_, "b");
    nth_instr(b, 0)->instr->operands[0].label = a->first->label;
    gr_error err = {0};
    assert_int_equal(gr_cfg_build(b, &arena, &g, &err), GR_ERR_SYNTAX);
    assert_non_null(strstr(err.msg, "'L', which is not in function 'b'"));
    done();
}

// Whether `to` can be reached from `from` without passing `without`.
static bool reaches(const Cfg *g, uint32_t from, uint32_t to, uint32_t without, bool extra) {
    bool seen[64] = {false};
    uint32_t stack[64], n = 0;
    if (from == without)
        return false;
    stack[n++] = from;
    seen[from] = true;
    while (n) {
        const CfgBlock *b = &g->blocks[stack[--n]];
        if (b->id == to)
            return true;
        for (uint32_t k = 0; k <= b->n_succs; k++) {
            if (k == b->n_succs && !(extra && b->to_exit))
                break;
            uint32_t next = k == b->n_succs ? g->n_blocks - 1 : b->succs[k];
            if (next != without && !seen[next]) {
                seen[next] = true;
                stack[n++] = next;
            }
        }
    }
    return false;
}

static void test_random_against_the_definition(void **state) {
    (void)state;
    Rng rng = gr_rng(7);
    for (int round = 0; round < 300; round++) {
        // Branches lead no further than a few blocks: then there are long chains of dominators.
        bool near = round % 2;
        uint32_t n = 1 + gr_rng_below(&rng, near ? 50 : 20);
        StrBuf s = {0};
        gr_str_add(&s, ".reg .pred p;\n");
        for (uint32_t k = 0; k < n; k++) {
            gr_str_addf(&s, "L%u: ", k);
            uint32_t what = gr_rng_below(&rng, 10);
            gr_str_addf(&s,
                        what < 5    ? "@p bra L%u;\n"
                        : what < 8  ? "bra L%u;\n"
                        : what == 8 ? "@p ret; // %u\n"
                                    : "ret; // %u\n",
                        near ? (k + n + gr_rng_below(&rng, 6) - 2) % n : gr_rng_below(&rng, n));
        }
        Cfg g = build(s.data);
        uint32_t exit = g.n_blocks - 1;
        for (uint32_t b = 0; b < g.n_blocks; b++) {
            assert_true((g.blocks[b].rpo != UINT32_MAX) == reaches(&g, 0, b, UINT32_MAX, false));
            assert_true(b == exit || reaches(&g, b, exit, UINT32_MAX, true));
            for (uint32_t a = 0; a < g.n_blocks; a++) {
                if (g.blocks[b].rpo != UINT32_MAX && g.blocks[a].rpo != UINT32_MAX)
                    assert_int_equal(gr_cfg_dominates(&g, a, b), a == b || !reaches(&g, 0, b, a, false));
                assert_int_equal(gr_cfg_postdominates(&g, a, b), a == b || !reaches(&g, b, exit, a, true));
            }
        }
        done();
        gr_str_free(&s);
    }
}

// A chain of blocks, each with a branch to the same end and to the same begin: looked at one by one for each branch,
// that would be their square.
static void test_a_long_chain(void **state) {
    (void)state;
    enum { BLOCKS = 200000 };
    StrBuf s = {0};
    gr_str_add(&s, ".reg .pred p;\nTOP: ");
    for (uint32_t k = 0; k < BLOCKS; k++)
        gr_str_add(&s, k % 2 ? "@p bra END;\n" : "@p bra TOP;\n");
    gr_str_add(&s, "END: ret;");
    Cfg g = build(s.data);
    assert_int_equal(g.n_blocks, BLOCKS + 2);
    assert_int_equal(g.blocks[BLOCKS].idom, 1);
    assert_int_equal(g.blocks[BLOCKS - 1].idom, BLOCKS - 2);
    assert_int_equal(g.blocks[0].ipdom, 1);
    assert_int_equal(g.blocks[1].ipdom, BLOCKS);
    done();
    gr_str_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diamond),
        cmocka_unit_test(test_loops_exits_and_tables),
        cmocka_unit_test(test_calls_that_do_not_return),
        cmocka_unit_test(test_empty_and_foreign),
        cmocka_unit_test(test_random_against_the_definition),
        cmocka_unit_test(test_a_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
