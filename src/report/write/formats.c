// SPDX-License-Identifier: Apache-2.0
#include "report/write/formats.h"

const GrFormat gr_formats[] = {
#define FORMAT(word, function, file) {#word, file, function},
#include "report/write/formats.def"
#undef FORMAT
    {NULL, NULL, NULL},
};

gr_status gr_format_text(const GrReport *r, StrBuf *out, gr_error *err) {
    gr_report_text(r, out);
    return out->oom ? gr_no_memory(err) : GR_OK;
}
