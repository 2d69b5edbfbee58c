// SPDX-License-Identifier: Apache-2.0
// print — the tables of options for people: --help, docs/options.md and docs/engines.md.
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

void gr_options_help(unsigned command, FILE *out) {
    const GrOptTable *t;
    const GrOptRow *r;
    for (size_t i = 0; (r = gr_options_row(i, &t)); i++) {
        if (!(r->commands & command))
            continue;
        StrBuf text = {0};
        uint64_t lowest, highest;
        gr_str_addf(&text, "%s%s%s", t->engine ? t->engine : "", t->engine ? ": " : "", r->help);
        if (gr_options_range(t, r, &lowest, &highest))
            gr_str_addf(&text, " (%llu to %llu; %s)", (unsigned long long)lowest, (unsigned long long)highest,
                        r->deflt);
        else if (*r->deflt && r->type != OPT_FLAG)
            gr_str_addf(&text, " (%s)", r->deflt);
        bool bare = r->type == OPT_SWITCH;
        int n = fprintf(out, "  --%s%s%s%s%s", r->name, *r->arg ? " " : "", bare ? "[" : "", r->arg,
                        bare ? "]" : "");
        size_t used = n < 0 ? 0 : (size_t)n;
        bool fits = used + 2 <= HELP_INDENT;
        fprintf(out, fits ? "%*s" : "\n%*s", fits ? (int)(HELP_INDENT - used) : HELP_INDENT, "");
        put_wrapped(text.data ? text.data : r->help, HELP_INDENT, out);
        gr_str_free(&text);
    }
}

static const char *const where[] = {
#define APPLIES(id, text, condition, why) text,
#include "options/applies.def"
#undef APPLIES
};

static void add_row(const GrOptTable *t, const GrOptRow *r, unsigned in, StrBuf *out) {
    static const char *const commands[] = {"run",    "ptx",  "coverage", "check",
                                           "report", "diff", "campaign"}; // OPT_RUN and so on
    uint64_t lowest, highest;
    gr_str_addf(out, "| `--%s` | ", r->name);
    for (const char *p = r->arg; *p; p++)
        gr_str_addf(out, *p == '|' ? " \\%c " : "%c", *p);
    if (gr_options_range(t, r, &lowest, &highest))
        gr_str_addf(out, ", %llu to %llu", (unsigned long long)lowest, (unsigned long long)highest);
    gr_str_addf(out, " | %s | ", r->deflt);
    for (unsigned k = 0; k < sizeof commands / sizeof *commands; k++)
        if (in >> k & 1)
            gr_str_addf(out, "%s%s", in & ((1u << k) - 1) ? ", " : "", commands[k]);
    gr_str_addf(out, " | %s", t->engine ? t->engine : "");
    for (unsigned k = 0; k < sizeof where / sizeof *where; k++)
        if (r->applies >> k & 1)
            gr_str_addf(out, "%s%s", t->engine || r->applies & ((1u << k) - 1) ? "; " : "", where[k]);
    gr_str_addf(out, " | %s |\n", r->help);
}

void gr_options_markdown(unsigned commands, StrBuf *out) {
    gr_str_add(out,
               "# Options\n\n"
               "<!-- Written from src/options/options.def and the engines' own: `UPDATE_DOCS=1 "
               "build/tests/options/test_options`; a test compares. -->\n\n"
               "On the command line: `--name value` or `--name=value`. In the environment: "
               "`GPURACE_OPTIONS=\"name=value name='two words'\"`;\nthe command line wins.\n\n"
               "The report of a run names the options that were given and had no effect, because what the "
               "column *applies to* says did not hold.\n"
               "Which engine is what: docs/engines.md. `gpurace campaign` takes the options of `run`, too, "
               "and hands them to "
               "each of its runs.\n\n"
               "| option | value | default | commands | applies to | meaning |\n|---|---|---|---|---|---|\n");
    const GrOptTable *t;
    const GrOptRow *r;
    for (size_t i = 0; (r = gr_options_row(i, &t)); i++)
        if (r->commands & commands)
            add_row(t, r, r->commands & commands, out);
}

// The conditions that hang on the engine alone.
bool gr_options_heeds(const GrOptTable *t, const GrOptRow *r, const char *engine, unsigned caps) {
    GrOptions o = {.engine = engine, .caps = caps, .device = "cpu", .schedule = "auto"};
    unsigned of_engine =
        OPT_ON_CHECKS | OPT_ON_ORDERS | OPT_ON_SAMPLES | OPT_ON_WINDOWS | OPT_ON_UNHEARD | OPT_ON_ALONE;
    if (!(r->commands & (caps & CAP_STATIC ? OPT_CHECK : OPT_RUN)))
        return false;
    if (t->engine)
        return gr_options_uses(&o, t->engine) && !gr_options_misses(&o, r->applies & of_engine);
    return !gr_options_misses(&o, r->applies & of_engine) && (caps & CAP_CPU || !(r->applies & OPT_ON_CPU));
}

void gr_options_engines_markdown(const char *const *names, const unsigned *caps, size_t n, StrBuf *out) {
    static const char *const can[] = {
#define CAP(id, text) text,
#include "options/caps.def"
#undef CAP
    };
    const GrOptTable *t;
    const GrOptRow *r;
    gr_str_add(out, "| |");
    for (size_t k = 0; k < n; k++)
        gr_str_addf(out, " `%s` |", names[k]);
    gr_str_add(out, "\n|---|");
    for (size_t k = 0; k < n; k++)
        gr_str_add(out, "---|");
    for (unsigned c = 0; c < sizeof can / sizeof *can; c++) {
        gr_str_addf(out, "\n| %s |", can[c]);
        for (size_t k = 0; k < n; k++)
            gr_str_addf(out, " %s |", caps[k] >> c & 1 ? "yes" : "");
    }
    for (size_t i = 0; (r = gr_options_row(i, &t)); i++) {
        if (!(r->commands & (OPT_RUN | OPT_CHECK)))
            continue;
        gr_str_addf(out, "\n| `--%s` |", r->name);
        for (size_t k = 0; k < n; k++)
            gr_str_addf(out, " %s |", gr_options_heeds(t, r, names[k], caps[k]) ? "yes" : "");
    }
    gr_str_addc(out, '\n');
}
