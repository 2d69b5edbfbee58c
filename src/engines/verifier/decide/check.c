// SPDX-License-Identifier: Apache-2.0
// check — the verifier's way through the files: which kernels are in them, and what is said of each.
#include "engines/verifier/verifier.h"

#include "base/str.h"
#include "ptx/ptx.h"

#include <stdlib.h>

// Each kernel of the module is open: nothing decides about accesses yet.
static gr_status leave_open(const PtxModule *m, const char *file, const GrStaticSink *to) {
    gr_status st = GR_OK;
    for (uint32_t k = 0; k < m->n_funcs && st == GR_OK; k++) {
        const PtxFunc *f = m->funcs[k];
        if (!f->is_entry || !f->has_body)
            continue;
        StrBuf text = {0};
        gr_str_addf(&text, "unknown: kernel %s of %s: this build decides nothing about accesses", f->name,
                    file);
        st = text.oom ? GR_ERR_NOMEM : to->reason(to->user, text.data);
        gr_str_free(&text);
    }
    return st;
}

static gr_status check_ptx(const char *file, const GrStaticSink *to, gr_error *err) {
    gr_status st;
    char *text = NULL;
    size_t len;
    PtxModule *m = NULL;
    GR_TRY(gr_file_read(file, &text, &len, err));
    GR_TRY(gr_ptx_parse(text, len, file, &m, err));
    GR_TRY(leave_open(m, file, to));
done:
    gr_ptx_free(m);
    free(text);
    return st;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

gr_status gr_verifier_check(const GrStaticInput *in, const GrVerifierSettings *set, const GrStaticSink *to,
                            gr_error *err) {
    gr_status st = GR_OK;
    (void)set;
    for (size_t k = 0; k < in->n && st == GR_OK; k++) {
        StrBuf text = {0};
        if (ends_with(in->files[k], ".ptx")) {
            st = check_ptx(in->files[k], to, err);
            continue;
        }
        gr_str_addf(&text, "unknown: %s: this build reads PTX only", in->files[k]);
        st = text.oom ? GR_ERR_NOMEM : to->reason(to->user, text.data);
        gr_str_free(&text);
    }
    return st;
}
