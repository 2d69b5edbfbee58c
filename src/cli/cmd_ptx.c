// SPDX-License-Identifier: Apache-2.0
// gpurace ptx — the rewriting itself, on a file: PTX in, the instrumented PTX out.
#include "base/log.h"
#include "base/outfile.h"
#include "base/str.h"
#include "cli/commands.h"
#include "engines/core/engine.h"
#include "options/options.h"
#include "passes/sample.h"
#include "passes/shuffle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void print_help(void) {
    puts(
        "usage: gpurace ptx [options] in.ptx [-o out.ptx]\n\n"
        "Rewrites a PTX file as `gpurace run` would when a program loads it. Inserted statements follow the\n"
        "comment /*@gr:SITE*/. A program built from the result runs anywhere. Without gpurace attached, the\n"
        "program stops at a breakpoint when it finds a race, so that a debugger stops there.\n\noptions:");
    gr_options_help(OPT_PTX, stdout);
    puts("\nengines:");
    for (const GrEngine *const *e = gr_engines; *e; e++)
        printf("  %-10s %s\n", (*e)->name, (*e)->summary);
}

// Which sites were instrumented and which were not: on standard error, one line.
static void tell_sites(const GrModule *m) {
    unsigned count[GR_SITE_STATUS_COUNT] = {0};
    static const char *const text[] = {
#define SITE_STATUS(id, words) words,
#include "ptx/site_status.def"
#undef SITE_STATUS
    };
    for (uint32_t k = 1; k <= m->n_sites; k++)
        count[m->checked_sites[k]]++;
    fprintf(stderr, "gpurace: %u memory access sites", m->n_sites);
    for (unsigned k = 0; k < GR_SITE_STATUS_COUNT; k++)
        if (count[k])
            fprintf(stderr, "; %u %s", count[k], text[k]);
    fputc('\n', stderr);
    if (m->link_registers)
        fprintf(stderr,
                "gpurace: its functions can be compiled once for all kernels: ptxas -c -maxrregcount=%u\n",
                m->link_registers);
}

// Of a large module the text comes out piece by piece.
static gr_status take(void *user, StrBuf *out, gr_error *err) {
    GrOutFile *to = user;
    gr_status st = GR_OK;
    if (to->f)
        st = gr_out_write(to, out->data, out->len, err);
    else if (fwrite(out->data, 1, out->len, stdout) != out->len || fflush(stdout) != 0)
        st = gr_fail(err, GR_ERR_IO, "cannot write to standard output: %s", strerror(errno));
    out->len = 0;
    return st;
}

static gr_status rewrite(GrOptions *o, const char *path, gr_error *err) {
    gr_status st = GR_OK;
    char *text = NULL;
    size_t len;
    void *self = NULL;
    PtxModule *ptx = NULL;
    GrModule m = {.name = path};
    StrBuf out = {0};
    GrOutFile to = {0};
    const GrEngine *engine = gr_engine_choose(o, true);
    if (!engine)
        return gr_fail(err, GR_ERR_ARGUMENT, "no engine is called '%s'; `gpurace ptx --help` lists them",
                       o->engine);
    if (o->sample[0] && !(engine->caps & CAP_SAMPLES))
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "the engine %s watches all accesses or none: --sample is for the engines %s",
                       engine->name, gr_engines_that(CAP_SAMPLES));
    GR_TRY(gr_file_read(path, &text, &len, err));
    GR_TRY(gr_ptx_parse(text, len, path, &ptx, err));
    free(text);
    text = NULL;
    m.n_sites = ptx->n_sites;
    m.checked_sites = calloc((size_t)m.n_sites + 1, sizeof *m.checked_sites);
    if (!m.checked_sites) {
        st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
        goto done;
    }
    if (engine->begin)
        GR_TRY(engine->begin(NULL, o, &self, err));
    if (engine->rewrite)
        GR_TRY(engine->rewrite(self, ptx, &m, err));
    if (o->shuffle_blocks)
        GR_TRY(gr_shuffle_blocks(ptx, o->seed, err));
    if (o->output[0])
        GR_TRY(gr_out_open(&to, o->output, err));
    GR_TRY(gr_ptx_print_later(ptx, 0, &out, take, &to, err));
    if (to.f)
        GR_TRY(gr_out_close(&to, err));
    tell_sites(&m);
done:
    gr_out_drop(&to);
    if (self && engine->finish)
        engine->finish(self);
    gr_ptx_free(ptx);
    gr_str_free(&out);
    free(m.checked_sites);
    free(text);
    return st;
}

int gr_cmd_ptx(int argc, char **argv) {
    gr_error err = {0};
    char buf[1024];
    GrOptions o;
    int rest = 0, rc = 1;
    bool help = false;
    if (gr_options_init(&o, &err) != GR_OK ||
        gr_options_parse_args(&o, OPT_PTX, argc, argv, &rest, &help, &err) != GR_OK) {
        gr_log(LOG_ERROR, "%s", gr_error_text(&err, buf, sizeof buf));
        rc = 2;
        goto done;
    }
    if (help) {
        print_help();
        rc = 0;
        goto done;
    }
    const char *path = rest < argc ? argv[rest] : NULL;
    // Options may stand behind the file too: `in.ptx -o out.ptx`.
    if (path && rest + 1 < argc) {
        int more = 0;
        if (gr_options_parse_args(&o, OPT_PTX, argc - rest, argv + rest, &more, &help, &err) != GR_OK ||
            more < argc - rest) {
            gr_log(LOG_ERROR, "%s",
                   err.msg[0] ? gr_error_text(&err, buf, sizeof buf) : "one PTX file at a time");
            rc = 2;
            goto done;
        }
    }
    if (!path) {
        gr_log(LOG_ERROR, "no PTX file given; `gpurace ptx --help` shows how");
        rc = 2;
        goto done;
    }
    SampleSpec sample; // the engine reads it again
    gr_status st = gr_sample_parse(o.sample, &sample, &err);
    gr_sample_free(&sample);
    if (st != GR_OK) {
        gr_log(LOG_ERROR, "%s", err.msg);
        rc = 2;
        goto done;
    }
    if (rewrite(&o, path, &err) == GR_OK)
        rc = 0;
    else
        gr_log(LOG_ERROR, "%s", gr_error_text(&err, buf, sizeof buf));
    rc = rc && err.code == GR_ERR_ARGUMENT ? 2 : rc;
done:
    gr_options_free(&o);
    return rc;
}
