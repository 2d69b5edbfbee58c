// SPDX-License-Identifier: Apache-2.0
#include "passes/sample.h"

#include "base/rng.h"
#include "ptx/reach.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE = 1000000000 }; // a fraction of 1

// ---- The specification ---------------------------------------------------------------------------------------------

static gr_status complain(const char *text, const char *why, gr_error *err) {
    return gr_fail(
        err, GR_ERR_ARGUMENT,
        "sample takes a number of accesses (3), a fraction of them (5%% or 0.05) or a list of accesses "
        "(as `gpurace coverage` shows them), not '%s'%s",
        text, why);
}

static gr_status read_list(const char *text, SampleSpec *out, gr_error *err) {
    enum { MOST = 4096 };
    out->kind = SAMPLE_LIST;
    for (const char *p = text;;) {
        char *end;
        SampleSite site = {.nth = 0};
        if (isxdigit((unsigned char)*p))
            site.function = strtoull(p, &end, 16);
        else
            return complain(text, "", err);
        unsigned long nth = *end == ':' && isdigit((unsigned char)end[1]) ? strtoul(end + 1, &end, 10) : 0;
        if (!nth || nth > UINT32_MAX || (*end && *end != ','))
            return complain(text, "", err);
        site.nth = (uint32_t)nth;
        if (out->sites.len == MOST)
            return complain(text, ": too many", err);
        GR_NEED(gr_vec_push(&out->sites, site), err);
        if (!*end)
            return GR_OK;
        p = end + 1;
    }
}

gr_status gr_sample_parse(const char *text, SampleSpec *out, gr_error *err) {
    *out = (SampleSpec){.kind = SAMPLE_ALL};
    if (!*text)
        return GR_OK;
    if (strchr(text, ':'))
        return read_list(text, out, err);
    const char *p = text;
    uint64_t whole = 0, billionths = 0, place = WHOLE;
    unsigned digits = 0;
    for (; isdigit((unsigned char)*p) && whole < WHOLE; p++, digits++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    bool is_fraction = *p == '.';
    if (is_fraction)
        for (p++; isdigit((unsigned char)*p); p++, digits++)
            billionths += (uint64_t)(*p - '0') * (place /= 10);
    bool percent = *p == '%';
    if (!digits || p[percent])
        return complain(text, "", err);
    if (!is_fraction && !percent) {
        *out = (SampleSpec){.kind = SAMPLE_COUNT, .amount = whole};
        return whole ? GR_OK : complain(text, ": none would be watched", err);
    }
    *out = (SampleSpec){.kind = SAMPLE_FRACTION, .amount = whole * WHOLE + billionths};
    if (percent)
        out->amount /= 100;
    if (out->amount > WHOLE)
        return complain(text, ": that is more than all", err);
    return out->amount ? GR_OK : complain(text, ": none would be watched", err);
}

void gr_sample_free(SampleSpec *s) { gr_vec_free(&s->sites); }

void gr_sample_name(SampleSite site, StrBuf *out) {
    gr_str_addf(out, "%016llx:%u", (unsigned long long)site.function, site.nth);
}

// ---- The choice ----------------------------------------------------------------------------------------------------

uint64_t gr_sample_function(const PtxFunc *f) {
    return gr_mix64(gr_hash_bytes(f->name, strlen(f->name)) ^ gr_mix64(gr_ptx_code_hash(f)));
}

typedef struct Candidate {
    const PtxSite *site;
    uint64_t level, lot;
    uint32_t turn; // how many of its line come before it
} Candidate;

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

// 0: one line of the source and one kind, as copies in unrolled loops. A site without a line is alone.
static int compare_lines(const Candidate *x, const Candidate *y) {
    const PtxLoc *a = x->site->stmt->loc, *b = y->site->stmt->loc;
    int d = compare_numbers(x->site->func->index, y->site->func->index);
    if (d || !a || !b)
        return d ? d : compare_numbers(a ? 0 : x->site->id, b ? 0 : y->site->id);
    d = compare_numbers(a->file, b->file);
    d = d ? d : compare_numbers(a->line, b->line);
    d = d ? d : compare_numbers(a->col, b->col);
    return d ? d : compare_numbers(x->site->access, y->site->access);
}

static int compare_lots(const Candidate *x, const Candidate *y) {
    int d = compare_numbers(x->lot, y->lot);
    return d ? d : compare_numbers(x->site->id, y->site->id);
}

// Sorts line by line, and within a line first the sites that were chosen more often.
static int compare_in_lines(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    int d = compare_lines(x, y);
    d = d ? d : compare_numbers(y->level, x->level);
    return d ? d : compare_lots(x, y);
}

static int compare(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    int d = compare_numbers(x->level, y->level);
    d = d ? d : compare_numbers(x->turn, y->turn);
    return d ? d : compare_lots(x, y);
}

// Sorts the first candidates of all lines before the second of any.
static void sort(Candidate *all, size_t n) {
    qsort(all, n, sizeof *all, compare_in_lines);
    for (size_t k = 1; k < n; k++)
        all[k].turn = compare_lines(&all[k - 1], &all[k]) ? 0 : all[k - 1].turn + 1;
    qsort(all, n, sizeof *all, compare);
}

static bool is_listed(const SampleSpec *s, SampleSite site) {
    for (size_t k = 0; k < s->sites.len; k++)
        if (s->sites.data[k].function == site.function && s->sites.data[k].nth == site.nth)
            return true;
    return false;
}

// How many of `n` candidates; `module` stands for what they are.
static uint64_t quota(const SampleChoice *c, uint64_t n, uint64_t module) {
    if (c->spec->kind == SAMPLE_COUNT)
        return c->spec->amount;
    uint64_t exact = n * c->spec->amount; // n is a 32-bit number
    Rng rng = gr_rng_fork(c->seed, RNG_SAMPLE, module);
    return exact / WHOLE + (gr_rng_below(&rng, WHOLE) < exact % WHOLE);
}

gr_status gr_sample_choose(const SampleChoice *c, const PtxModule *m, GrSiteStatus *status, gr_error *err) {
    if (c->spec->kind == SAMPLE_ALL)
        return GR_OK;
    Candidate *all = calloc((size_t)m->n_sites + 1, sizeof *all);
    GR_NEED(all, err);
    const PtxFunc *f = NULL;
    SampleSite here = {.nth = 0};
    uint64_t n = 0, module = 0;
    for (uint32_t k = 1; k <= m->n_sites; k++) { // functions one after the other
        if (m->sites[k].func != f) {
            f = m->sites[k].func;
            here = (SampleSite){.function = gr_sample_function(f)};
        }
        here.nth++;
        if (status[k] != GR_SITE_CHECKED)
            continue;
        if (c->spec->kind == SAMPLE_LIST && is_listed(c->spec, here))
            continue;
        status[k] = GR_SITE_SAMPLED_OUT;
        module += gr_mix64(here.function + here.nth);
        all[n++] = (Candidate){
            .site = &m->sites[k],
            .level = c->level ? c->level(c->user, here) : 0,
            .lot = gr_mix64(gr_mix64(c->seed + 0x9e3779b97f4a7c15u) ^ gr_mix64(here.function + here.nth))};
    }
    if (c->spec->kind != SAMPLE_LIST) {
        sort(all, n);
        uint64_t wanted = quota(c, n, module);
        for (uint64_t k = 0; k < n && k < wanted; k++)
            status[all[k].site->id] = GR_SITE_CHECKED;
    }
    free(all);
    return GR_OK;
}
