// SPDX-License-Identifier: Apache-2.0
// The texts of conformance rows; see row.h.
#include "row.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint8_t row_param[32] = {0x80, 0x7f, 0xff, 0xfe, 0x01, 0x92, 0xa3, 0x34, 0xc5, 0x56, 0xe7,
                               0xf8, 0x09, 0x1a, 0xab, 0x3c, 0x4d, 0xde, 0x6f, 0x70, 0x81, 0x12,
                               0xb3, 0xc4, 0xd5, 0x66, 0x77, 0x08, 0x19, 0xaa, 0x3b, 0xcc};

void row_text(Row *r, const char *format, ...) {
    size_t at = strlen(r->ptx);
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(r->ptx + at, sizeof r->ptx - at, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof r->ptx - at) {
        fprintf(stderr, "%s: the text is too long\n", r->name);
        exit(2);
    }
}

void row_begin(Row *r, const char *globals) {
    r->ptx[0] = 0;
    row_text(r,
             ".version 8.8\n.target sm_90\n.address_size 64\n%s"
             ".visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u32 p_n, .param .align 16 .b8 "
             "p_s[32]) {\n"
             ".reg .b32 %%i, %%n, %%ti;\n.reg .b64 %%in, %%out, %%o;\n.reg .pred %%gone;\n"
             "mov.u32 %%i, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\nmov.u32 %%ti, %%tid.x;\n"
             "mad.lo.u32 %%i, %%i, %%n, %%ti;\nld.param.u32 %%n, [p_n];\nsetp.ge.u32 %%gone, %%i, "
             "%%n;\n@%%gone exit;\n"
             "ld.param.u64 %%in, [p_in];\ncvta.to.global.u64 %%in, %%in;\nmul.wide.u32 %%o, %%i, %u;\n"
             "add.u64 %%in, %%in, %%o;\nld.param.u64 %%out, [p_out];\ncvta.to.global.u64 %%out, %%out;\n"
             "mul.wide.u32 %%o, %%i, %u;\nadd.u64 %%out, %%out, %%o;\n",
             globals, 8 * r->n_in, 8 * r->n_out);
}

void row_end(Row *r) { row_text(r, "ret;\n}\n"); }
