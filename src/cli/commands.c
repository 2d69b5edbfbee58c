// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "base/escape.h"
#include "engines/core/engine.h"

#include <stdio.h>
#include <string.h>

const GrCommand gr_commands[] = {
#define COMMAND(name, function, summary, caps, options, operands) {#name, summary, caps, options, operands},
#include "cli/commands.def"
#undef COMMAND
};

static bool is_here(const GrCommand *c) { return !c->caps || gr_engines_that(c->caps)[0]; }

const GrCommand *gr_command(size_t k) {
    for (size_t i = 0; i < sizeof gr_commands / sizeof *gr_commands; i++)
        if (is_here(&gr_commands[i]) && !k--)
            return &gr_commands[i];
    return NULL;
}

const GrCommand *gr_command_find(const char *name) {
    const GrCommand *c;
    for (size_t k = 0; (c = gr_command(k)); k++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

bool gr_command_takes(const GrCommand *c, const GrOptRow *row) {
    const GrOptRow *own;
    if (row->commands & c->options || c->options != OPT_CAMPAIGN || !(row->commands & OPT_RUN))
        return row->commands & c->options;
    for (size_t k = 0; (own = gr_options_row(k, NULL)); k++)
        if (own->commands & OPT_CAMPAIGN && !strcmp(own->name, row->name))
            return false;
    return true;
}

static const struct Help {
    const char *name, *head;
    int width;
    unsigned caps;
    const char *tail;
} helps[] = {
#define HELP(name, ...) {#name, __VA_ARGS__},
#include "cli/help.def"
#undef HELP
};

int gr_print_help(const char *name, FILE *out) {
    const struct Help *h = helps;
    while (strcmp(h->name, name))
        h++;
    fputs(h->head, out);
    const GrCommand *c = gr_command_find(name);
    if (c && c->options)
        gr_options_help(c->options, out);
    if (h->width)
        fputs("\nengines:\n", out);
    for (const GrEngine *const *e = gr_engines; h->width && *e; e++)
        if (((*e)->caps & h->caps) == h->caps)
            fprintf(out, "  %-*s %s\n", h->width, (*e)->name, (*e)->summary);
    fputs(h->tail, out);
    return out == stdout ? 0 : EXIT_USAGE;
}

int gr_complain(int status, const gr_error *err) {
    char text[sizeof err->file + sizeof err->msg + 32];
    StrBuf plain = {0};
    // What a file says may be quoted in it. Messages of several lines are our own.
    for (const char *line = gr_error_text(err, text, sizeof text); *line;) {
        size_t n = strcspn(line, "\n");
        gr_escaped_addf(&plain, "%.*s", (int)n, line);
        line += n;
        if (*line)
            gr_str_addc(&plain, *line++);
    }
    fprintf(stderr, "gpurace: %s\n", plain.data ? plain.data : "");
    gr_str_free(&plain);
    return status;
}
