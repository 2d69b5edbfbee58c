// SPDX-License-Identifier: Apache-2.0
// check — the verifier's way through the files: every kernel, each of its launches, each pair of accesses.
#include "engines/verifier/verifier.h"

#include "base/demangle.h"
#include "engines/core/uses.h"
#include "engines/verifier/build/build.h"
#include "engines/verifier/build/compilers.h"
#include "engines/verifier/decide/changing.h"
#include "engines/verifier/decide/events.h"
#include "engines/verifier/decide/explain.h"
#include "engines/verifier/decide/launched.h"
#include "engines/verifier/decide/tell.h"
#include "engines/verifier/decide/units.h"
#include "engines/verifier/host/host.h"
#include "engines/verifier/solve/cache.h"
#include "engines/verifier/solve/child.h"
#include "engines/verifier/solve/jobs.h"
#include "options/options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double kernel_seconds = 50; // for one kernel and launch, with replays

typedef struct Check {
    const GrVerifierSettings *set;
    const GrStaticSink *to;
    GrLaunched launched; // for --launches
    GrTerms terms;
    GrSolver *solver;
    GrCache *cache;        // NULL: none
    GrSolverCounts counts; // of all children
    double since;          // when the work on this kernel and launch began
} Check;

// A module of one file, as a program or several link it.
typedef struct Unit {
    const char *file; // the user's name
    const GrLinkedUnit *of;
    const GrHost *host; // NULL: nothing is known of launches
} Unit;

// One kernel under one launch.
typedef struct Job {
    Check *c;
    const Unit *unit;
    GrBound bound;
    GrReplays replays;
    GrTold told;
    GrExplained explained;   // for --explain
    VEC(const GrGap *) gaps; // of the model, that this launch does not close
} Job;

// ---- Pairs ----------------------------------------------------------------------------------------------------------

// The host's values on which a witness depends.
typedef struct Hosts {
    bool any, derived;
    const GrSymbol *of_loops[8]; // counters
    unsigned n;
} Hosts;

static void see_host(void *user, const GrSymbol *s) {
    Hosts *h = user;
    if (s->kind != GR_SYM_HOST)
        return;
    h->any = true;
    h->derived |= s->owner == gr_host_derived;
    for (unsigned k = 0; s->owner && k < h->n; k++)
        h->derived |= h->of_loops[k] != s && h->of_loops[k]->owner == s->owner;
    if (s->owner && h->n < sizeof h->of_loops / sizeof *h->of_loops)
        h->of_loops[h->n++] = s;
}

static void see_host_term(Hosts *h, const GrTerm *a) {
    if (a && !gr_term_symbols(a, see_host, h)) // memory is out: the worst
        h->any = h->derived = true;
}

static Hosts hosts_of(const GrBound *b, const GrVerdict *v) {
    Hosts h = {0};
    for (unsigned k = 0; k < 2; k++) {
        see_host_term(&h, v->sides[k]->guard);
        see_host_term(&h, v->sides[k]->offset);
        see_host_term(&h, v->sides[k]->memory.which);
    }
    for (unsigned d = 0; d < 3; d++) {
        see_host_term(&h, b->grid[d]);
        see_host_term(&h, b->block[d]);
    }
    return h;
}

// Why a race that the solver has found is not called one. NULL: it is to be replayed.
static const char *doubt(const Job *j, const GrVerdict *v) {
    const GrHostLaunch *l = j->bound.launch;
    if (!j->c->set->replay)
        return "the solver has a witness, and --replay no asks for no replay";
    if (j->unit->host && !l)
        return "the solver has a witness, but no launch of the kernel was found";
    if (l && l->by_pointer)
        return "the solver has a witness, but the launch is through a pointer, which may be to another "
               "kernel";
    const Hosts hosts = hosts_of(&j->bound, v);
    if (l && l->recorded && j->unit->of->several)
        return "the solver has a witness, but several programs have the kernel, and call other device "
               "functions in it: "
               "of which one the launch is, is not known";
    if (l && l->gaps.len && (l->recorded || hosts.any))
        return l->gaps.data[0];
    if (l && hosts.derived)
        return "the solver has a witness, but of the host's values in it not all is known";
    return NULL;
}

