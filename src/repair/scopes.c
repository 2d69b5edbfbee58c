// SPDX-License-Identifier: Apache-2.0
// scopes — wider scopes in place of narrow ones.
#include "repair/place.h"

#include <string.h>

static const struct Scope {
    const char *word, *wider, *scope;
} scopes[] = {
#define SCOPE(word, wider, scope) {word, wider, scope},
#include "repair/scopes.def"
#undef SCOPE
};

// Appends the token as it is in the wider scope.
static void widen(const GrToken *t, const char *scope, StrBuf *out) {
    for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++) {
        const struct Scope *s = &scopes[k];
        size_t n = strlen(s->word);
        if (strcmp(s->scope, scope))
            continue;
        if (*s->word == '.' && t->text[0] == '"') {
            const char *at = memmem(t->text, t->len, s->word, n);
            if (at) {
                gr_str_addn(out, t->text, (size_t)(at - t->text));
                gr_str_add(out, s->wider);
                gr_str_addn(out, at + n, t->len - (size_t)(at - t->text) - n);
                return;
            }
        } else if (*s->word == '*' && gr_token_starts(t, "atomic") && t->len > n &&
                   !memcmp(t->text + t->len - n + 1, s->word + 1, n - 1)) {
            gr_str_addn(out, t->text, t->len - n + 1);
            gr_str_add(out, s->wider);
            return;
        } else if (gr_token_is(t, s->word)) {
            gr_str_add(out, s->wider);
            return;
        }
    }
    gr_str_addn(out, t->text, t->len);
}

// Replaces the line when it has a word of a narrower scope.
static void widen_line(GrPlaces *p, GrProposal *proposal, uint32_t line, const char *scope) {
    const GrCode *c = proposal->code;
    size_t len = 0;
    const char *text = gr_cpp_line(c, line, &len), *from = text;
    StrBuf out = {0};
    for (unsigned k = 0; k < proposal->n; k++)
        if (proposal->edits[k].line == line)
            return;
    for (size_t k = 0; text && k < c->tokens.len; k++) {
        const GrToken *t = &c->tokens.data[k];
        if (t->line != line || t->text + t->len > text + len)
            continue;
        gr_str_addn(&out, from, (size_t)(t->text - from));
        widen(t, scope, &out);
        from = t->text + t->len;
    }
    if (text)
        gr_str_addn(&out, from, (size_t)(text + len - from));
    bool news = out.data && !out.oom && (out.len != len || memcmp(out.data, text, len));
    char *copy = news ? gr_arena_strndup(&p->repairs->arena, out.data, out.len) : NULL;
    if (copy && proposal->n < GR_REPAIR_EDITS)
        proposal->edits[proposal->n++] = (GrEdit){line, true, copy};
    gr_str_free(&out);
}

static void widen_lines(GrPlaces *p, GrProposal *proposal, uint32_t from, uint32_t to, const char *scope) {
    for (uint32_t line = from; line <= to; line++)
        widen_line(p, proposal, line, scope);
}

// ", which takes .gpu or wider" is "gpu".
static const char *needed(const char *order) {
    static const char *const names[] = {"gpu", "sys", "cluster"};
    const char *at = strstr(order, "which take");
    at = at ? strchr(at, '.') : NULL;
    for (size_t k = 0; at && k < sizeof names / sizeof *names; k++)
        if (!strncmp(at + 1, names[k], strlen(names[k])))
            return names[k];
    return NULL;
}

void gr_place_scopes(GrPlaces *p, const char *scope, const char *what) {
    GrPlace side[2];
    scope = scope ? scope : needed(p->found->order);
    if (!scope || !gr_place_of(p->repairs, &p->found->accesses[1], &side[0]) ||
        !gr_place_of(p->repairs, &p->found->accesses[0], &side[1]))
        return;
    GrProposal lines = gr_place_proposal(&side[0], what), functions = lines;
    for (int k = 0; k < 2 && side[0].file == side[1].file; k++) {
        const GrStatement *s = side[k].statement, *body = side[k].function->body;
        widen_lines(p, &lines, s->first, s->last, scope);
        widen_lines(p, &functions, body->first, body->last, scope);
    }
    gr_place_add(p, &lines);
    gr_place_add(p, &functions);
}
