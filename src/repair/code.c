// SPDX-License-Identifier: Apache-2.0
#include "repair/code.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// Deeper ones are left out: this parser calls itself.
enum { DEEPEST = 200 };

bool gr_token_is(const GrToken *t, const char *word) {
    return t->len == strlen(word) && !memcmp(t->text, word, t->len);
}

bool gr_token_starts(const GrToken *t, const char *with) {
    return t->len >= strlen(with) && !memcmp(t->text, with, strlen(with));
}

bool gr_token_same(const GrToken *a, const GrToken *b) {
    return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

bool gr_token_is_name(const GrToken *t) { return isalpha((unsigned char)t->text[0]) || t->text[0] == '_'; }

// ---- Tokens ------------------------------------------------------------------------------------------------

typedef struct Lexer {
    GrCode *code;
    const char *p, *end;
    uint32_t line;
    bool begins; // a line: only blanks before
} Lexer;

static void step(Lexer *l) {
    if (*l->p++ == '\n') {
        l->line++;
        l->begins = true;
        (void)gr_vec_push(&l->code->lines, (uint32_t)(l->p - l->code->text));
    }
}

static void skip_to(Lexer *l, const char *to) {
    while (l->p < l->end && l->p < to)
        step(l);
}

static void skip_directive(Lexer *l) {
    while (l->p < l->end && *l->p != '\n') {
        if (*l->p == '\\' && l->p + 1 < l->end)
            step(l);
        step(l);
    }
}

static bool starts(const Lexer *l, const char *with) {
    size_t n = strlen(with);
    return (size_t)(l->end - l->p) >= n && !memcmp(l->p, with, n);
}

static void skip_comment(Lexer *l) {
    bool line = l->p[1] == '/';
    while (l->p < l->end && !(line ? *l->p == '\n' : starts(l, "*/")))
        step(l);
    if (!line)
        skip_to(l, l->p + 2);
}

// R"x(…)x"
static void skip_raw(Lexer *l) {
    const char *open = memchr(l->p, '(', (size_t)(l->end - l->p));
    size_t n = open ? (size_t)(open - l->p - 2) : 0;
    const char *delimiter = l->p + 2;
    if (!open || n > 16) {
        skip_to(l, l->end);
        return;
    }
    skip_to(l, open);
    while (l->p < l->end && !(*l->p == ')' && (size_t)(l->end - l->p) > n + 1 &&
                              !memcmp(l->p + 1, delimiter, n) && l->p[n + 1] == '"'))
        step(l);
    skip_to(l, l->p + n + 2);
}

static void skip_quoted(Lexer *l) {
    char quote = *l->p;
    step(l);
    while (l->p < l->end && *l->p != quote && *l->p != '\n') {
        if (*l->p == '\\' && l->p + 1 < l->end)
            step(l);
        step(l);
    }
    if (l->p < l->end && *l->p == quote)
        step(l);
}

static void skip_operator(Lexer *l) {
    static const char *const longer[] = {"<<<", ">>>", "<<=", ">>=", "::", "->", "++", "--",
                                         "==",  "!=",  "<=",  ">=",  "&&", "||", "+=", "-=",
                                         "*=",  "/=",  "%=",  "&=",  "|=", "^=", "<<", ">>"};
    size_t n = 1;
    for (size_t k = 0; k < sizeof longer / sizeof *longer && n == 1; k++)
        if (starts(l, longer[k]))
            n = strlen(longer[k]);
    skip_to(l, l->p + n);
}

static bool tokenize(GrCode *c) {
    Lexer l = {.code = c, .p = c->text, .end = c->text + c->len, .line = 1, .begins = true};
    bool ok = gr_vec_push(&c->lines, 0);
    while (ok && l.p < l.end) {
        unsigned char ch = (unsigned char)*l.p;
        if (isspace(ch)) {
            step(&l);
            continue;
        }
        if (starts(&l, "//") || starts(&l, "/*")) {
            skip_comment(&l);
            continue;
        }
        if (ch == '#' && l.begins) {
            skip_directive(&l);
            continue;
        }
        GrToken t = {l.p, 0, l.line};
        l.begins = false;
        if (starts(&l, "R\""))
            skip_raw(&l);
        else if (ch == '"' || ch == '\'')
            skip_quoted(&l);
        else if (isalnum(ch) || ch == '_')
            while (l.p < l.end && (isalnum((unsigned char)*l.p) || *l.p == '_' ||
                                   (isdigit(ch) && (*l.p == '.' || *l.p == '\''))))
                step(&l);
        else
            skip_operator(&l);
        t.len = (uint32_t)(l.p - t.text);
        ok = gr_vec_push(&c->tokens, t);
    }
    return ok;
}

// ---- Statements --------------------------------------------------------------------------------------------

typedef struct Parser {
    GrCode *code;
    uint32_t k, end; // the next token
    bool odd, oom;   // odd: not understood
} Parser;

static bool is(const Parser *p, const char *word) {
    return p->k < p->end && gr_token_is(&p->code->tokens.data[p->k], word);
}

// The token behind the one that closes what the token `k` opens; `end` when nothing does.
static uint32_t behind(const GrCode *c, uint32_t k, uint32_t end) {
    int depth = 0;
    for (; k < end; k++) {
        char ch = c->tokens.data[k].len == 1 ? c->tokens.data[k].text[0] : 0;
        depth += ch == '(' || ch == '[' || ch == '{';
        depth -= ch == ')' || ch == ']' || ch == '}';
        if (depth <= 0)
            return k + 1;
    }
    return end;
}

static GrStatement *statement(Parser *p, GrStatement *parent, unsigned depth);

static void children(Parser *p, GrStatement *s, unsigned depth) {
    GrStatement **next = &s->child;
    while (p->k < p->end && !is(p, "}") && !p->odd && !p->oom) {
        *next = statement(p, s, depth + 1);
        if (*next)
            next = &(*next)->next;
    }
}

static void decides(Parser *p, GrStatement *s) {
    if (is(p, "constexpr"))
        p->k++;
    if (!is(p, "(")) {
        p->odd = true;
        return;
    }
    s->decides = p->k + 1;
    p->k = behind(p->code, p->k, p->end);
    s->decided = p->k - 1;
}

static void simple(Parser *p) {
    while (p->k < p->end && !is(p, ";") && !is(p, "}")) {
        bool opens = is(p, "(") || is(p, "[") || is(p, "{");
        p->k = opens ? behind(p->code, p->k, p->end) : p->k + 1;
    }
    if (is(p, ";"))
        p->k++;
    else
        p->odd = true;
}

// case 3: and default: and name: before a statement.
static void labels(Parser *p) {
    for (;;) {
        const GrToken *t = &p->code->tokens.data[p->k];
        if (is(p, "case")) {
            while (p->k < p->end && !is(p, ":"))
                p->k++;
            p->k++;
        } else if (p->k + 1 < p->end && gr_token_is_name(t) && gr_token_is(t + 1, ":")) {
            p->k += 2;
        } else {
            return;
        }
        if (p->k >= p->end)
            return;
    }
}

static void controlled(Parser *p, GrStatement *s, unsigned depth) {
    bool is_do = is(p, "do");
    p->k++;
    if (!is_do)
        decides(p, s);
    if (p->odd)
        return;
    s->child = statement(p, s, depth + 1);
    if (is_do && is(p, "while")) {
        p->k++;
        decides(p, s);
        p->k += is(p, ";");
    } else if (is_do) {
        p->odd = true;
    } else if (s->kind == GR_STMT_IF && is(p, "else") && s->child) {
        p->k++;
        s->child->next = statement(p, s, depth + 1);
    }
}

static GrStatement *statement(Parser *p, GrStatement *parent, unsigned depth) {
    GrStatement *s = GR_NEW(&p->code->arena, GrStatement);
    p->oom |= !s;
    p->odd |= depth > DEEPEST || p->k >= p->end;
    if (p->oom || p->odd)
        return NULL;
    s->parent = parent;
    s->from = p->k;
    labels(p);
    if (is(p, "{")) {
        s->kind = GR_STMT_BLOCK;
        p->k++;
        children(p, s, depth);
        p->odd |= !is(p, "}");
        p->k++;
    } else if (is(p, "if") || is(p, "for") || is(p, "while") || is(p, "do") || is(p, "switch")) {
        s->kind = is(p, "if") ? GR_STMT_IF : is(p, "switch") ? GR_STMT_SWITCH : GR_STMT_LOOP;
        controlled(p, s, depth);
    } else if (!is(p, "}")) {
        simple(p);
    }
    if (p->k > p->end || p->k == s->from) {
        p->odd = true;
        return NULL;
    }
    s->to = p->k;
    s->first = p->code->tokens.data[s->from].line;
    s->last = p->code->tokens.data[s->to - 1].line;
    return s;
}

// ---- Functions ---------------------------------------------------------------------------------------------

// "{" begins a function's body if parameters stand before it; else a class, a namespace or a list of values.
static bool begins_body(const GrCode *c, uint32_t k) {
    while (k &&
           (gr_token_is(&c->tokens.data[k - 1], "const") || gr_token_is(&c->tokens.data[k - 1], "noexcept")))
        k--;
    return k && gr_token_is(&c->tokens.data[k - 1], ")");
}

static const GrToken *name_of(const GrCode *c, uint32_t head, uint32_t open) {
    const GrToken *name = NULL;
    int depth = 0;
    for (uint32_t k = head; k < open; k++) {
        const GrToken *t = &c->tokens.data[k];
        if (gr_token_is(t, "(") && !depth++ && k > head)
            name = t - 1;
        depth -= gr_token_is(t, ")");
    }
    return name && gr_token_is_name(name) ? name : NULL;
}

static bool add_function(GrCode *c, uint32_t head, uint32_t open, uint32_t end) {
    GrFunctionCode f = {.head = head, .name = name_of(c, head, open)};
    Parser p = {.code = c, .k = open, .end = end};
    f.body = statement(&p, NULL, 0);
    for (uint32_t k = head; k < open; k++) {
        f.kernel |= gr_token_is(&c->tokens.data[k], "__global__");
        f.device |= gr_token_is(&c->tokens.data[k], "__device__");
    }
    return !p.oom && (p.odd || !f.body || gr_vec_push(&c->functions, f));
}

bool gr_cpp_read(GrCode *c, const char *text, size_t len) {
    memset(c, 0, sizeof *c);
    gr_arena_init(&c->arena);
    c->text = text;
    c->len = len;
    bool ok = len < UINT32_MAX && tokenize(c);
    uint32_t n = (uint32_t)c->tokens.len, head = 0;
    for (uint32_t k = 0; ok && k < n;) {
        const GrToken *t = &c->tokens.data[k];
        if (gr_token_is(t, "{") && begins_body(c, k)) {
            uint32_t end = behind(c, k, n);
            ok = add_function(c, head, k, end);
            head = k = end;
        } else if (gr_token_is(t, ";") || gr_token_is(t, "{") || gr_token_is(t, "}")) {
            head = ++k;
        } else {
            k++;
        }
    }
    return ok;
}

void gr_cpp_free(GrCode *c) {
    gr_vec_free(&c->lines);
    gr_vec_free(&c->tokens);
    gr_vec_free(&c->functions);
    gr_arena_free(&c->arena);
}

const GrFunctionCode *gr_cpp_function(const GrCode *c, uint32_t line) {
    for (size_t k = 0; k < c->functions.len; k++)
        if (line >= c->functions.data[k].body->first && line <= c->functions.data[k].body->last)
            return &c->functions.data[k];
    return NULL;
}

// Whether the statement begins behind that place.
static bool begins_behind(const GrCode *c, const GrStatement *s, uint32_t line, uint32_t col) {
    const GrToken *t = &c->tokens.data[s->from];
    size_t at = (size_t)(t->text - c->text) - c->lines.data[t->line - 1] + 1;
    return col && t->line == line && at > col;
}

// Whether what decides may access memory, so that the place may be meant.
static bool decides_by_memory(const GrCode *c, const GrStatement *s) {
    for (uint32_t k = s->decides; k < s->decided; k++) {
        const GrToken *t = &c->tokens.data[k];
        if (gr_token_is(t, "[") || gr_token_is(t, "->") || gr_token_is(t, "*") || gr_token_is(t, "("))
            return true;
    }
    return false;
}

const GrStatement *gr_cpp_at(const GrCode *c, const GrFunctionCode *f, uint32_t line, uint32_t col) {
    const GrStatement *at = NULL, *in = f->body;
    while (in) {
        const GrStatement *found = NULL;
        for (; in && !(found && (!col || in->first > line || begins_behind(c, in, line, col))); in = in->next)
            if (line >= in->first && line <= in->last && !begins_behind(c, in, line, col))
                found = in;
        at = found ? found : at;
        in = found ? found->child : NULL;
        // A compiler may say where the condition begins, and mean what is behind it in the line.
        if (found && found->kind != GR_STMT_BLOCK && in && begins_behind(c, in, line, col) &&
            !decides_by_memory(c, found))
            col = 0;
    }
    return at;
}

bool gr_cpp_begins_line(const GrCode *c, uint32_t token) {
    return !token || c->tokens.data[token - 1].line < c->tokens.data[token].line;
}

const char *gr_cpp_line(const GrCode *c, uint32_t line, size_t *len) {
    if (!line || line > c->lines.len)
        return NULL;
    size_t from = c->lines.data[line - 1], to = line < c->lines.len ? c->lines.data[line] : c->len;
    while (to > from && (c->text[to - 1] == '\n' || c->text[to - 1] == '\r'))
        to--;
    *len = to - from;
    return c->text + from;
}