static gr_status see(void *user, GrVerdict *v, bool *settled, gr_error *err) {
    Job *j = user;
    if (v->decision == GR_SHOWN) {
        const GrSeenRace *race = NULL;
        const char *why = doubt(j, v);
        if (!why) {
            GR_MUST(gr_replay(&j->replays, &j->bound, v, &race, err));
        }
        if (race) {
            *settled = true;
            return gr_tell_race(&j->told, v, race, err);
        }
        v->decision = GR_POSSIBLE;
        if (why)
            gr_str_add(&v->why, why);
        else {
            gr_str_addf(&v->why, "%s; the witness ", v->missing);
            gr_witness_text(&j->bound, &v->witness, &v->why);
            gr_str_addf(&v->why, " was not confirmed: %s", j->replays.why_not);
        }
    }
    return gr_tell_open(&j->told, v, err);
}

static gr_status check_pair(Job *j, size_t i, size_t k, double until, gr_error *err) {
    bool proved;
    gr_status st = gr_pair_decide(&j->bound, i, k, &(GrPairUser){j, see}, &proved, err);
    j->told.pairs[GR_PROVED] += proved;
    if (st == GR_OK && j->c->set->explain)
        st = gr_explain(&j->explained, &j->bound, i, k, proved, err);
    double left = until - gr_seconds_now();
    if (left < j->bound.seconds_left)
        j->bound.seconds_left = left;
    return st;
}

// Pairs that may or may not be of one memory come last: they are hardly ever proved, and would take others' time.
static gr_status check_pairs(Job *j, gr_error *err) {
    gr_status st = GR_OK;
    GrBound *b = &j->bound;
    size_t n = b->accesses.len;
    double until = gr_seconds_now() + b->seconds_left;
    for (unsigned maybe = 0; maybe < 2; maybe++)
        for (size_t i = 0; i < n && st == GR_OK; i++)
            for (size_t k = i; k < n && st == GR_OK; k++) {
                const GrBoundAccess *x = &b->accesses.data[i], *y = &b->accesses.data[k];
                StrBuf why = {0};
                if ((x->a->writes || y->a->writes) &&
                    (gr_bound_alias(b, &x->memory, &y->memory, &why) == GR_ALIAS_MAYBE) == maybe)
                    st = check_pair(j, i, k, until, err);
                gr_str_free(&why);
            }
    return st;
}

// ---- Launches -------------------------------------------------------------------------------------------------------

// *yes: the launch can be reached. Facts that contradict each other prove nothing.
static gr_status is_reached(Job *j, bool *yes, gr_error *err) {
    GrSolved s = {0};
    gr_status st = gr_pair_solve(&j->bound, &j->bound.same, NULL, true, &s, err);
    *yes = s.answer != GR_ANSWER_NO;
    gr_solved_free(&s);
    return st;
}

static gr_status is_closed(Job *j, const GrGap *g, bool *yes, gr_error *err) {
    GrBound *b = &j->bound;
    GrTermVec terms = {0};
    GrSolved s = {0};
    const GrTerm *broken = gr_not(b->t, gr_bound_term(b, g->unless));
    bool ok = broken && gr_vec_push(&terms, broken);
    for (size_t k = 0; ok && k < b->same.len; k++)
        ok = gr_vec_push(&terms, b->same.data[k]);
    gr_status st = ok ? gr_pair_solve(b, &terms, NULL, true, &s, err) : gr_no_memory(err);
    *yes = st == GR_OK && s.answer == GR_ANSWER_NO;
    gr_solved_free(&s);
    gr_vec_free(&terms);
    return st;
}

