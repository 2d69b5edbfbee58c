// SPDX-License-Identifier: Apache-2.0
// model — values of symbols, cells of memory, and the machine's opinion of them.
#include "engines/verifier/solve/model.h"

#include "engines/verifier/solve/child.h"
#include "engines/verifier/term/machine.h"

#include <stdlib.h>
#include <string.h>

bool gr_model_init(GrSolverModel *m, const GrTerms *t) {
    *m = (GrSolverModel){.n_values = t->n_symbols};
    m->values = calloc(t->n_symbols ? t->n_symbols : 1, sizeof *m->values);
    if (!m->values)
        return false;
    for (uint32_t k = 0; k < t->n_symbols; k++) {
        const GrSymbol *s = t->symbols[k];
        int64_t v = s->low > 0 ? s->low : s->high < 0 ? s->high : 0;
        m->values[k] = (uint64_t)v & gr_mask_bits(s->bits);
    }
    return true;
}

void gr_model_free(GrSolverModel *m) {
    free(m->values);
    free(m->cells);
    *m = (GrSolverModel){0};
}

static uint64_t symbol_value(void *user, const GrSymbol *s) {
    const GrSolverModel *m = user;
    if (s->id < m->n_values)
        return m->values[s->id];
    int64_t v = s->low > 0 ? s->low : s->high < 0 ? s->high : 0; // made after the model
    return (uint64_t)v & gr_mask_bits(s->bits);
}

static uint64_t cell_value(void *user, const GrSymbol *object, uint64_t offset, uint32_t bits) {
    const GrSolverModel *m = user;
    for (size_t k = 0; k < m->n_cells; k++)
        if (m->cells[k].object == object->id && m->cells[k].offset == offset && m->cells[k].bits == bits)
            return m->cells[k].value;
    return 0;
}

GrValues gr_solver_values(const GrSolverModel *m) {
    return (GrValues){symbol_value, cell_value, (void *)(uintptr_t)m};
}

bool gr_model_reads(GrSolverModel *m, const GrTerm *const *reads, const uint64_t *values, size_t n) {
    m->cells = calloc(n ? n : 1, sizeof *m->cells);
    if (!m->cells)
        return false;
    GrValues machine = gr_solver_values(m);
    for (size_t k = 0; k < n; k++) {
        uint64_t offset;
        if (!gr_term_value(reads[k]->arg[0], &machine, &offset))
            return false;
        bool there = false;
        for (size_t c = 0; c < m->n_cells; c++)
            there |= m->cells[c].object == reads[k]->sym->id && m->cells[c].offset == offset &&
                     m->cells[c].bits == reads[k]->bits;
        if (!there)
            m->cells[m->n_cells++] = (struct GrSolverCell){.object = reads[k]->sym->id,
                                                           .bits = reads[k]->bits,
                                                           .offset = offset,
                                                           .value = values[k] & gr_mask_bits(reads[k]->bits)};
    }
    return true;
}

// ---- On a machine ------------------------------------------------------------------------------------------------

static bool in_range(const GrSolverModel *m, const GrTerms *t) {
    for (uint32_t k = 0; k < t->n_symbols && k < m->n_values; k++) {
        const GrSymbol *s = t->symbols[k];
        int64_t v = s->bits == 1 ? (int64_t)m->values[k] : gr_sign_extend(m->values[k], s->bits);
        if (s->kind != GR_SYM_OBJECT && (v < s->low || v > s->high))
            return false;
    }
    return true;
}

// Whether no two cells say different things of a byte.
static bool consistent(const GrSolverModel *m) {
    for (size_t a = 0; a < m->n_cells; a++)
        for (size_t b = 0; b < a; b++) {
            const struct GrSolverCell *x = &m->cells[a], *y = &m->cells[b];
            if (x->object != y->object)
                continue;
            uint64_t wx = (x->bits + 7) / 8, wy = (y->bits + 7) / 8;
            for (uint64_t k = 0; k < wx; k++) {
                uint64_t other = x->offset + k - y->offset;
                if (other < wy && (x->value >> (8 * k) & 0xff) != (y->value >> (8 * other) & 0xff))
                    return false;
            }
        }
    return true;
}

GrHolds gr_model_holds(const GrSolverModel *m, const GrTerms *t, const GrQuery *q) {
    if (!in_range(m, t) || !consistent(m))
        return GR_HOLDS_NO;
    GrValues machine = gr_solver_values(m);
    for (size_t k = 0; k < q->n_terms; k++) {
        uint64_t v;
        if (!gr_term_value(q->terms[k], &machine, &v))
            return GR_HOLDS_NOMEM;
        if (!v)
            return GR_HOLDS_NO;
    }
    if (!q->overlap)
        return GR_HOLDS_YES;
    uint64_t a, b;
    if (!gr_term_value(q->overlap->a, &machine, &a) || !gr_term_value(q->overlap->b, &machine, &b))
        return GR_HOLDS_NOMEM;
    return b - a < q->overlap->a_size || a - b < q->overlap->b_size ? GR_HOLDS_YES : GR_HOLDS_NO;
}

// ---- Through a pipe ----------------------------------------------------------------------------------------------

bool gr_model_write(const GrSolverModel *m, int out) {
    uint64_t sizes[2] = {m->n_values, m->n_cells};
    return gr_child_write(out, sizes, sizeof sizes) &&
           gr_child_write(out, m->values, m->n_values * sizeof *m->values) &&
           gr_child_write(out, m->cells, m->n_cells * sizeof *m->cells);
}

bool gr_model_take(GrSolverModel *m, const char *data, size_t len) {
    uint64_t sizes[2];
    *m = (GrSolverModel){0};
    if (len < sizeof sizes)
        return false;
    memcpy(sizes, data, sizeof sizes);
    data += sizeof sizes;
    len -= sizeof sizes;
    if (sizes[0] > len || sizes[1] > len || len != sizes[0] * sizeof *m->values + sizes[1] * sizeof *m->cells)
        return false;
    m->values = malloc(sizes[0] * sizeof *m->values + 1);
    m->cells = malloc(sizes[1] * sizeof *m->cells + 1);
    if (!m->values || !m->cells) {
        gr_model_free(m);
        return false;
    }
    m->n_values = (uint32_t)sizes[0];
    m->n_cells = sizes[1];
    memcpy(m->values, data, m->n_values * sizeof *m->values);
    memcpy(m->cells, data + m->n_values * sizeof *m->values, m->n_cells * sizeof *m->cells);
    return true;
}

void gr_solved_free(GrSolved *s) {
    gr_model_free(&s->model);
    s->answer = GR_ANSWER_UNKNOWN;
}
