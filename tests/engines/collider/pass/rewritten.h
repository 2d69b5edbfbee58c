// SPDX-License-Identifier: Apache-2.0
// rewritten — PTX as the collider's pass rewrites it, for tests that run or count what is inserted.
#ifndef GR_TESTS_COLLIDER_REWRITTEN_H
#define GR_TESTS_COLLIDER_REWRITTEN_H

#include "base/str.h"
#include "engines/collider/pass/collider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Appends `program`, rewritten, to *text. Fails the test if it cannot be, or has more than `most` sites.
static inline void gr_test_rewrite(const char *program, const ColliderOptions *o, uint32_t most,
                                   StrBuf *text) {
    PtxModule *m;
    gr_error err = {0};
    if (gr_ptx_parse(program, strlen(program), "k", &m, &err) != GR_OK)
        fail_msg("%s: %s", program, err.msg);
    assert_in_range(m->n_sites, 0, most);
    GrSiteStatus *status = calloc((size_t)m->n_sites + 1, sizeof *status);
    assert_non_null(status);
    assert_int_equal(gr_collider_rewrite(m, o, status, &err), GR_OK);
    assert_int_equal(gr_ptx_print(m, 0, text, &err), GR_OK);
    gr_ptx_free(m);
    free(status);
}

#endif
