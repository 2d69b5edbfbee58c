// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite.h"

#include "base/own.h"
#include "base/str.h"
#include "engines/core/engine.h"
#include "passes/runtime.h"
#include "passes/shuffle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Tells on standard error, in one line, which sites were instrumented and which were not.
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

// The text of a large module comes out piece by piece.
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

gr_status gr_rewrite_file(GrRewriting *r, gr_error *err) {
    gr_status st = GR_OK;
    GrOptions *o = r->options;
    const char *path = r->path;
    char *text = NULL;
    size_t len;
    void *self = NULL;
    PtxModule *ptx = NULL;
    GrModule m = {.name = path};
    StrBuf out = {0};
    GrOutFile to = {0};
    char hint[GR_NEAR_ROOM];
    const GrEngine *engine = gr_engine_choose(o, true);
    if (!engine)
        return gr_fail(err, GR_ERR_ARGUMENT, "no engine is called '%s'%s; `gpurace ptx --help` lists them",
                       o->engine, gr_engine_meant(o->engine, hint));
    if (o->sample[0] && !(engine->caps & CAP_SAMPLES))
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "the engine %s watches all accesses or none: --sample is for the engines %s",
                       engine->name, gr_engines_that(CAP_SAMPLES));
    GR_TRY(gr_file_read(path, &text, &len, err));
    if (engine->caps & CAP_CHECKS)
        GR_TRY(gr_ptx_parse(text, len, path, &ptx, err));
    else // nothing is decided by its tags: it may be looked at
        GR_TRY(gr_ptx_parse_ours(text, len, path, &ptx, err));
    if (engine->caps & CAP_CHECKS)
        GR_TRY(gr_runtime_may_enter(ptx, text, len, true, err));
    m.number = r->linked ? gr_hash_bytes(text, len) : 0;
    free(text);
    text = NULL;
    m.n_sites = ptx->n_sites;
    m.checked_sites = calloc((size_t)m.n_sites + 1, sizeof *m.checked_sites);
    GR_TRY(m.checked_sites ? GR_OK : gr_no_memory(err));
    if (engine->begin)
        GR_TRY(engine->begin(NULL, o, &self, err));
    if (engine->rewrite)
        GR_TRY(engine->rewrite(self, ptx, &m, err));
    if (o->shuffle_blocks)
        GR_TRY(gr_shuffle_blocks(ptx, o->seed, err));
    if (r->output[0])
        GR_TRY(gr_own_open(&to, r->output, GR_OWN_PTX, err));
    GR_TRY(gr_ptx_print_later(ptx, 0, &out, take, &to, err));
    if (to.f) {
        gr_str_addf(&out, GR_OWN_PTX_LINE "rewritten for the engine %s\n", engine->name);
        GR_TRY(out.oom ? gr_no_memory(err) : take(&to, &out, err));
        GR_TRY(gr_out_close(&to, err));
    }
    if (!r->quiet)
        tell_sites(&m);
    r->link_registers = m.link_registers;
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