// Names what the model leaves open under this launch, and keeps it.
static gr_status tell_gaps(Job *j, gr_error *err) {
    gr_status st = GR_OK;
    const GrKernelModel *m = j->bound.model;
    for (size_t k = 0; k < m->gaps.len && st == GR_OK; k++) {
        const GrGap *g = &m->gaps.data[k];
        bool closed = false;
        if (g->unless && ((st = is_closed(j, g, &closed, err)) != GR_OK || closed))
            continue;
        StrBuf why = {0};
        if (g->place && g->place->file)
            gr_str_addf(&why, "%s:%u: ", g->place->file, g->place->line);
        gr_str_addf(&why, g->of_link ? "%s" : "%s: not understood", g->why);
        st = why.oom || !gr_vec_push(&j->gaps, g) ? gr_no_memory(err)
                                                  : gr_tell_kernel(&j->told, "unknown", why.data);
        gr_str_free(&why);
    }
    return st;
}

static bool is_open(const Job *j) {
    return j->gaps.len || j->told.pairs[GR_POSSIBLE] || j->told.pairs[GR_UNKNOWN] ||
           j->told.pairs[GR_ASSUMED];
}

static bool is_all_unknown(const Job *j) {
    for (size_t k = 0; k < j->gaps.len; k++)
        if (j->gaps.data[k]->whole_kernel)
            return true;
    return false;
}

