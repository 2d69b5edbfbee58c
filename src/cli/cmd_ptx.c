// SPDX-License-Identifier: Apache-2.0
// gpurace ptx — the rewriting itself, on a file: PTX in, the instrumented PTX out.
#include "base/log.h"
#include "cli/commands.h"
#include "cli/rewrite.h"
#include "engines/core/engine.h"
#include "options/options.h"
#include "passes/sample.h"

int gr_cmd_ptx(int argc, char **argv) {
    gr_error err = {0};
    char buf[1024];
    GrOptions o;
    int n = 0, rc = 1;
    bool help = false;
    if (gr_options_init(&o, &err) != GR_OK ||
        gr_options_parse_words(&o, OPT_PTX, argc, argv, &n, NULL, &help, &err) != GR_OK) {
        gr_log(LOG_ERROR, "%s", gr_error_text(&err, buf, sizeof buf));
        rc = EXIT_USAGE;
        goto done;
    }
    if (help) {
        rc = gr_print_help("ptx", stdout);
        goto done;
    }
    if (n != 1) {
        gr_log(LOG_ERROR, n ? "one PTX file at a time" : "no PTX file given; `gpurace ptx --help` shows how");
        rc = EXIT_USAGE;
        goto done;
    }
    SampleSpec sample; // the engine reads it again
    gr_status st = gr_sample_parse(o.sample, &sample, &err);
    gr_sample_free(&sample);
    if (st != GR_OK) {
        gr_log(LOG_ERROR, "%s", err.msg);
        rc = EXIT_USAGE;
        goto done;
    }
    GrRewriting r = {.options = &o, .path = argv[1], .output = o.output};
    if (gr_rewrite_file(&r, &err) == GR_OK)
        rc = 0;
    else
        gr_log(LOG_ERROR, "%s", gr_error_text(&err, buf, sizeof buf));
    rc = rc && err.code == GR_ERR_ARGUMENT ? 2 : rc;
done:
    gr_options_free(&o);
    return rc;
}
