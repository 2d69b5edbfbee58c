// SPDX-License-Identifier: Apache-2.0
// read — bitcode files of the user's host code, as one program.
#include "engines/verifier/host/find.h"
#include "engines/verifier/host/host.h"

gr_status gr_host_read(GrTerms *t, const char *const *bitcode, size_t n, unsigned classes, GrHost *out,
                       gr_error *err) {
    Ir ir;
    if (!n)
        return GR_OK;
    gr_status st = gr_ir_read(&ir, bitcode, n, err);
    if (st == GR_OK)
        st = gr_find_launches(&ir, t, classes, out, err);
    gr_ir_free(&ir);
    return st;
}

gr_status gr_host_has_main(const char *bitcode, bool *has, gr_error *err) {
    return gr_ir_has_main(bitcode, has, err);
}