// For --verbose: prints what the solver is asked, as terms.
static void print_bound(const GrBound *b) {
    StrBuf out = {0};
    for (unsigned d = 0; d < 3; d++) {
        gr_str_addf(&out, "%c: grid ", "xyz"[d]);
        gr_term_print(b->grid[d], &out);
        gr_str_add(&out, ", block ");
        gr_term_print(b->block[d], &out);
        gr_str_addc(&out, '\n');
    }
    for (size_t k = 0; k < b->same.len + b->each.len; k++) {
        gr_str_add(&out, k < b->same.len ? "fact of the launch: " : "fact of a thread: ");
        gr_term_print(k < b->same.len ? b->same.data[k] : b->each.data[k - b->same.len], &out);
        gr_str_addc(&out, '\n');
    }
    for (size_t k = 0; k < b->accesses.len; k++) {
        const GrBoundAccess *x = &b->accesses.data[k];
        gr_str_addf(&out, "%s of %u bytes of %s, PTX line %u, at ", x->a->writes ? "write" : "read",
                    x->a->size, x->memory.object->name, x->a->stmt->line);
        gr_term_print(x->offset, &out);
        gr_str_add(&out, ", if ");
        gr_term_print(x->guard, &out);
        gr_str_addc(&out, '\n');
    }
    fputs(out.data ? out.data : "", stderr);
    gr_str_free(&out);
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

// The files whose device code is linked with a unit, where that is not the same in all programs.
static void name_link(const GrLinkedUnit *u, StrBuf *out) {
    bool first = true;
    for (size_t k = 0; u->several && k < u->n_needs; k++) {
        if (u->units[k] == u->unit)
            continue;
        gr_str_addf(out, first ? ", linked with %s" : " and %s", base_name(u->units[k]->file));
        first = false;
    }
}

// Names the launch: a verdict on a recorded launch always says so.
static void name_launch(const Unit *u, const GrHostLaunch *l, StrBuf *out) {
    if (l)
        gr_str_addf(out, l->recorded ? ", for the recorded launch at %s:%u" : ", launched at %s:%u",
                    base_name(l->file), l->line);
    name_link(u->of, out);
}

static void print_seconds(Check *c, const char *kernel, const char *where) {
    double now = gr_seconds_now();
    fprintf(stderr, "checked %s%s in %.3f s\n", kernel, where, now - c->since);
    c->since = now;
}

// *open: something of the launch is not decided.
static gr_status check_launch(Check *c, const Unit *u, GrModels *models, const GrHostLaunch *l,
                              GrToldAll *all, GrTermVec *trusted, bool *open, gr_error *err) {
    gr_status st;
    const GrKernelModel *m = models->plain;
    Job j = {.c = c, .unit = u, .replays = {.arena = c->to->arena, .unit = u->of}};
    bool reached;
    StrBuf where = {0};
    name_launch(u, l, &where);
    if (where.oom) {
        gr_str_free(&where);
        return gr_no_memory(err);
    }
    j.told = (GrTold){
        .to = c->to, .file = u->file, .launch = where.data ? where.data : "", .model = m, .all = all};
    const char *misfit = gr_launched_misfit(m->func, l);
    gr_error why = {0};
    GR_TRY(gr_bound_init(&j.bound, &c->terms, m, l, c->set, c->solver, err));
    j.bound.seconds_left = kernel_seconds;
    if (!misfit)
        st = gr_models_bind(models, &j.bound, &why);
    if (st == GR_ERR_LIMIT) {
        misfit = "it is too large where pointers of the launch may be to one memory";
    } else if (st != GR_OK) {
        *err = why;
        goto done;
    }
    if (misfit) {
        *open = true;
        GR_TRY(gr_tell_kernel(&j.told, "unknown", misfit));
        goto done;
    }
    m = j.told.model = j.bound.model;
    if (c->set->verbose)
        print_bound(&j.bound);
    GR_TRY(is_reached(&j, &reached, err));
    if (!reached) {
        *open = true;
        GR_TRY(gr_tell_kernel(&j.told, "unknown",
                              "what is known of the launch contradicts itself: it is never reached"));
        goto done;
    }
    GR_TRY(tell_gaps(&j, err));
    if (!is_all_unknown(&j)) {
        j.bound.trusted = trusted;
        GR_TRY(check_pairs(&j, err));
        GR_TRY(gr_tell_end(&j.told));
        GR_TRY(gr_explain_end(&j.explained, &j.told));
    }
    *open |= is_open(&j);
done:
    if (c->set->verbose)
        print_seconds(c, m->func->name, j.told.launch);
    gr_vec_free(&j.gaps);
    gr_explained_free(&j.explained);
    gr_told_free(&j.told);
    gr_str_free(&where);
    gr_replays_free(&j.replays);
    gr_bound_free(&j.bound);
    return st;
}

// ---- Kernels --------------------------------------------------------------------------------------------------------

// Names what the kernel's proofs took on trust.
static gr_status say_trusted(const Check *c, const Unit *u, const GrKernelModel *m,
                             const GrTermVec *trusted) {
    enum { MOST = 4 }; // how many are named
    StrBuf text = {0};
    Arena scratch;
    if (c->set->wrap || !trusted->len)
        return GR_OK;
    gr_arena_init(&scratch);
    const char *name = gr_demangle(m->func->name, &scratch);
    gr_str_addf(&text,
                "kernel %s of %s: decided on the assumption that no number of the launch is so large that ",
                name ? name : m->func->name, u->file);
    for (size_t k = 0; k < trusted->len && k < MOST; k++) {
        gr_str_add(&text, !k ? "" : k + 1 == trusted->len ? " or " : ", ");
        gr_tell_operation(trusted->data[k], &text);
    }
    gr_str_addf(&text, "%s overflows (--wrap decides without)",
                trusted->len > MOST ? ", or another operation," : "");
    gr_arena_free(&scratch);
    gr_status st = text.oom ? GR_ERR_NOMEM : c->to->remark(c->to->user, text.data);
    gr_str_free(&text);
    return st;
}

static bool has_program(const GrLinkedUnit *u, size_t program) {
    for (size_t k = 0; k < u->programs.len; k++)
        if (u->programs.data[k] == program)
            return true;
    return false;
}

// The launch is of the kernel with what the unit is linked with.
static bool is_launch_of(const Unit *u, const GrHostLaunch *l, const char *kernel) {
    return !strcmp(l->kernel, kernel) && (l->recorded || has_program(u->of, l->program));
}

static size_t launches_of(const Unit *u, const char *kernel) {
    size_t n = 0;
    for (size_t k = 0; u->host && k < u->host->launches.len; k++)
        n += is_launch_of(u, u->host->launches.data[k], kernel);
    return n;
}

// Whether only programs that link the unit in another way launch the kernel.
static bool is_launched_elsewhere(const Unit *u, const char *kernel) {
    if (!u->of->several || launches_of(u, kernel))
        return false;
    for (size_t k = 0; u->host && k < u->host->launches.len; k++)
        if (!strcmp(u->host->launches.data[k]->kernel, kernel))
            return true;
    return false;
}

static gr_status check_kernel(Check *c, const Unit *u, const PtxFunc *f, gr_error *err) {
    GrKernelModel m = {0};
    GrModels models = {.plain = &m, .linked = u->of->linked, .arena = c->to->arena};
    GrTermVec trusted = {0};
    bool open = false;
    size_t launches = launches_of(u, f->name);
    GrToldAll all = {0}, *together = c->set->launches && launches > 1 ? &all : NULL;
    gr_error why = {0};
    c->since = gr_seconds_now();
    gr_status st = gr_kernel_model(&c->terms, u->of->linked, f, 0, &m, &why);
    if (st == GR_ERR_LIMIT) {
        StrBuf text = {0};
        gr_str_addf(&text, "unknown: kernel %s of %s: it is too large: %s", f->name, u->file, why.msg);
        st = text.oom ? GR_ERR_NOMEM : c->to->reason(c->to->user, text.data);
        gr_str_free(&text);
        goto done;
    }
    if (st != GR_OK) {
        if (err)
            *err = why;
        goto done;
    }
    for (size_t k = 0; u->host && k < u->host->launches.len; k++) {
        const GrHostLaunch *l = u->host->launches.data[k];
        if (is_launch_of(u, l, f->name))
            GR_TRY(check_launch(c, u, &models, l, together, &trusted, &open, err));
    }
    if (!launches)
        GR_TRY(check_launch(c, u, &models, NULL, NULL, &trusted, &open, err));
    if (together)
        GR_TRY(gr_tell_all(&all, &(GrTold){.to = c->to, .file = u->file, .model = &m}, c->set->launches));
    if (!open)
        GR_TRY(c->to->kernel(c->to->user, f->name, u->file));
    for (size_t k = 0; k < m.no_wrap.len && st == GR_OK; k++)
        st = gr_vec_push(&trusted, m.no_wrap.data[k]) ? GR_OK : gr_no_memory(err);
    if (st == GR_OK)
        st = say_trusted(c, u, &m, &trusted);
done:
    gr_vec_free(&trusted);
    gr_map_free(&all.said);
    gr_models_free(&models);
    gr_kernel_model_free(&m);
    return st;
}

// The kernels of a file, each checked in a process of its own: they share nothing, and none can break another.
typedef struct Kernels {
    Check *c;
    const Unit *u;
    VEC(const PtxFunc *) all;
} Kernels;

// Begins what a child has to say; events follow.
typedef struct Said {
    gr_status st;
    gr_error err;
    GrSolverCounts counts;
} Said;

static void work(void *user, size_t piece, int out) {
    Kernels *k = user;
    StrBuf events = {0};
    GrStaticSink to = gr_events_sink(&events, k->c->to->arena);
    Said said = {0};
    k->c->to = &to;
    said.st = check_kernel(k->c, k->u, k->all.data[piece], &said.err);
    said.counts = gr_solver_counts(k->c->solver);
    if (!gr_child_write(out, &said, sizeof said) || !gr_child_write(out, events.data, events.len))
        _exit(1);
}

static gr_status take(void *user, size_t piece, const char *data, size_t len, bool died, gr_error *err) {
    Kernels *k = user;
    Said said;
    if (died || len < sizeof said) {
        StrBuf text = {0};
        gr_str_addf(
            &text, "unknown: kernel %s of %s: the process that looked at it died, perhaps for want of memory",
            k->all.data[piece]->name, k->u->file);
        gr_status st = text.oom ? GR_ERR_NOMEM : k->c->to->reason(k->c->to->user, text.data);
        gr_str_free(&text);
        return st;
    }
    memcpy(&said, data, sizeof said);
    k->c->counts.asked += said.counts.asked;
    k->c->counts.kept += said.counts.kept;
    gr_status st = gr_events_tell(data + sizeof said, len - sizeof said, k->c->to, err);
    if (st == GR_OK && said.st != GR_OK)
        *err = said.err;
    return st != GR_OK ? st : said.st;
}

static gr_status check_unit(Check *c, const Unit *u, gr_error *err) {
    gr_status st = GR_OK;
    Kernels all = {.c = c, .u = u};
    StrBuf progress = {0};
    const PtxModule *m = u->of->unit->module;
    unsigned uses = 0, callees = GR_USES_UNKNOWN;
    for (uint32_t k = 0; k < m->n_funcs && st == GR_OK; k++) {
        const PtxFunc *f = m->funcs[k];
        bool wanted = true;
        if (!f->is_entry || !f->has_body || is_launched_elsewhere(u, f->name))
            continue;
        if (c->set->launches)
            st = gr_launched_has(&c->launched, f->name, &wanted, err);
        if (st == GR_OK && wanted && !gr_vec_push(&all.all, f))
            st = gr_no_memory(err);
        uses |= wanted ? gr_uses_of_kernel(f, ~0u, &callees) : 0;
    }
    if (st == GR_OK)
        st = c->to->uses(c->to->user, uses);
    gr_str_addf(&progress, "kernels of %s", u->file);
    GrJobs jobs = {all.all.len, c->set->jobs, &all, work, take, NULL};
    if (isatty(STDERR_FILENO) && !c->set->verbose && !progress.oom)
        jobs.progress = progress.data;
    if (st == GR_OK)
        st = gr_jobs_run(&jobs, err);
    gr_str_free(&progress);
    gr_vec_free(&all.all);
    return st;
}

// ---- Files ----------------------------------------------------------------------------------------------------------

static gr_status say_all(gr_status (*say)(void *user, const char *text), void *user, const char *const *texts,
                         size_t n) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < n && st == GR_OK; k++)
        st = say(user, texts[k]);
    return st;
}

