// SPDX-License-Identifier: Apache-2.0
// From where the program called CUDA, as text.
#include "base/escape.h"
#include "report/write/text_internal.h"

const char *gr_text_function(const GrReport *r, const char *name, Arena *arena) {
    const char *plain = r->look.full_names ? gr_short_name(name, arena) : gr_plain_name(name, arena);
    return plain ? plain : name;
}

static void add_frame(const GrReport *r, const GrFrame *f, Arena *arena, StrBuf *out) {
    if (f->function)
        gr_escaped_addf(out, "%s", gr_text_function(r, f->function, arena));
    if (f->file && f->line) {
        gr_str_add(out, f->function ? " at " : "");
        gr_report_place(r, f, out);
    }
}

void gr_text_stack(const GrReport *r, const char *what, const GrStack *s, Arena *arena, StrBuf *out) {
    enum { SHOWN = 4 };
    if (!s || !s->n)
        return;
    gr_escaped_addf(out, "    %s ", what);
    uint32_t n = s->n > SHOWN && !r->look.verbose ? SHOWN : s->n;
    for (uint32_t k = 0; k < n; k++) {
        gr_str_add(out, k ? ", called by " : "");
        add_frame(r, &s->frames[k], arena, out);
    }
    if (n < s->n)
        gr_escaped_addf(out, " (%u more)", s->n - n);
    gr_str_addc(out, '\n');
}
