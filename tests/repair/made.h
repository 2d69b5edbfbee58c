// SPDX-License-Identifier: Apache-2.0
// made — findings that were made up of a small source, and the edits that are proposed for them. For unit tests, each
// test of which begins with fresh() and ends with done().
#ifndef GR_TESTS_REPAIR_MADE_H
#define GR_TESTS_REPAIR_MADE_H

#include "repair/propose.h"
#include "scratch.h"

static GrRepairs repairs;
static GrProposal proposals[GR_REPAIR_PROPOSALS];
static char *edited;

static int fresh(void **state) {
    (void)state;
    memset(&repairs, 0, sizeof repairs);
    gr_arena_init(&repairs.arena);
    edited = NULL;
    return 0;
}

static int done(void **state) {
    (void)state;
    gr_repairs_free(&repairs);
    free(edited);
    return 0;
}

static GrAccess at(uint32_t line, const char *strong) {
    return (GrAccess){.kind = "store", .at = {.file = path, .line = line}, .strong = strong};
}

// A finding between these lines, the later access first.
typedef struct Made {
    uint32_t later, earlier;
    const char *order;
} Made;

// How many edits are proposed that fit all `n` findings of `source`.
static unsigned propose_all(const char *source, const Made *made, size_t n) {
    GrFinding f[8];
    const GrFinding *all[8];
    assert_true(n <= 8);
    assert_int_equal(GR_OK, gr_file_write(path, source, strlen(source), NULL));
    for (size_t k = 0; k < n; k++) {
        f[k] = (GrFinding){.order = made[k].order,
                           .n_accesses = 2,
                           .kernel = "k",
                           .accesses = {at(made[k].later, "cta"), at(made[k].earlier, "cta")}};
        all[k] = &f[k];
    }
    return gr_repair_propose(&repairs, all, n, proposals);
}

// The same of one finding.
static unsigned propose(const char *source, uint32_t later, uint32_t earlier, const char *order) {
    return propose_all(source, &(Made){later, earlier, order}, 1);
}

static const char *after(unsigned k) {
    StrBuf out = {0};
    free(edited);
    gr_repair_apply(&proposals[k], &out);
    edited = gr_str_take(&out);
    return edited;
}

#endif
