// SPDX-License-Identifier: Apache-2.0
// Command lines and the environment's options of any bytes: a line each is a word; the first byte says which command,
// and whether it is one text. What is taken is within its range, and comes back the same from the text that
// libgpurace.so gets.
#include "options/options.h"
#include "passes/sample.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_WORDS = 64 };

static void check_ranges(const GrOptions *o) {
    const GrOptRow *r;
    const GrOptTable *t;
    for (size_t k = 0; (r = gr_options_row(k, &t)); k++) {
        uint64_t lowest, highest, v;
        if (!gr_options_range(t, r, &lowest, &highest))
            continue;
        memcpy(&v, (const char *)gr_options_of(o, t) + r->offset, sizeof v);
        if (v < lowest || v > highest)
            abort();
    }
}

static void check_round_trip(const GrOptions *o) {
    GrOptions again;
    StrBuf once = {0}, twice = {0}, shell = {0};
    if (gr_options_init(&again, NULL) != GR_OK)
        abort();
    gr_options_to_text(o, &once);
    if (gr_options_parse_text(&again, once.data ? once.data : "", NULL) != GR_OK)
        abort();
    gr_options_to_text(&again, &twice);
    if (once.len != twice.len || (once.len && memcmp(once.data, twice.data, once.len)))
        abort();
    gr_options_reproduce(o, OPT_RUN, &shell);
    SampleSpec sample;
    if (gr_sample_parse(o->sample, &sample, NULL) == GR_OK && sample.kind == SAMPLE_LIST && !sample.sites.len)
        abort();
    gr_sample_free(&sample);
    gr_str_free(&once);
    gr_str_free(&twice);
    gr_str_free(&shell);
    gr_options_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    static const unsigned commands[] = {OPT_RUN, OPT_PTX, OPT_COVERAGE};
    char *text = malloc(size), *argv[MOST_WORDS + 1] = {"command"};
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    GrOptions o;
    gr_error err = {0};
    int argc = 1, rest = 0;
    bool help, ok;
    if (gr_options_init(&o, &err) != GR_OK)
        abort();
    if (data[0] & 4) {
        ok = gr_options_parse_text(&o, text, &err) == GR_OK;
    } else {
        for (char *p = text; p && argc < MOST_WORDS; argc++) {
            char *end = strchr(p, '\n');
            if (end)
                *end++ = 0;
            argv[argc] = p;
            p = end;
        }
        ok = gr_options_parse_args(&o, commands[data[0] % 3], argc, argv, &rest, &help, &err) == GR_OK;
        if (ok && (rest < 1 || rest > argc))
            abort();
    }
    if (!ok && !err.msg[0])
        abort();
    check_ranges(&o);
    if (ok)
        check_round_trip(&o);
    gr_options_free(&o);
    free(text);
    return 0;
}
