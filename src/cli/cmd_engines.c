// SPDX-License-Identifier: Apache-2.0
// gpurace engines — which engines there are and what each can do: for people, or as JSON for scripts.
//
// Exit status: 0; 2 when the command line makes no sense.
#include "cli/commands.h"
#include "engines/core/engine.h"
#include "options/options.h"

#include <ctype.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *id, *text;
} can[] = {
#define CAP(id, text) {#id, text},
#include "options/caps.def"
#undef CAP
};
enum { NCAN = sizeof can / sizeof *can };

static const struct {
    const char *id, *text;
} uses[] = {
#define USE(id, text) {#id, text},
#include "engines/core/uses.def"
#undef USE
};

static void print_text(const GrEngine *e) {
    printf("%s: %s\n", e->name, e->summary);
    for (unsigned c = 0; c < NCAN; c++)
        if (e->caps >> c & 1)
            printf("    %s\n", can[c].text);
    static const char *const on[] = {"", " on the CPU device", " on a GPU", ""};
    for (const GrBlind *b = e->blind; b && b->what; b++)
        printf("    blind%s, in programs with %s, to %s\n", on[b->devices], uses[b->use].text, b->what);
}

static json_t *word_of(const char *id) {
    char word[32] = "";
    for (size_t i = 0; id[i] && i < sizeof word - 1; i++)
        word[i] = (char)tolower(id[i]);
    return json_string(word);
}

static json_t *as_json(const GrEngine *e) {
    json_t *caps = json_array(), *options = json_array(), *classes = json_array();
    const GrOptTable *t;
    const GrOptRow *r;
    for (unsigned c = 0; c < NCAN; c++)
        if (e->caps >> c & 1)
            json_array_append_new(caps, word_of(can[c].id));
    for (size_t i = 0; (r = gr_options_row(i, &t)); i++)
        if (gr_options_heeds(t, r, e->name, e->caps))
            json_array_append_new(options, json_sprintf("--%s", r->name));
    for (const GrClass *c = e->classes; c && c->number; c++)
        json_array_append_new(classes, json_string(c->name));
    json_t *blind = json_array();
    static const char *const devices[] = {"", "cpu", "gpu", "any"};
    for (const GrBlind *b = e->blind; b && b->what; b++)
        json_array_append_new(blind, json_pack("{s:o, s:s, s:s}", "use", word_of(uses[b->use].id), "device",
                                               devices[b->devices], "what", b->what));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", e->name, "summary", e->summary,
                     "evidence", e->evidence, "can", caps, "options", options, "classes", classes, "blind_to",
                     blind);
}

static int print_json(void) {
    json_t *engines = json_array();
    for (const GrEngine *const *e = gr_engines; *e; e++)
        json_array_append_new(engines, as_json(*e));
    json_t *all = json_pack("{s:o}", "engines", engines);
    char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    if (!text) {
        fputs("gpurace engines: out of memory\n", stderr);
        return EXIT_OURS;
    }
    puts(text);
    free(text);
    return 0;
}

int gr_cmd_engines(int argc, char **argv) {
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const char *format = "text";
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case 'f': format = optarg; break;
        case 'h': return gr_print_help("engines", stdout);
        default: return gr_print_help("engines", stderr);
        }
    }
    bool json = !strcmp(format, "json");
    if (optind != argc || (!json && strcmp(format, "text") != 0))
        return gr_print_help("engines", stderr);
    if (json)
        return print_json();
    for (const GrEngine *const *e = gr_engines; *e; e++)
        print_text(*e);
    return 0;
}
