// SPDX-License-Identifier: Apache-2.0
// missing — in place of what reads LLVM IR, in a build without LLVM.
#include "engines/verifier/host/host.h"

gr_status gr_host_read(GrTerms *t, const char *const *bitcode, size_t n, unsigned classes, GrHost *out,
                       gr_error *err) {
    (void)t;
    (void)bitcode;
    (void)n;
    (void)classes;
    (void)out;
    return gr_fail(err, GR_ERR_UNSUPPORTED, "this gpurace was built without LLVM 19");
}

gr_status gr_host_has_main(const char *bitcode, bool *has, gr_error *err) {
    (void)bitcode;
    (void)err;
    *has = false;
    return GR_OK;
}
