// SPDX-License-Identifier: Apache-2.0
#include "passes/runtime.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

gr_status gr_runtime_may_enter(const PtxModule *m, const char *text, size_t len, bool will_enter,
                               gr_error *err) {
    char name[80];
    const char *by = gr_ptx_rewritten_by(m);
    if (by)
        return gr_fail(
            err, GR_ERR_UNSUPPORTED,
            "it defines %s, as PTX does that `gpurace ptx` has rewritten: give the PTX that this was made of",
            by);
    if (will_enter && gr_ptx_reserved_name(text, len, name, sizeof name))
        return gr_fail(err, GR_ERR_UNSUPPORTED,
                       "its name %s begins as the names that gpurace gives to what it inserts: rename it, or "
                       "use --engine exact",
                       name);
    return GR_OK;
}

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

// nanosleep and match need sm_70 and PTX 6.3, where shuffles and votes without .sync no longer exist (PTX ISA 9.7.9.5).
gr_status gr_runtime_raise(PtxModule *m, gr_error *err) {
    if (m->address_size != 64)
        return gr_fail(err, GR_ERR_UNSUPPORTED, "%s uses %u-bit addresses; only 64-bit modules are checked",
                       m->name, m->address_size);
    if (m->sm < 70)
        for (uint32_t k = 0; k < m->n_funcs; k++)
            for (const PtxStmt *s = m->funcs[k]->first; s; s = s->next)
                if (s->kind == PTX_INSTR && (s->instr->op == PTX_OP_SHFL || s->instr->op == PTX_OP_VOTE) &&
                    !gr_ptx_instr_has(s->instr, PTX_MOD_sync))
                    return gr_fail_at(err, GR_ERR_UNSUPPORTED, m->name, s->line, s->col,
                                      "%s without .sync cannot be raised to sm_70, which the checks need: "
                                      "build for compute_75 or later",
                                      s->instr->opcode);
    gr_ptx_raise(m, 6, 3, 70);
    return GR_OK;
}
