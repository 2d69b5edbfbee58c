// SPDX-License-Identifier: Apache-2.0
// print — the tables of options for people: --help.
#include "options/options.h"

#include <string.h>

enum { HELP_INDENT = 27, HELP_WIDTH = 100 };

// Words from column HELP_INDENT on, where the cursor is at `column`.
static void put_wrapped(const char *text, size_t column, FILE *out) {
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column > HELP_INDENT && column + 1 + n > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        } else if (column > HELP_INDENT) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, n, out);
        column += n;
        text += n + strspn(text + n, " ");
    }
    fputc('\n', out);
}

static void put_row(const GrOptTable *t, const GrOptRow *r, FILE *out) {
    StrBuf text = {0};
    uint64_t lowest, highest;
    gr_str_addf(&text, "%s%s%s", t->engine ? t->engine : "", t->engine ? ": " : "", r->help);
    if (gr_options_range(t, r, &lowest, &highest))
        gr_str_addf(&text, " (%llu to %llu; %s)", (unsigned long long)lowest, (unsigned long long)highest,
                    r->deflt);
    else if (*r->deflt && r->type != OPT_FLAG)
        gr_str_addf(&text, " (%s)", r->deflt);
    bool bare = r->type == OPT_SWITCH;
    int n =
        fprintf(out, "  --%s%s%s%s%s", r->name, *r->arg ? " " : "", bare ? "[" : "", r->arg, bare ? "]" : "");
    size_t used = n < 0 ? 0 : (size_t)n;
    bool fits = used + 2 <= HELP_INDENT;
    fprintf(out, fits ? "%*s" : "\n%*s", fits ? (int)(HELP_INDENT - used) : HELP_INDENT, "");
    put_wrapped(text.data ? text.data : r->help, HELP_INDENT, out);
    gr_str_free(&text);
}

static const char *const questions[] = {
#define GROUP(id, question) question,
#include "options/groups.def"
#undef GROUP
};

void gr_options_help(unsigned command, FILE *out) {
    enum { FEW = 12 }; // are one list
    const GrOptTable *t;
    const GrOptRow *r;
    size_t n = 0;
    for (size_t i = 0; (r = gr_options_row(i, NULL)); i++)
        n += (r->commands & command) != 0;
    bool one = n <= FEW;
    for (unsigned group = 0; group < (one ? 1 : OPT_GROUPS); group++) {
        bool headed = false;
        for (size_t i = 0; (r = gr_options_row(i, &t)); i++) {
            if (!(r->commands & command) || (!one && r->group != group))
                continue;
            if (!headed)
                fprintf(out, "\n%s:\n", one ? "options" : questions[group]);
            headed = true;
            put_row(t, r, out);
        }
    }
}

// The conditions that hang on the engine alone.
bool gr_options_heeds(const GrOptTable *t, const GrOptRow *r, const char *engine, unsigned caps) {
    GrOptions o = {.engine = engine, .caps = caps, .device = "cpu", .schedule = "auto"};
    unsigned of_engine = OPT_ON_CHECKS | OPT_ON_ORDERS | OPT_ON_PICKS | OPT_ON_SAMPLES | OPT_ON_WINDOWS |
                         OPT_ON_UNHEARD | OPT_ON_ALONE;
    if (!(r->commands & (caps & CAP_STATIC ? OPT_CHECK : OPT_RUN)))
        return false;
    if (t->engine)
        return gr_options_uses(&o, t->engine) && !gr_options_misses(&o, r->applies & of_engine);
    return !gr_options_misses(&o, r->applies & of_engine) && (caps & CAP_CPU || !(r->applies & OPT_ON_CPU));
}
