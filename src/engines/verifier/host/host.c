// SPDX-License-Identifier: Apache-2.0
// host — the lists of what is known, and their text.
#include "engines/verifier/host/host.h"

#include <stdlib.h>

const char gr_host_derived[] = "derived";

void gr_host_init(GrHost *h) {
    *h = (GrHost){0};
    gr_arena_init(&h->arena);
}

void gr_host_free(GrHost *h) {
    for (size_t k = 0; k < h->launches.len; k++) {
        GrHostLaunch *l = h->launches.data[k];
        gr_vec_free(&l->param_bytes);
        gr_vec_free(&l->arguments);
        gr_vec_free(&l->facts);
        gr_vec_free(&l->gaps);
    }
    gr_vec_free(&h->launches);
    gr_vec_free(&h->allocations);
    gr_vec_free(&h->remarks);
    gr_vec_free(&h->reasons);
    gr_vec_free(&h->unread);
    gr_arena_free(&h->arena);
}

void gr_host_code_free(GrHostCode *c) {
    for (size_t k = 0; k < c->ptx.len; k++)
        free(c->ptx.data[k].text);
    gr_vec_free(&c->ptx);
    gr_vec_free(&c->programs);
}

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

void gr_host_print(const GrHost *h, StrBuf *out) {
    for (size_t k = 0; k < h->launches.len; k++)
        print_launch(h->launches.data[k], out);
    for (size_t k = 0; k < h->remarks.len; k++)
        gr_str_addf(out, "remark: %s\n", h->remarks.data[k]);
    for (size_t k = 0; k < h->unread.len; k++)
        gr_str_addf(out, "unread: %s\n", h->unread.data[k]);
    for (size_t k = 0; k < h->reasons.len; k++)
        gr_str_addf(out, "reason: %s\n", h->reasons.data[k]);
}
