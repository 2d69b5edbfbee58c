// SPDX-License-Identifier: Apache-2.0
// edit — proposals as texts: the edited file, and the difference.
#include "repair/propose.h"

#include <string.h>

// The end of the file's lines: "\r\n" where the first line has it.
static const char *ending(const GrCode *c) {
    const char *end = memchr(c->text, '\n', c->len);
    return end && end > c->text && end[-1] == '\r' ? "\r\n" : "\n";
}

void gr_repair_apply(const GrProposal *p, StrBuf *out) {
    const GrCode *c = p->code;
    size_t from = 0;
    for (unsigned k = 0; k < p->n; k++) {
        const GrEdit *e = &p->edits[k];
        size_t at = c->lines.data[e->line - 1], len = 0;
        gr_str_addn(out, c->text + from, at - from);
        gr_str_add(out, e->text ? e->text : "");
        from = at;
        if (!e->text) {
            from = e->line < c->lines.len ? c->lines.data[e->line] : c->len;
        } else if (e->replaces) {
            (void)gr_cpp_line(c, e->line, &len);
            from += len;
        } else {
            gr_str_add(out, ending(c));
        }
    }
    gr_str_addn(out, c->text + from, c->len - from);
}

enum { AROUND = 2 };

static void add_line(const GrProposal *p, char mark, uint32_t line, StrBuf *out) {
    size_t len = 0;
    const char *text = gr_cpp_line(p->code, line, &len);
    gr_str_addc(out, mark);
    gr_str_addn(out, text ? text : "", text ? len : 0);
    gr_str_addc(out, '\n');
}

// Edits that share lines around them: those from k up to the one that is returned.
static unsigned hunk_end(const GrProposal *p, unsigned k) {
    unsigned n = k + 1;
    while (n < p->n && p->edits[n].line <= p->edits[n - 1].line + 2 * AROUND)
        n++;
    return n;
}

void gr_repair_hunks(const GrProposal *p, StrBuf *out) {
    uint32_t last = (uint32_t)p->code->lines.len;
    int64_t added = 0;
    size_t len = 0;
    if (last && gr_cpp_line(p->code, last, &len) && !len)
        last--; // behind the last end of a line
    for (unsigned k = 0, end; k < p->n; k = end) {
        end = hunk_end(p, k);
        uint32_t from = p->edits[k].line > AROUND ? p->edits[k].line - AROUND : 1;
        int64_t inserted = 0;
        uint32_t to = p->edits[end - 1].line + AROUND - !p->edits[end - 1].replaces;
        to = to > last ? last : to;
        for (unsigned i = k; i < end; i++)
            inserted += !p->edits[i].text ? -1 : !p->edits[i].replaces;
        gr_str_addf(out, "@@ -%u,%u +%lld,%lld @@\n", from, to - from + 1, (long long)(from + added),
                    (long long)(to - from + 1 + inserted));
        unsigned next = k;
        for (uint32_t line = from; line <= to; line++) {
            bool gone = false;
            for (; next < end && p->edits[next].line == line; next++) {
                if (p->edits[next].replaces)
                    add_line(p, '-', line, out);
                gone |= p->edits[next].replaces;
                if (p->edits[next].text)
                    gr_str_addf(out, "+%s\n", p->edits[next].text);
            }
            if (!gone)
                add_line(p, ' ', line, out);
        }
        added += inserted;
    }
}

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

bool gr_proposal_same(const GrProposal *a, const GrProposal *b) {
    bool same = !strcmp(a->file, b->file) && a->n == b->n;
    for (unsigned k = 0; same && k < a->n; k++)
        same = a->edits[k].line == b->edits[k].line && a->edits[k].replaces == b->edits[k].replaces &&
               same_text(a->edits[k].text, b->edits[k].text);
    return same;
}
