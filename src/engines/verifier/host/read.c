// SPDX-License-Identifier: Apache-2.0
// read — bitcode files of the user's host code: as one program, or as several where more than one has a main.
#include "engines/verifier/host/find.h"
#include "engines/verifier/host/host.h"

#include <stdlib.h>

static gr_status read_program(GrTerms *t, const char *const *bitcode, size_t n, unsigned classes, GrHost *out,
                              gr_error *err) {
    Ir ir;
    gr_status st = gr_ir_read(&ir, bitcode, n, err);
    if (st == GR_OK)
        st = gr_find_launches(&ir, t, classes, out, err);
    gr_ir_free(&ir);
    return st;
}

gr_status gr_host_read(GrTerms *t, const char *const *bitcode, size_t n, unsigned classes, GrHost *out,
                       gr_error *err) {
    gr_status st = GR_OK;
    VEC(const char *) mains = {0}, program = {0};
    // The first place is for one of the mains.
    bool ok = gr_vec_push(&program, NULL);
    for (size_t k = 0; k < n && ok; k++) {
        bool has = false;
        GR_TRY(gr_ir_has_main(bitcode[k], &has, err));
        ok = has ? gr_vec_push(&mains, bitcode[k]) : gr_vec_push(&program, bitcode[k]);
    }
    if (!ok)
        GR_TRY(gr_fail(err, GR_ERR_NOMEM, "reading host code"));
    if (mains.len <= 1 && n)
        GR_TRY(read_program(t, bitcode, n, classes, out, err));
    for (size_t k = 0; k < mains.len && mains.len > 1; k++) {
        program.data[0] = mains.data[k];
        GR_TRY(read_program(t, program.data, program.len, classes, out, err));
    }
done:
    gr_vec_free(&mains);
    gr_vec_free(&program);
    return st;
}
