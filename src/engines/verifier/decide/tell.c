// SPDX-License-Identifier: Apache-2.0
// tell — findings and sentences. All pairs of the same two lines that are open for one reason share a sentence.
#include "engines/verifier/decide/tell.h"

#include "base/demangle.h"
#include "engines/exact/classes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPEN = 12 }; // sentences for one kernel and launch, or for all recorded launches of a kernel

struct GrSaid {
    size_t pairs;
    GrPossible places; // text NULL: of no possible race whose places are known
    char text[];
};

void gr_told_free(GrTold *t) {
    for (size_t k = 0; k < t->open.len; k++)
        free(t->open.data[k]);
    gr_vec_free(&t->open);
    gr_map_free(&t->said);
}

// ---- One access -----------------------------------------------------------------------------------------------------

static const char *kind_of(const GrKernelAccess *a) {
    return a->atomic ? "atomic" : gr_access_kind(a->writes ? PTX_ACCESS_WRITE : PTX_ACCESS_READ);
}

// False: memory is out.
static bool access_of(const GrTold *t, const GrKernelAccess *a, GrAccess *out) {
    Arena *arena = t->to->arena;
    uint32_t n = 0;
    for (const GrPlace *p = a->place; p; p = p->inlined_at)
        n++;
    GrFrame *frames = GR_NEW_ARRAY(arena, GrFrame, n + 1u);
    if (!frames)
        return false;
    uint32_t k = 0;
    for (const GrPlace *p = a->place; p; p = p->inlined_at, k++) {
        const char *function = p->function ? p->function : t->model->func->name;
        frames[k] = (GrFrame){.function = gr_arena_strdup(arena, function),
                              .file = p->file ? gr_arena_strdup(arena, p->file) : NULL,
                              .line = p->line};
        if (!frames[k].function || (p->file && !frames[k].file))
            return false;
    }
    *out = gr_access_in(&frames[0], frames + 1, n ? n - 1 : 0);
    out->kind = kind_of(a);
    out->ptx_line = a->stmt->line;
    out->size = a->size;
    out->did = a->reads && a->writes ? "updated" : a->writes ? "wrote" : "read";
    out->strong = !a->strong && !a->atomic        ? NULL
                  : a->scope == PTX_SCOPE_CTA     ? "cta"
                  : a->scope == PTX_SCOPE_CLUSTER ? "cluster"
                  : a->scope == PTX_SCOPE_SYS     ? "sys"
                                                  : "gpu";
    out->is_volatile = a->sem == PTX_VOLATILE;
    out->kernel = gr_arena_strdup(arena, t->model->func->name);
    return out->kernel;
}

static const GrFrame *headline_of(const GrAccess *a) {
    return a->headline ? &a->inlined[a->headline - 1] : &a->at;
}

void gr_tell_place(const GrTold *t, const GrKernelAccess *a, StrBuf *out) {
    GrAccess x;
    if (!access_of(t, a, &x)) {
        out->oom = true;
        return;
    }
    const GrFrame *f = headline_of(&x);
    const char *name = f->file ? strrchr(f->file, '/') : NULL;
    if (f->file && f->line)
        gr_str_addf(out, "the %s at %s:%u", x.kind, name ? name + 1 : f->file, f->line);
    else
        gr_str_addf(out, "the %s at line %u of the PTX", x.kind, x.ptx_line);
}

// ---- Races ----------------------------------------------------------------------------------------------------------

