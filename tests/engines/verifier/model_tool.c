// SPDX-License-Identifier: Apache-2.0
// model_tool FILE.ptx [-s] — prints the model of each kernel of a PTX file; -s: a line of figures for each instead.
#include "model_print.h"

#include <stdlib.h>

static void see_free(void *user, const GrSymbol *s) {
    if (s->kind == GR_SYM_FREE)
        *(bool *)user = true;
}

static void figures(const GrKernelModel *m) {
    unsigned free_offsets = 0, free_guards = 0, unknown = 0;
    for (size_t k = 0; k < m->accesses.len; k++) {
        const GrKernelAccess *a = m->accesses.data[k];
        bool offset = false, guard = false;
        gr_term_symbols(a->offset, see_free, &offset);
        gr_term_symbols(a->guard, see_free, &guard);
        free_offsets += offset;
        free_guards += guard;
        unknown += a->object->kind == GR_OBJECT_UNKNOWN;
    }
    printf("%s: accesses %zu, free offsets %u, free guards %u, unknown objects %u, loops %zu, barriers %zu, "
           "walks %u, gaps",
           m->func->name, m->accesses.len, free_offsets, free_guards, unknown, m->loops.len, m->barriers.len,
           m->walks);
    for (size_t k = 0; k < m->gaps.len; k++)
        printf(" [%s]", m->gaps.data[k].why);
    printf("\n");
}

int main(int argc, char **argv) {
    char *text = NULL;
    size_t len = 0;
    gr_error err = {0};
    PtxModule *m = NULL;
    if (argc < 2 || gr_file_read(argv[1], &text, &len, &err) != GR_OK ||
        gr_ptx_parse(text, len, argv[1], &m, &err) != GR_OK) {
        fprintf(stderr, "model_tool: %s\n", err.msg);
        return 1;
    }
    int status = 0;
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        const PtxFunc *f = m->funcs[k];
        if (!f->is_entry || !f->has_body)
            continue;
        GrTerms t;
        gr_terms_init(&t);
        GrKernelModel model;
        gr_status st = gr_kernel_model(&t, NULL, f, 0, &model, &err);
        if (st != GR_OK) {
            printf("%s: error: %s\n", f->name, err.msg);
            status = 2;
        } else if (argc > 2) {
            figures(&model);
        } else {
            StrBuf out = {0};
            model_print(&model, &out);
            fputs(out.data ? out.data : "", stdout);
            gr_str_free(&out);
        }
        gr_kernel_model_free(&model);
        gr_terms_free(&t);
    }
    gr_ptx_free(m);
    free(text);
    return status;
}
