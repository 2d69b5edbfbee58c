// SPDX-License-Identifier: Apache-2.0
// Which instructions the tracker counts as order, and how.
#include "engines/tracker/device/record.h"
#include "engines/tracker/pass/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ORDER(kind, scope, how)                                                                              \
    ((uint32_t)(GR_ORDER_##kind) | (uint32_t)(GR_STRONG_##scope) << GR_ORDER_SCOPE | (how))
enum { REL = GR_ORDER_RELEASES, ACQ = GR_ORDER_ACQUIRES, BOTH = REL | ACQ };

static const struct {
    const char *text;
    uint32_t order;
} rows[] = {
    {"bar.sync 0;", ORDER(BARRIER, CTA, BOTH)},
    {"barrier.sync.aligned 3;", ORDER(BARRIER, CTA, BOTH)},
    {"bar.sync 1, 64;", ORDER(SOME, CTA, BOTH)},
    {"bar.arrive 1, 64;", ORDER(SOME, CTA, REL)},
    {"bar.red.popc.u32 %r1, 0, %p1;", ORDER(BARRIER, CTA, BOTH)},
    {"bar.red.popc.u32 %r1, 0, 64, %p1;", ORDER(SOME, CTA, BOTH)},
    {"bar.warp.sync -1;", ORDER(WARP, CTA, BOTH)},
    {"barrier.cluster.arrive;", ORDER(CLUSTER, CLUSTER, REL)},
    {"barrier.cluster.arrive.relaxed;", 0},
    {"barrier.cluster.wait;", ORDER(CLUSTER, CLUSTER, ACQ)},
    {"membar.cta;", ORDER(FENCE, CTA, BOTH | GR_ORDER_SC)},
    {"membar.gl;", ORDER(FENCE, GPU, BOTH | GR_ORDER_SC)},
    {"membar.sys;", ORDER(FENCE, SYS, BOTH | GR_ORDER_SC)},
    {"fence.acq_rel.cta;", ORDER(FENCE, CTA, BOTH)},
    {"fence.sc.gpu;", ORDER(FENCE, GPU, BOTH | GR_ORDER_SC)},
    {"st.release.gpu.global.u32 [%rd1], 1;", ORDER(FENCE, GPU, REL)},
    {"ld.acquire.cta.global.u32 %r1, [%rd1];", ORDER(FENCE, CTA, ACQ)},
    {"atom.acq_rel.sys.global.add.u32 %r1, [%rd1], 1;", ORDER(FENCE, SYS, BOTH)},
    {"atom.global.add.u32 %r1, [%rd1], 1;", 0},
    {"st.relaxed.gpu.global.u32 [%rd1], 1;", 0},
    {"st.volatile.global.u32 [%rd1], 1;", 0},
    {"st.global.u32 [%rd1], 1;", 0},
    {"mbarrier.init.shared.b64 [%rd1], 1;", 0},
    {"mbarrier.arrive.shared.b64 %rd2, [%rd1];", ORDER(SOME, CTA, REL)},
    {"mbarrier.arrive.release.cluster.shared.b64 %rd2, [%rd1];", ORDER(SOME, CLUSTER, REL)},
    {"mbarrier.arrive.relaxed.cta.shared.b64 %rd2, [%rd1];", 0},
    {"mbarrier.test_wait.shared.b64 %p1, [%rd1], %rd2;", ORDER(SOME, CTA, ACQ | GR_ORDER_TOLD)},
    {"mbarrier.try_wait.acquire.cluster.shared.b64 %p1, [%rd1], %rd2;",
     ORDER(SOME, CLUSTER, ACQ | GR_ORDER_TOLD)},
    {"cp.async.wait_group 0;", ORDER(WAIT, CTA, 0)},
    {"cp.async.wait_all;", ORDER(WAIT, CTA, 0)},
    {"cp.async.commit_group;", ORDER(COMMIT, CTA, 0)},
    {"cp.async.bulk.commit_group;", ORDER(COMMIT, CTA, GR_ORDER_BULK)},
    {"cp.async.bulk.wait_group 1;", ORDER(WAIT, CTA, GR_ORDER_BULK)},
    {"cp.async.bulk.wait_group.read 0;", ORDER(WAIT, CTA, GR_ORDER_BULK | GR_ORDER_READ)},
    {"cp.async.mbarrier.arrive.shared.b64 [%rd1];", ORDER(WAIT, CLUSTER, REL)},
    {"shfl.sync.idx.b32 %r1, %r1, 0, 31, -1;", 0},
};

static void test_rows(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[512];
        gr_error err = {0};
        PtxModule *m;
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n.reg .pred %%p<4>; .reg .b32 "
                 "%%r<4>; .reg .b64 "
                 "%%rd<4>;\n%s\nret;\n}\n",
                 rows[k].text);
        assert_int_equal(gr_ptx_parse(text, strlen(text), "row", &m, &err), GR_OK);
        const PtxStmt *s = m->funcs[0]->first;
        while (s->kind != PTX_INSTR)
            s = s->next;
        if (gr_tracker_order(s->instr) != rows[k].order)
            fail_msg("%s: 0x%x, not 0x%x", rows[k].text, gr_tracker_order(s->instr), rows[k].order);
        gr_ptx_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