static uint32_t class_named(const char *name) {
    static const struct {
        uint32_t number;
        const char *text;
    } rows[] = {
#define CLASS(id, number, text, meaning) {number, text},
#include "engines/exact/classes.def"
#undef CLASS
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (name && !strcmp(rows[k].text, name))
            return rows[k].number;
    return rows[0].number;
}

// Each pair of lines is one race of a kernel and launch.
static bool is_new(GrTold *t, const GrAccess *a, const GrAccess *b) {
    const GrAccess *sides[2] = {a, b};
    uint64_t hash[2];
    for (unsigned k = 0; k < 2; k++) {
        const GrAccess *x = sides[k];
        const GrFrame *f = x->headline ? &x->inlined[x->headline - 1] : &x->at;
        uint64_t place[2] = {f->file && f->line ? gr_hash_bytes(f->file, strlen(f->file)) : 0,
                             f->line ? f->line : x->ptx_line};
        hash[k] = gr_hash_bytes(place, sizeof place);
    }
    uint64_t key = hash[0] < hash[1] ? hash[0] * 31 + hash[1] : hash[1] * 31 + hash[0];
    return !gr_map_get_u64(&t->said, key) && gr_map_put_u64(&t->said, key, t);
}

static void put_thread(GrAccess *a, const GrSeenSide *s) {
    a->has_thread = true;
    memcpy(a->thread, s->thread, sizeof a->thread);
    memcpy(a->block, s->block, sizeof a->block);
    a->address = s->address;
}

// What exact says is missing in the replay; with a lock: what is wrong with it.
static char *order_of(Arena *arena, const GrVerdict *v, const GrSeenRace *seen) {
    bool lock = strcmp(v->missing, gr_pair_missing(v->level, v->sides[0], v->sides[1])) != 0;
    return seen->missing && lock ? gr_arena_printf(arena, "%s; %s", seen->missing, v->missing)
                                 : gr_arena_strdup(arena, seen->missing ? seen->missing : v->missing);
}

gr_status gr_tell_race(GrTold *t, const GrVerdict *v, const GrSeenRace *seen, gr_error *err) {
    t->pairs[GR_SHOWN]++;
    Arena *arena = t->to->arena;
    GrFinding f = {.class = class_named(seen->class),
                   .kernel = gr_arena_strdup(arena, t->model->func->name),
                   .module = gr_arena_strdup(arena, t->file),
                   .space = v->sides[0]->memory.object->kind == GR_OBJECT_SHARED ? "shared" : "global",
                   .count = 1,
                   .n_accesses = 2,
                   .overlap = seen->overlap,
                   .overlap_bytes = seen->bytes,
                   .order = order_of(arena, v, seen),
                   .detail = gr_arena_printf(arena, "%s%s", seen->launch, t->launch)};
    // The report of exact may name the two in the other order.
    const GrKernelAccess *x = v->sides[0]->a, *y = v->sides[1]->a;
    GR_NEED(access_of(t, x, &f.accesses[0]) && access_of(t, y, &f.accesses[1]) && f.kernel && f.module &&
                f.order && f.detail,
            err);
    bool turned = seen->turned;
    put_thread(&f.accesses[0], &seen->sides[turned]);
    put_thread(&f.accesses[1], &seen->sides[!turned]);
    if (!is_new(t, &f.accesses[0], &f.accesses[1]))
        return GR_OK;
    return t->to->findings.take(t->to->findings.user, &f) ? GR_OK : gr_no_memory(err);
}

// ---- What is open ---------------------------------------------------------------------------------------------------

static const char *who(GrLevel level) {
    switch (level) {
    case GR_LEVEL_BLOCKS: return " by two blocks";
    case GR_LEVEL_WARP: return " by two lanes of a warp";
    case GR_LEVEL_ALONE: return " by one thread";
    default: return " by two threads of a block";
    }
}

void gr_tell_subject(const GrTold *t, StrBuf *out) {
    Arena scratch;
    gr_arena_init(&scratch);
    const char *name = gr_demangle(t->model->func->name, &scratch);
    gr_str_addf(out, "kernel %s of %s%s", name ? name : t->model->func->name, t->file, t->launch);
    gr_arena_free(&scratch);
}

// Where the two sides are. False: memory is out.
static bool find_places(const GrTold *t, const GrVerdict *v, struct GrSaid *s) {
    GrAccess a, b;
    if (!access_of(t, v->sides[0]->a, &a) || !access_of(t, v->sides[1]->a, &b))
        return false;
    if (headline_of(&a)->line && headline_of(&b)->line)
        s->places = (GrPossible){s->text, a.kernel, {*headline_of(&a), *headline_of(&b)}};
    return true;
}

gr_status gr_tell_open(GrTold *t, const GrVerdict *v, gr_error *err) {
    t->pairs[v->decision]++;
    StrBuf text = {0};
    static const char *const words[GR_DECISIONS] = {
        [GR_POSSIBLE] = "possible", [GR_UNKNOWN] = "unknown", [GR_ASSUMED] = "assumed"};
    gr_str_addf(&text, "%s: ", words[v->decision]);
    gr_tell_subject(t, &text);
    gr_str_add(&text, ": ");
    if (!v->of_objects) {
        gr_tell_place(t, v->sides[0]->a, &text);
        gr_str_add(&text, " and ");
        gr_tell_place(t, v->sides[1]->a, &text);
        gr_str_addf(&text, " may touch the same bytes%s: ", who(v->level));
    }
    gr_str_add(&text, v->why.data ? v->why.data : v->missing);
    struct GrSaid *s = text.data ? gr_map_get_u64(&t->said, gr_hash_bytes(text.data, text.len)) : NULL;
    bool ok = !text.oom;
    if (ok && s)
        s->pairs++;
    else if (ok) {
        s = calloc(1, sizeof *s + text.len + 1);
        ok = s && gr_vec_push(&t->open, s);
        if (ok) {
            s->pairs = 1;
            memcpy(s->text, text.data, text.len + 1);
            ok = v->of_objects || v->decision != GR_POSSIBLE || find_places(t, v, s);
        }
        if (ok) {
            ok = gr_map_put_u64(&t->said, gr_hash_bytes(text.data, text.len), s);
        } else
            free(s);
    }
    gr_str_free(&text);
    return ok ? GR_OK : gr_no_memory(err);
}

static gr_status tell_text(const GrTold *t, const char *text, const GrPossible *places) {
    if (!places || !places->text)
        return t->to->reason(t->to->user, text);
    GrPossible p = *places;
    p.text = text;
    return t->to->possible(t->to->user, &p);
}

// Tells a reason, unless it was said of another launch of the kernel. `places` may be NULL.
static gr_status tell_reason(const GrTold *t, const char *text, const GrPossible *places) {
    if (!t->all)
        return tell_text(t, text, places);
    const char *launch = *t->launch ? strstr(text, t->launch) : NULL;
    const char *rest = launch ? launch + strlen(t->launch) : text;
    uint64_t key =
        gr_hash_bytes(rest, strlen(rest)) * 31 + (launch ? gr_hash_bytes(text, (size_t)(launch - text)) : 0);
    if (t->all->said.live >= MOST_OPEN || gr_map_get_u64(&t->all->said, key)) {
        t->all->repeated++;
        return GR_OK;
    }
    return gr_map_put_u64(&t->all->said, key, t->all) ? tell_text(t, text, places) : GR_ERR_NOMEM;
}

gr_status gr_tell_kernel(GrTold *t, const char *decision, const char *why) {
    StrBuf text = {0};
    gr_str_addf(&text, "%s: ", decision);
    gr_tell_subject(t, &text);
    gr_str_addf(&text, ": %s", why);
    gr_status st = text.oom ? GR_ERR_NOMEM : tell_reason(t, text.data, NULL);
    gr_str_free(&text);
    return st;
}

static gr_status tell_said(const GrTold *t, const struct GrSaid *s) {
    StrBuf text = {0};
    gr_str_add(&text, s->text);
    if (s->pairs > 1)
        gr_str_addf(&text, " (%zu times)", s->pairs);
    gr_status st = text.oom ? GR_ERR_NOMEM : tell_reason(t, text.data, &s->places);
    gr_str_free(&text);
    return st;
}

static gr_status tell_pairs(const GrTold *t, const size_t pairs[GR_DECISIONS]) {
    StrBuf text = {0};
    gr_tell_subject(t, &text);
    gr_str_addf(&text, ": of its pairs of accesses %zu proved, %zu shown, %zu possible, %zu unknown",
                pairs[GR_PROVED], pairs[GR_SHOWN], pairs[GR_POSSIBLE], pairs[GR_UNKNOWN]);
    if (pairs[GR_ASSUMED])
        gr_str_addf(&text, ", %zu assumed", pairs[GR_ASSUMED]);
    gr_status st = text.oom ? GR_ERR_NOMEM : t->to->remark(t->to->user, text.data);
    gr_str_free(&text);
    return st;
}

gr_status gr_tell_end(GrTold *t) {
    gr_status st = GR_OK;
    size_t left = 0;
    for (size_t k = 0; k < t->open.len && st == GR_OK; k++) {
        const struct GrSaid *s = t->open.data[k];
        if (k >= MOST_OPEN)
            left += s->pairs;
        else
            st = tell_said(t, s);
    }
    StrBuf text = {0};
    if (left) {
        gr_str_addf(&text, "%zu more pairs of accesses are open", left);
        st = st == GR_OK && !text.oom ? gr_tell_kernel(t, "unknown", text.data) : st;
        gr_str_free(&text);
    }
    if (st != GR_OK || !t->all)
        return st != GR_OK ? st : tell_pairs(t, t->pairs);
    t->all->launches++;
    for (unsigned k = 0; k < GR_DECISIONS; k++)
        t->all->pairs[k] += t->pairs[k];
    return GR_OK;
}

gr_status gr_tell_all(GrToldAll *all, const GrTold *like, const char *file) {
    StrBuf which = {0}, why = {0};
    GrTold t = *like;
    gr_status st = GR_OK;
    t.all = NULL;
    gr_str_addf(&which, ", for its %zu recorded launches in %s", all->launches, file);
    t.launch = which.oom ? "" : which.data;
    if (all->repeated) {
        gr_str_addf(&why, "more is open, and not said for each of them: %zu times", all->repeated);
        st = why.oom ? GR_ERR_NOMEM : gr_tell_kernel(&t, "unknown", why.data);
    }
    if (st == GR_OK)
        st = tell_pairs(&t, all->pairs);
    gr_str_free(&which);
    gr_str_free(&why);
    return st;
}
