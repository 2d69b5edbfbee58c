// SPDX-License-Identifier: Apache-2.0
// What the results file says of a module: its kernels, functions and accesses, with their places in the source.
#include "inject/describe.h"

#include "inject/functions.h"

#include "passes/named.h"
#include "ptx/reach.h"

#include <string.h>

static const char *copy_text(LoadedModule *m, const char *s) {
    return s ? gr_arena_strdup(&m->arena, s) : NULL;
}

static GrFrame frame_of(LoadedModule *m, const PtxModule *ptx, const PtxFunc *f, const PtxLoc *loc) {
    const char *function = loc->inlined_at && loc->function ? loc->function : f->name;
    return (GrFrame){copy_text(m, function), copy_text(m, gr_ptx_file(ptx, loc->file)), loc->line, loc->col};
}

// The last statement with a line before the latest access: accesses follow one another, and code may lack lines.
typedef struct Near {
    const PtxStmt *of, *with; // NULL: there is none
    unsigned far;             // statements between
} Near;

static const PtxStmt *line_before(Near *n, const PtxStmt *of) {
    enum { FAR = 4096 }; // statements
    const PtxStmt *s = of;
    unsigned k = 0;
    for (; s && s != n->of && k < FAR && (!s->loc || !s->loc->line); k++)
        s = s->prev;
    if (s && s == n->of) {
        k += n->far;
        s = n->with;
    }
    *n = (Near){of, s, k};
    return k < FAR ? s : NULL;
}

// The compiler gives what it has merged no line, but the code before it has one: the user's, where that was inlined.
static GrFrame near_to(LoadedModule *m, const PtxModule *ptx, const PtxSite *site, Near *near) {
    const PtxStmt *s = line_before(near, site->stmt);
    const PtxLoc *loc = s ? s->loc : NULL;
    if (!loc || !loc->line)
        return (GrFrame){0};
    while (loc->inlined_at && loc->inlined_at->line)
        loc = loc->inlined_at;
    return frame_of(m, ptx, site->func, loc);
}

// The names of a function's accesses, indexed for the last function only, as its sites follow one another.
typedef struct Names {
    Arena arena;
    Named of;
} Names;

static bool name_site(LoadedModule *m, const PtxSite *site, Names *names, GrSiteInfo *out) {
    if (names->of.f != site->func) {
        gr_arena_rewind(&names->arena);
        if (!gr_named_index(site->func, &names->arena, &names->of))
            return false;
    }
    NamedAs as = gr_named_at(&names->of, site->stmt);
    out->argument = as.argument;
    out->variable = as.variable ? copy_text(m, as.variable->name) : NULL;
    return out->variable || !as.variable;
}

static bool describe_site(LoadedModule *m, const PtxModule *ptx, const PtxSite *site, Near *near,
                          GrSiteInfo *out) {
    const PtxLoc *loc = site->stmt->loc;
    *out = (GrSiteInfo){.kernel = site->func->is_entry ? copy_text(m, site->func->name) : NULL,
                        .type = gr_ptx_type_text(site->stmt->instr->type[0]),
                        .ptx_line = site->stmt->line,
                        .size = site->size,
                        .access = (uint8_t)site->access,
                        .before = site->async && !site->copy && site->access == PTX_ACCESS_WRITE,
                        .is_volatile = site->stmt->instr->sem == PTX_VOLATILE,
                        .space = (uint8_t)site->space};
    if (!loc || !loc->line)
        out->near = near_to(m, ptx, site, near);
    if (!loc) {
        out->at.function = copy_text(m, site->func->name);
        return out->at.function != NULL;
    }
    out->at = frame_of(m, ptx, site->func, loc);
    for (const PtxLoc *l = loc->inlined_at; l; l = l->inlined_at)
        out->n_inlined++;
    GrFrame *frames = GR_NEW_ARRAY(&m->arena, GrFrame, (size_t)out->n_inlined + 1);
    if (!frames)
        return false;
    out->inlined = frames;
    for (const PtxLoc *l = loc->inlined_at; l; l = l->inlined_at)
        *frames++ = frame_of(m, ptx, site->func, l);
    return out->at.function != NULL;
}

gr_status gr_module_describe(LoadedModule *m, const PtxModule *ptx, gr_error *err) {
    GrModuleInfo *i = &m->info;
    i->kernels = GR_NEW_ARRAY(&m->arena, const char *, (size_t)ptx->n_funcs + 1);
    i->sites = GR_NEW_ARRAY(&m->arena, GrSiteInfo, (size_t)ptx->n_sites + 1);
    bool ok = i->kernels && i->sites;
    Names names = {.of.f = NULL};
    Near near = {.of = NULL};
    PtxFunc *open = NULL; // whose sites come
    gr_arena_init(&names.arena);
    for (uint32_t f = 0; ok && f < ptx->n_funcs; f++)
        if (ptx->funcs[f]->is_entry && ptx->funcs[f]->has_body)
            ok = (i->kernels[i->n_kernels++] = copy_text(m, ptx->funcs[f]->name)) != NULL;
    for (uint32_t n = 1; ok && n <= ptx->n_sites; n++) {
        if (open != ptx->sites[n].func)
            near = (Near){.of = NULL};
        ok = gr_ptx_turn_to(&open, ptx->sites[n].func) &&
             describe_site(m, ptx, &ptx->sites[n], &near, &i->sites[n]) &&
             name_site(m, &ptx->sites[n], &names, &i->sites[n]);
    }
    gr_arena_free(&names.arena);
    (void)gr_ptx_turn_to(&open, NULL);
    if (!ok || gr_describe_functions(ptx, &m->arena, i, err) != GR_OK) {
        i->n_kernels = 0;
        return gr_no_memory(err);
    }
    i->n_sites = m->pub.n_sites = ptx->n_sites;
    m->pub.checked_sites = GR_NEW_ARRAY(&m->arena, GrSiteStatus, (size_t)ptx->n_sites + 1);
    return m->pub.checked_sites ? GR_OK : gr_no_memory(err);
}
