// SPDX-License-Identifier: Apache-2.0
// read — bitcode files of the user's host code: as one program, or as several where more than one has a main.
#include "engines/verifier/host/find.h"
#include "engines/verifier/host/host.h"

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
    size_t mains = 0;
    for (size_t k = 0; k < n; k++) {
        bool has = false;
        GR_TRY(gr_ir_has_main(bitcode[k], &has, err));
        mains += has;
    }
    if (mains <= 1)
        return n ? read_program(t, bitcode, n, classes, out, err) : GR_OK;
    for (size_t k = 0; k < n; k++)
        GR_TRY(read_program(t, bitcode + k, 1, classes, out, err));
done:
    return st;
}
