// SPDX-License-Identifier: Apache-2.0
// host_facts [--classes LIST] FILE.cu... [-- words for nvcc]: prints what the host code says of launches.
#include "engines/verifier/host/host.h"

#include <stdlib.h>
#include <string.h>

static void print_term(const GrTerm *a, StrBuf *out) {
    StrBuf text = {0}; // its own: a term that is too long for a text is cut by the text's length
    if (a)
        gr_term_print(a, &text);
    gr_str_add(out, text.data ? text.data : "?");
    out->oom |= text.oom;
    gr_str_free(&text);
}

static void print_three(const char *what, const GrTerm *const v[3], StrBuf *out) {
    gr_str_addf(out, "  %s ", what);
    for (int k = 0; k < 3; k++) {
        gr_str_add(out, k ? ", " : "(");
        print_term(v[k], out);
    }
    gr_str_add(out, ")\n");
}

static void print_allocation(const GrAllocation *a, StrBuf *out) {
    gr_str_addf(out, "%s#%u", a->name && *a->name ? a->name : "memory", a->id);
    gr_str_addf(out, " (%s", a->call);
    if (a->line)
        gr_str_addf(out, ", line %u", a->line);
    if (a->size) {
        gr_str_add(out, ", ");
        print_term(a->size, out);
        gr_str_add(out, " bytes");
    }
    gr_str_add(out, a->distinct ? ")" : ", may be other memory)");
}

static void print_choices(const GrArgument *a, StrBuf *out) {
    for (size_t k = 0; k < a->n_choices; k++) {
        const GrChoice *c = &a->choices[k];
        gr_str_addf(out, "%s%s#%u", k ? ", or " : "", c->allocation->name ? c->allocation->name : "memory",
                    c->allocation->id);
        gr_str_addf(out, "%s if ", c->allocation->several ? " of an earlier round" : "");
        print_term(c->when, out);
    }
}

static void print_argument(const GrArgument *a, StrBuf *out) {
    gr_str_addf(out, "  argument %u", a->param);
    if (a->offset)
        gr_str_addf(out, "+%u", a->offset);
    gr_str_addf(out, ".%u: ", a->bits);
    if (a->value) {
        print_term(a->value, out);
    } else if (a->allocation) {
        print_allocation(a->allocation, out);
        if (a->at && !gr_term_is_const(a->at, 0)) {
            gr_str_add(out, " + ");
            print_term(a->at, out);
        } else if (!a->at) {
            gr_str_add(out, " + ?");
        }
    } else if (a->n_choices) {
        print_choices(a, out);
    } else {
        gr_str_add(out, "a pointer");
    }
    gr_str_addc(out, '\n');
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

static void print_launch(const GrHostLaunch *l, StrBuf *out) {
    gr_str_addf(out, "launch of %s at %s:%u in %s%s\n", l->kernel, base_name(l->file), l->line,
                l->function ? l->function : "?", l->cooperative ? ", cooperative" : "");
    print_three("grid", l->grid, out);
    print_three("block", l->block, out);
    if (l->shared_bytes && !gr_term_is_const(l->shared_bytes, 0)) {
        gr_str_add(out, "  shared ");
        print_term(l->shared_bytes, out);
        gr_str_addc(out, '\n');
    }
    for (size_t k = 0; k < l->arguments.len; k++)
        print_argument(&l->arguments.data[k], out);
    for (size_t k = 0; k < l->facts.len; k++) {
        const GrFact *f = &l->facts.data[k];
        gr_str_addf(out, "  fact %d, line %u: ", f->class, f->line);
        print_term(f->term, out);
        if (f->text)
            gr_str_addf(out, "  -- %s", f->text);
        gr_str_addc(out, '\n');
    }
    for (size_t k = 0; k < l->gaps.len; k++)
        gr_str_addf(out, "  gap: %s\n", l->gaps.data[k]);
}

static void print_host(const GrHost *h, StrBuf *out) {
    for (size_t k = 0; k < h->launches.len; k++)
        print_launch(h->launches.data[k], out);
    for (size_t k = 0; k < h->remarks.len; k++)
        gr_str_addf(out, "remark: %s\n", h->remarks.data[k]);
    for (size_t k = 0; k < h->unread.len; k++)
        gr_str_addf(out, "unread: %s\n", h->unread.data[k]);
    for (size_t k = 0; k < h->reasons.len; k++)
        gr_str_addf(out, "reason: %s\n", h->reasons.data[k]);
}

int main(int argc, char **argv) {
    GrHostInput in = {.classes = GR_FACTS_ALL};
    int k = 1;
    if (argc > 2 && !strcmp(argv[1], "--classes")) {
        in.classes = 0;
        for (const char *c = argv[2]; *c; c++)
            in.classes |= *c >= '1' && *c <= '5' ? 1u << (*c - '0') : 0;
        k = 3;
    }
    int from = k;
    while (k < argc && strcmp(argv[k], "--"))
        k++;
    GrHostSource *sources = calloc((size_t)argc, sizeof *sources);
    for (int f = from; f < k && sources; f++)
        sources[in.n_sources++] = (GrHostSource){.file = argv[f],
                                                 .words = (const char *const *)argv + k + 1,
                                                 .n_words = k < argc ? (size_t)(argc - k - 1) : 0};
    in.sources = sources;
    GrTerms t;
    GrHost host;
    GrHostCode code;
    StrBuf text = {0};
    gr_error err = {0};
    gr_terms_init(&t);
    gr_status st = gr_host_facts(&t, &in, &host, &code, &err);
    print_host(&host, &text);
    for (size_t p = 0; p < code.ptx.len; p++)
        gr_str_addf(&text, "ptx: %zu bytes of %s\n", code.ptx.data[p].len, code.ptx.data[p].file);
    fputs(text.data ? text.data : "", stdout);
    if (st != GR_OK)
        printf("error: %s\n", err.msg);
    gr_str_free(&text);
    gr_host_code_free(&code);
    gr_host_free(&host);
    gr_terms_free(&t);
    free(sources);
    return st == GR_OK ? 0 : 1;
}
