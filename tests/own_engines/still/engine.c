// SPDX-License-Identifier: Apache-2.0
// engine still — an engine of the tests' own that needs no run: in PTX files it looks for stores without a guard to a
// fixed place of a variable. Words behind `--` are names of kernels that it leaves open.
#include "engines/core/engine.h"
#include "base/str.h"
#include "options/options.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

static const GrClass classes[] = {
#define CLASS(id, number, text, meaning) {number, text, meaning, GR_KIND_RACE},
#include "classes.def"
#undef CLASS
    {.number = 0},
};

static bool is_fixed_store(const PtxSite *s) {
    const PtxInstr *i = s->stmt->instr;
    const PtxOperand *a = i->n_operands ? &i->operands[0] : NULL;
    return i->op == PTX_OP_ST && !s->strong && !i->guard && a && a->kind == PTX_O_ADDRESS && a->n_sub == 1 &&
           a->sub[0].kind == PTX_O_VAR && (s->space == PTX_GLOBAL || s->space == PTX_SHARED);
}

static gr_status report(const PtxSite *s, const char *file, const GrStaticSink *to, gr_error *err) {
    char *kernel = gr_arena_strdup(to->arena, s->func->name), *path = gr_arena_strdup(to->arena, file);
    if (!kernel || !path)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    GrAccess a = {.kind = "store",
                  .at = {.function = kernel, .file = path, .line = s->stmt->line},
                  .ptx_line = s->stmt->line,
                  .size = s->size,
                  .kernel = kernel};
    GrFinding f = {.class = classes[0].number,
                   .kernel = kernel,
                   .module = path,
                   .space = s->space == PTX_SHARED ? "shared" : "global",
                   .count = 1,
                   .accesses = {a, a},
                   .n_accesses = 2};
    return to->findings.take(to->findings.user, &f) ? GR_OK : gr_fail(err, GR_ERR_NOMEM, "out of memory");
}

static bool is_open(const GrStaticInput *in, const char *kernel) {
    for (const char *const *w = in->words; *w; w++)
        if (!strcmp(*w, kernel))
            return true;
    return false;
}

static gr_status check_file(const GrStaticInput *in, const char *file, const GrStaticSink *to,
                            gr_error *err) {
    gr_status st;
    char *text = NULL;
    size_t len;
    PtxModule *m = NULL;
    GR_TRY(gr_file_read(file, &text, &len, err));
    GR_TRY(gr_ptx_parse(text, len, file, &m, err));
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        const PtxFunc *f = m->funcs[k];
        char open[300];
        snprintf(open, sizeof open, "kernel %s was left open", f->name);
        if (f->is_entry && f->has_body)
            GR_TRY(is_open(in, f->name) ? to->reason(to->user, open) : to->kernel(to->user, f->name, file));
    }
    for (uint32_t k = 1; k <= m->n_sites; k++)
        if (m->sites[k].func->is_entry && !is_open(in, m->sites[k].func->name) &&
            is_fixed_store(&m->sites[k]))
            GR_TRY(report(&m->sites[k], file, to, err));
done:
    gr_ptx_free(m);
    free(text);
    return st;
}

static gr_status check(const GrStaticInput *in, const GrStaticSink *to, gr_error *err) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < in->n && st == GR_OK; k++) {
        gr_error why = {0};
        char text[sizeof why.file + sizeof why.msg + 32];
        st = check_file(in, in->files[k], to, &why);
        if (st != GR_OK && st != GR_ERR_NOMEM)
            st = to->unread(to->user, gr_error_text(&why, text, sizeof text));
        else if (st != GR_OK)
            *err = why;
    }
    return st;
}

static const GrStaticEngine table = {check};

const GrEngine gr_engine_still = {
    .name = "still",
    .summary = "finds stores of all threads to one place, in PTX files (tests only)",
    .evidence = "read in the text",
    .caps = CAP_CHECKS | CAP_STATIC,
    .classes = classes,
    .still = &table,
};
