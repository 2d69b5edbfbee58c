// SPDX-License-Identifier: Apache-2.0
#include "findings/finding.h"

#include "findings/headline.h"
#include "ptx/ptx.h"

const char *gr_access_kind(uint32_t access) {
    return access == PTX_ACCESS_READ ? "load" : access == PTX_ACCESS_WRITE ? "store" : "atomic";
}

static bool is_own(void *access, uint32_t k) {
    const GrAccess *a = access;
    const char *file = k ? a->inlined[k - 1].file : a->at.file;
    return file && !gr_is_toolkit_file(file);
}

GrAccess gr_access_in(const GrFrame *at, const GrFrame *inlined, uint32_t n_inlined) {
    GrAccess a = {.at = *at, .inlined = inlined, .n_inlined = n_inlined};
    a.headline = gr_headline(is_own, &a, n_inlined + 1);
    return a;
}

GrAccess gr_access_at(const GrSiteInfo *site, uint32_t size) {
    GrAccess a = gr_access_in(&site->at, site->inlined, site->n_inlined);
    a.kind = gr_access_kind(site->access);
    a.near = !site->at.line && site->near.line ? &site->near : NULL;
    a.ptx_line = site->ptx_line;
    a.kernel = site->kernel;
    a.size = size;
    a.variable = site->variable;
    a.argument = site->argument;
    return a;
}