static gr_status check_units(Check *c, const GrUnits *units, const GrHost *host, gr_error *err) {
    gr_status st = say_all(c->to->unread, c->to->user, units->unread.data, units->unread.len);
    if (st == GR_OK)
        st = say_all(c->to->reason, c->to->user, units->reasons.data, units->reasons.len);
    for (size_t k = 0; k < units->linked.len && st == GR_OK; k++) {
        const GrLinkedUnit *of = units->linked.data[k];
        st = check_unit(c, &(Unit){of->unit->file, of, c->set->launches ? &c->launched.host : host}, err);
    }
    return st;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static gr_status check_ptx(Check *c, const GrStaticInput *in, gr_error *err) {
    gr_status st = GR_OK;
    GrUnits units;
    size_t n = 0;
    const char **files = calloc(in->n + 1, sizeof *files);
    gr_units_init(&units);
    for (size_t k = 0; files && k < in->n; k++)
        if (ends_with(in->files[k], ".ptx"))
            files[n++] = in->files[k];
    st = files ? gr_units_of_ptx(&units, files, n, err) : gr_no_memory(err);
    if (st == GR_OK)
        st = check_units(c, &units, NULL, err);
    gr_units_free(&units);
    free(files);
    return st;
}

// Checks sources. Unless it is known which programs they make, they are one, for what one says of another's kernels.
static gr_status check_sources(Check *c, const GrBuild *build, gr_error *err) {
    gr_status st;
    GrHost host;
    GrHostCode code = {0};
    GrUnits units;
    GrHostInput what = {.sources = build->sources.data,
                        .n_sources = build->sources.len,
                        .programs = build->programs.data,
                        .n_programs = build->programs.len,
                        .kernels_only = c->set->launches != NULL};
    for (unsigned k = 1; k <= 5; k++)
        what.classes |= (unsigned)c->set->facts[k] << k;
    gr_host_init(&host);
    gr_units_init(&units);
    GR_TRY(gr_host_facts(&c->terms, &what, &host, &code, err));
    GR_TRY(say_all(c->to->unread, c->to->user, host.unread.data, host.unread.len));
    GR_TRY(say_all(c->to->reason, c->to->user, build->reasons.data, build->reasons.len));
    GR_TRY(say_all(c->to->remark, c->to->user, build->remarks.data, build->remarks.len));
    GR_TRY(say_all(c->to->reason, c->to->user, host.reasons.data, host.reasons.len));
    GR_TRY(say_all(c->to->remark, c->to->user, host.remarks.data, host.remarks.len));
    GR_TRY(gr_units_of_code(&units, &code, err));
    GR_TRY(check_units(c, &units, &host, err));
done:
    gr_units_free(&units);
    gr_host_code_free(&code);
    gr_host_free(&host);
    return st;
}

// Opens the cache. Answers count for this very library and its solver only: a verifier that is built anew asks anew.
static gr_status open_cache(Check *c, gr_error *err) {
    char path[PATH_MAX], version[128], *library;
    size_t len;
    gr_error why;
    if (!c->set->cache)
        return GR_OK;
    snprintf(path, sizeof path, "%s/" GR_VERIFIER_LIBRARY, c->set->folder);
    GR_MUST(gr_file_read(path, &library, &len, err));
    snprintf(version, sizeof version, "%s, %s, %016llx", GPURACE_VERSION, gr_solver_version(),
             (unsigned long long)gr_hash_bytes(library, len));
    free(library);
    gr_status st = gr_cache_open(c->set->cache, version, &c->cache, &why);
    gr_solver_use(c->solver, c->cache);
    if (st == GR_OK || (st == GR_ERR_IO && !c->set->cache_wanted))
        return GR_OK;
    *err = why;
    return st;
}

static void print_counts(const Check *c) {
    GrSolverCounts n = c->counts;
    fprintf(stderr, "the solver was asked %llu times, %llu answers were kept from earlier\n",
            (unsigned long long)n.asked, (unsigned long long)n.kept);
}

// Finds the sources: in the build, databases, and files by their names.
static gr_status find_sources(const GrStaticInput *in, const GrVerifierSettings *set, GrBuild *b,
                              gr_error *err) {
    gr_status st = GR_OK;
    if (in->options->build[0]) {
        char library[PATH_MAX];
        int n = snprintf(library, sizeof library, "%s/" GR_BUILD_LIBRARY, set->folder);
        st = n < (int)sizeof library ? gr_build_watch(b, in->options->build, library, err)
                                     : gr_fail(err, GR_ERR_LIMIT, "%s: the name is too long", set->folder);
    }
    for (size_t k = 0; k < in->n && st == GR_OK; k++) {
        if (ends_with(in->files[k], ".json"))
            st = gr_build_read_database(b, in->files[k], err);
        else if (!ends_with(in->files[k], ".ptx"))
            st = gr_build_add_file(b, in->files[k], err);
    }
    return st;
}

gr_status gr_verifier_check(const GrStaticInput *in, const GrVerifierSettings *set, const GrStaticSink *to,
                            gr_error *err) {
    gr_status st;
    Check c = {.set = set, .to = to};
    GrBuild build;
    gr_build_init(&build, in->words);
    gr_terms_init(&c.terms);
    GR_TRY(find_sources(in, set, &build, err));
    GR_TRY(say_all(to->unread, to->user, build.unread.data, build.unread.len));
    if (set->launches)
        GR_TRY(gr_launched_read(&c.launched, &c.terms, set->launches, err));
    GR_TRY(gr_solver_create(&c.terms, &c.solver, err));
    GR_TRY(open_cache(&c, err));
    GR_TRY(check_ptx(&c, in, err));
    if (build.sources.len)
        GR_TRY(check_sources(&c, &build, err));
    if (set->launches)
        GR_TRY(gr_launched_tell(&c.launched, set->launches, to, err));
    GR_TRY(to->uses(to->user, 1u << GR_USE_STREAMS)); // each launch is looked at by itself
    if (set->verbose)
        print_counts(&c);
done:
    gr_build_free(&build);
    gr_solver_free(c.solver);
    gr_cache_close(c.cache);
    if (set->launches)
        gr_launched_free(&c.launched);
    gr_terms_free(&c.terms);
    return st;
}
