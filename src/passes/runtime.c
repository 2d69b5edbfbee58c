// SPDX-License-Identifier: Apache-2.0
#include "passes/runtime.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

gr_status gr_runtime_link(PtxModule *m, const char *ptx, const char *suffix, gr_error *err) {
    gr_status st = GR_OK;
    PtxModule *runtime = NULL;
    StrBuf text = {0};
    char prefix[32];
    snprintf(prefix, sizeof prefix, "__gr%s_", suffix);
    const char *from = ptx;
    for (const char *at; (at = strstr(from, "__gr_")); from = at + strlen("__gr_")) {
        gr_str_addn(&text, from, (size_t)(at - from));
        gr_str_add(&text, prefix);
    }
    gr_str_add(&text, from);
    if (text.oom)
        st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
    else {
        GR_TRY(gr_ptx_parse(text.data, text.len, "device runtime", &runtime, err));
        GR_TRY(gr_ptx_link_runtime(m, runtime, err));
    }
done:
    gr_ptx_free(runtime);
    gr_str_free(&text);
    return st;
}
