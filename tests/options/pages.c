// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

#include <string.h>

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

void options_page(unsigned commands, StrBuf *out) {
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

void options_of_engines(const char *const *names, const unsigned *caps, size_t n, StrBuf *out) {
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
