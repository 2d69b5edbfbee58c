// SPDX-License-Identifier: Apache-2.0
// cluster — barriers of a cluster, and barriers that only some threads come to.
#include "repair/submits.h"

#include <string.h>

static bool is(const GrCode *c, uint32_t k, const char *word) {
    return k < c->tokens.len && gr_token_is(&c->tokens.data[k], word);
}

// "cl.sync();" for the function's cluster_group; else a barrier that needs no name. NULL: it knows no clusters.
static const char *barrier_of(GrRepairs *r, const GrPlace *at) {
    const GrCode *c = &at->file->code;
    bool clusters = false;
    for (uint32_t k = at->function->head; k < at->function->body->to; k++) {
        clusters |= is(c, k, "__cluster_dims__") || is(c, k, "cluster_group") || is(c, k, "this_cluster");
        uint32_t name = k;
        if (is(c, k, "cluster_group") && gr_token_is_name(&c->tokens.data[k + 1]))
            name = k + 1;
        else if (is(c, k, "this_cluster"))
            while (name > at->function->body->from && !is(c, name, ";") && !is(c, name, "{"))
                if (is(c, name--, "="))
                    break;
        const GrToken *t = &c->tokens.data[name];
        if (name != k && gr_token_is_name(t))
            return gr_arena_printf(&r->arena, "%.*s.sync();", (int)t->len, t->text);
    }
    return clusters ? "asm volatile(\"barrier.cluster.arrive; barrier.cluster.wait;\" ::: \"memory\");"
                    : NULL;
}

void gr_place_cluster(GrPlaces *p, const GrFinding *const *f, size_t n, const char *what) {
    GrPlace at;
    const char *text = f[0]->space && !strcmp(f[0]->space, "shared") &&
                               gr_submits_kernel(p->repairs, &f[0]->accesses[0], &at)
                           ? barrier_of(p->repairs, &at)
                           : NULL;
    if (text)
        gr_place_barrier(p, f, n, GR_VARIES_NOT, GR_HELD_BY_CLUSTER, text, what);
}

void gr_place_cluster_end(GrPlaces *p, const char *what) {
    GrPlace at;
    const char *text =
        gr_submits_kernel(p->repairs, &p->found->accesses[0], &at) ? barrier_of(p->repairs, &at) : NULL;
    const GrStatement *body = text ? at.function->body : NULL, *last = body ? body->child : NULL;
    const GrReach *r = last ? gr_repair_reach(at.file, at.function) : NULL;
    while (last && last->next)
        last = last->next;
    if (!text) // and then `at` is no place
        return;
    GrProposal one = gr_place_proposal(&at, what);
    if (r && gr_reach_all(r, last, GR_VARIES_NOT) && gr_cpp_begins_line(one.code, body->to - 1) &&
        gr_place_insert(p, &one, body->last, last->first, text))
        gr_place_add(p, &one);
}

// ---- Moved barriers ----------------------------------------------------------------------------------------

// A condition on names alone, which calls nothing and reads no memory: what varies is the thread.
static bool is_plain(const GrCode *c, const GrStatement *s) {
    for (uint32_t k = s->decides; k < s->decided; k++)
        if (is(c, k, "(") || is(c, k, "[") || is(c, k, "->"))
            return false;
    return true;
}

// "__syncthreads();" alone in its line, the first of what only some threads come to, who come to the condition
// together.
static bool is_apart(const GrPlace *at, const GrStatement *s) {
    const GrCode *c = &at->file->code;
    const GrReach *r = gr_repair_reach(at->file, at->function);
    const GrStatement *block = s->parent, *condition = block ? block->parent : NULL;
    return r && condition && condition->kind == GR_STMT_IF && block->kind == GR_STMT_BLOCK &&
           block->child == s && is(c, s->from, "__syncthreads") && s->first == s->last &&
           gr_cpp_begins_line(c, s->from) && (s->to >= c->tokens.len || gr_cpp_begins_line(c, s->to)) &&
           is_plain(c, condition) && !gr_reach_all(r, s, GR_VARIES_NOT) &&
           gr_reach_all(r, condition, GR_VARIES_NOT);
}

static void move(GrPlaces *p, const GrPlace *at, const GrStatement *in, const char *what) {
    for (const GrStatement *s = in->child; s; s = s->next) {
        GrProposal one = gr_place_proposal(at, what);
        if (is_apart(at, s) && gr_place_put_before(p, &one, s->parent->parent, "__syncthreads();") &&
            one.n < GR_REPAIR_EDITS) {
            one.edits[one.n++] = (GrEdit){s->first, true, NULL};
            gr_place_add(p, &one);
        }
        move(p, at, s, what);
    }
}

void gr_place_move(GrPlaces *p, const char *what) {
    GrPlace at;
    if (gr_place_of(p->repairs, &p->found->accesses[0], &at))
        move(p, &at, at.function->body, what);
}
