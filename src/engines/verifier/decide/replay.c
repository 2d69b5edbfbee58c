// SPDX-License-Identifier: Apache-2.0
// replay — from a witness to a launch (gpurace-launch), to a report of exact, to the races in it.
#include "engines/verifier/decide/replay.h"

#include "base/demangle.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_RUNS = 16,         // of one kernel and launch
    MOST_THREADS = 1 << 17, // of a launch that is replayed
    FRONT = 1 << 16,        // bytes before and behind each buffer: what is beside an array is no fault here
};
static const uint64_t most_bytes = (uint64_t)1 << 28;

void gr_replays_free(GrReplays *r) { gr_vec_free(&r->seen); }

// ---- The launch -----------------------------------------------------------------------------------------------------

static uint64_t value_of(const GrTerm *a, const GrWitness *w, uint64_t otherwise) {
    GrValues v = gr_solver_values(&w->solved.model);
    uint64_t out;
    return a && gr_term_value(a, &v, &out) ? out : otherwise;
}

static bool is_param_of(const GrBound *b, const GrSymbol *s) {
    return s->kind == GR_SYM_PARAM && !s->of && s->owner == b->model->func;
}

static bool is_scalar(const GrBound *b, const GrSymbol *s) {
    for (size_t k = 0; k < b->model->objects.len; k++) {
        const GrObject *o = b->model->objects.data[k];
        if (o->kind == GR_OBJECT_PARAM && o->param == s->param && o->offset == s->offset)
            return false;
    }
    return is_param_of(b, s);
}

static void see_value(void *user, const GrSymbol *s) {
    if (s->kind == GR_SYM_HOST)
        ((uint8_t *)user)[s->id] = 1;
}

// Marks the host's values of which grid, block and arguments are made.
static bool see_launch(const GrBound *b, uint8_t *used) {
    bool ok = true;
    for (unsigned d = 0; d < 3; d++)
        ok = ok && gr_term_symbols(b->grid[d], see_value, used) &&
             gr_term_symbols(b->block[d], see_value, used);
    for (size_t k = 0; ok && b->launch && k < b->launch->arguments.len; k++) {
        const GrArgument *a = &b->launch->arguments.data[k];
        ok = (!a->value || gr_term_symbols(a->value, see_value, used)) &&
             (!a->at || gr_term_symbols(a->at, see_value, used));
    }
    return ok;
}

void gr_witness_text(GrBound *b, const GrWitness *w, StrBuf *out) {
    gr_str_addf(out, "grid (%u,%u,%u), block (%u,%u,%u)", w->grid[0], w->grid[1], w->grid[2], w->block[0],
                w->block[1], w->block[2]);
    uint8_t *used = calloc(b->t->n_symbols + 1u, 1);
    if (!used || !see_launch(b, used))
        out->oom = true;
    for (uint32_t k = 0; !out->oom && k < b->t->n_symbols && k < w->solved.model.n_values; k++) {
        const GrSymbol *s = b->t->symbols[k];
        if (used[k] || (!b->launch && !s->of && is_scalar(b, s)))
            gr_str_addf(out, ", %s = %lld", s->name,
                        (long long)(s->bits < 64 ? (int64_t)(w->solved.model.values[k] << (64 - s->bits)) >>
                                                       (64 - s->bits)
                                                 : (int64_t)w->solved.model.values[k]));
    }
    free(used);
}

static void add_bytes(uint32_t param, uint32_t offset, uint32_t bits, uint64_t value, StrBuf *out) {
    gr_str_addf(out, "bytes %u %u ", param, offset);
    for (uint32_t k = 0; k < bits / 8; k++)
        gr_str_addf(out, "%02x", (unsigned)(value >> 8 * k & 0xff));
    gr_str_addc(out, '\n');
}

// How many bits of the argument are the parameter's: the rest is what the host has in memory behind it.
static uint32_t bits_of(const GrBound *b, const GrArgument *a) {
    const PtxFunc *f = b->model->func;
    uint64_t size = a->param < f->n_params ? f->params[a->param]->size : 0;
    uint64_t left = size > a->offset ? (size - a->offset) * 8 : 0;
    return left < a->bits ? (uint32_t)left : a->bits;
}

static void add_scalars(const GrBound *b, const GrWitness *w, StrBuf *out) {
    for (uint32_t k = 0; k < b->t->n_symbols && k < w->solved.model.n_values; k++) {
        const GrSymbol *s = b->t->symbols[k];
        if (is_param_of(b, s) && s->bits >= 8)
            add_bytes(s->param, s->offset, s->bits, w->solved.model.values[k], out);
    }
    for (size_t k = 0; b->launch && k < b->launch->arguments.len; k++) {
        const GrArgument *a = &b->launch->arguments.data[k];
        if (a->value && bits_of(b, a) >= 8 &&
            (b->set->facts[GR_FACT_SHARED] || a->value->op == GR_TERM_CONST))
            add_bytes(a->param, a->offset, bits_of(b, a), value_of(a->value, w, 0), out);
    }
}

static const GrAllocation *allocation_of(const GrMemory *m, const GrWitness *w) {
    const GrValues v = gr_solver_values(&w->solved.model);
    return gr_bound_allocation(m, &v);
}

// Bytes from the buffer's begin that the two accesses need at least.
static uint64_t reach(const GrVerdict *v, const GrMemory *m) {
    uint64_t most = 4096;
    for (unsigned k = 0; k < 2; k++) {
        const GrMemory *mine = &v->sides[k]->memory;
        uint64_t end = v->witness.offset[k] + v->sides[k]->a->size;
        bool same =
            m->allocation ? allocation_of(mine, &v->witness) == m->allocation : mine->object == m->object;
        if (same && (int64_t)end > (int64_t)most)
            most = end;
    }
    return most;
}

// A buffer for each allocation, or for a pointer of which none is known.
typedef struct Buffers {
    const GrBound *b;
    const GrVerdict *v;
    const void *owners[64];
    unsigned n;
    StrBuf *out;
} Buffers;

// The memory is a variable of the module, which the launch has by itself.
static bool is_variable(const Buffers *s, const GrMemory *m) {
    return m->allocation && m->allocation->variable &&
           (gr_linked_find_var(s->b->model->linked, m->allocation->variable) ||
            gr_ptx_find_var(s->b->model->func->module, m->allocation->variable));
}

static bool add_buffer(Buffers *s, const GrMemory *m) {
    uint64_t need = reach(s->v, m), size = need;
    if (m->allocation && m->allocation->size)
        size = value_of(m->allocation->size, &s->v->witness, need);
    size = size < need ? need : size;
    if (is_variable(s, m))
        gr_str_addf(s->out, "variable %s\n", m->allocation->variable);
    else if (size > most_bytes)
        return false;
    else
        gr_str_addf(s->out, "buffer %llu %d\n", (unsigned long long)size, FRONT);
    return true;
}

// `owner`: what has the buffer, one for each.
static bool add_pointer(Buffers *s, const GrMemory *m, const void *owner, uint32_t param, uint32_t offset) {
    unsigned at = 0;
    while (at < s->n && s->owners[at] != owner)
        at++;
    if (at == s->n) {
        if (at == sizeof s->owners / sizeof *s->owners || !add_buffer(s, m))
            return false;
        s->owners[s->n++] = owner;
    }
    gr_str_addf(s->out, "pointer %u %u %u %lld\n", param, offset, at,
                (long long)(m->at ? value_of(m->at, &s->v->witness, 0) : 0));
    return true;
}

static bool is_object(const GrKernelModel *m, const GrArgument *a) {
    for (size_t k = 0; k < m->objects.len; k++) {
        const GrObject *o = m->objects.data[k];
        if (o->kind == GR_OBJECT_PARAM && o->param == a->param && o->offset == a->offset)
            return true;
    }
    return false;
}

static bool add_buffers(const GrBound *b, const GrVerdict *v, StrBuf *out) {
    Buffers s = {.b = b, .v = v, .out = out};
    const GrKernelModel *m = b->model;
    for (size_t k = 0; k < m->objects.len; k++) {
        const GrObject *o = m->objects.data[k];
        GrMemory memory = {.object = o};
        if (o->kind != GR_OBJECT_PARAM)
            continue;
        for (size_t j = 0; j < b->accesses.len; j++)
            if (b->accesses.data[j].memory.object == o)
                memory = b->accesses.data[j].memory;
        memory.allocation = allocation_of(&memory, &v->witness);
        const void *owner = memory.allocation ? (const void *)memory.allocation : (const void *)o;
        if (!add_pointer(&s, &memory, owner, o->param, o->offset))
            return false;
    }
    // A recorded launch has pointers, too, that the kernel only hands on or looks at.
    for (size_t k = 0; b->launch && b->launch->recorded && k < b->launch->arguments.len; k++) {
        const GrArgument *a = &b->launch->arguments.data[k];
        const GrMemory memory = {.allocation = a->allocation, .at = a->at};
        if (a->allocation && !a->value && !is_object(m, a) &&
            !add_pointer(&s, &memory, a->allocation, a->param, a->offset))
            return false;
    }
    return true;
}

static bool is_too_large(const GrWitness *w) {
    double all = 1;
    for (unsigned d = 0; d < 3; d++)
        all *= (double)w->grid[d] * w->block[d];
    return all > MOST_THREADS;
}

static bool has_dynamic_shared(const GrKernelModel *m) {
    for (size_t k = 0; k < m->objects.len; k++)
        if (m->objects.data[k]->kind == GR_OBJECT_SHARED &&
            (!m->objects.data[k]->size || m->objects.data[k]->var->is_extern))
            return true;
    return false;
}

// Writes the launch. NULL: done; else why it cannot be written.
static const char *write_spec(const GrBound *b, const GrVerdict *v, StrBuf *out) {
    const GrWitness *w = &v->witness;
    if (is_too_large(w))
        return "the launch is too large";
    gr_str_addf(out, "kernel %s\ngrid %u %u %u\nblock %u %u %u\n", b->model->func->name, w->grid[0],
                w->grid[1], w->grid[2], w->block[0], w->block[1], w->block[2]);
    uint64_t otherwise = has_dynamic_shared(b->model) ? 32768 : 0;
    // PTX alone has no launch: a cooperative one is taken for a barrier of the grid, at which other launches end.
    if (b->launch ? b->launch->cooperative : gr_kernel_has_grid_barrier(b->model))
        gr_str_add(out, "cooperative\n");
    gr_str_addf(out, "shared %u\n",
                (unsigned)(b->launch && b->launch->shared_bytes
                               ? value_of(b->launch->shared_bytes, w, otherwise)
                               : otherwise));
    add_scalars(b, w, out);
    return add_buffers(b, v, out) ? NULL : "its memory is too large";
}

// ---- The run --------------------------------------------------------------------------------------------------------

extern char **environ;

static bool spawn(const char *const *words) {
    posix_spawn_file_actions_t to;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&to);
    posix_spawn_file_actions_addopen(&to, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&to, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&to, 2, "/dev/null", O_WRONLY, 0);
    bool ok = posix_spawn(&pid, words[0], &to, NULL, (char *const *)words, environ) == 0;
    while (ok && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    posix_spawn_file_actions_destroy(&to);
    return ok && WIFEXITED(status);
}

static uint32_t number(const json_t *o, const char *key) {
    return (uint32_t)json_integer_value(json_object_get(o, key));
}

static void take_triple(const json_t *o, const char *key, uint32_t out[3]) {
    for (size_t d = 0; d < 3; d++)
        out[d] = (uint32_t)json_integer_value(json_array_get(json_object_get(o, key), d));
}

static const char *text(GrReplays *r, const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? gr_arena_strdup(r->arena, s) : NULL;
}

static uint64_t hex(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? strtoull(s, NULL, 0) : 0;
}

static bool take_side(GrReplays *r, const json_t *a, GrSeenSide *out) {
    const json_t *frames = json_object_get(a, "frames");
    out->ptx_line = number(a, "ptx_line");
    out->function = text(r, a, "function");
    out->address = hex(a, "address");
    take_triple(a, "thread", out->thread);
    take_triple(a, "block", out->block);
    out->n_places = json_array_size(frames);
    out->places = gr_arena_array(r->arena, out->n_places + 1, sizeof *out->places);
    for (size_t k = 0; out->places && k < out->n_places; k++) {
        out->places[k].file = text(r, json_array_get(frames, k), "file");
        out->places[k].line = number(json_array_get(frames, k), "line");
    }
    return out->places;
}

static bool take_report(GrReplays *r, const char *path, const char *launch) {
    json_t *report = json_load_file(path, 0, NULL), *race;
    const json_t *coverage = json_object_get(report, "coverage");
    const char *fault = json_string_value(json_array_get(json_object_get(coverage, "faults"), 0));
    bool ok = json_integer_value(json_object_get(json_object_get(coverage, "launches"), "checked")) > 0;
    size_t i;
    if (fault)
        r->why_not = gr_arena_strdup(r->arena, fault);
    json_array_foreach(json_object_get(report, "races"), i, race) {
        const json_t *sides = json_object_get(race, "accesses"), *overlap = json_object_get(race, "overlap");
        GrSeenRace seen = {
            .class = text(r, race, "class"), .missing = text(r, race, "missing_order"), .launch = launch};
        if (json_array_size(sides) != 2)
            continue;
        seen.overlap = hex(overlap, "address");
        seen.bytes = number(overlap, "bytes");
        ok = ok && take_side(r, json_array_get(sides, 0), &seen.sides[0]) &&
             take_side(r, json_array_get(sides, 1), &seen.sides[1]) && gr_vec_push(&r->seen, seen);
    }
    json_decref(report);
    return ok;
}

static const char *why_failed(const GrReplays *r) {
    const char *name = gr_linked_undefined(r->unit->linked, r->unit->needs, r->unit->n_needs), *text;
    if (!name)
        return "the replay failed";
    text = gr_demangle(name, r->arena);
    text = gr_arena_printf(r->arena, "no file defines %s", text ? text : name);
    return text ? text : "the replay failed";
}

// Writes the launch into `folder`, with the modules that the kernel's unit needs.
static gr_status write_launch(const GrReplays *r, const StrBuf *spec, const char *folder, gr_error *err) {
    gr_status st = GR_OK;
    char path[PATH_MAX + 32];
    StrBuf all = {0};
    for (size_t k = 0; k < r->unit->n_needs && st == GR_OK; k++) {
        const GrUnit *u = r->unit->units[k];
        snprintf(path, sizeof path, "%s/%zu.ptx", folder, k);
        gr_str_addf(&all, "ptx %s\n", path);
        st = gr_own_write(path, GR_OWN_SCRATCH, u->text, u->len, err);
    }
    gr_str_addn(&all, spec->data, spec->len);
    snprintf(path, sizeof path, "%s/launch", folder);
    if (st == GR_OK)
        st = all.oom ? gr_no_memory(err) : gr_own_write(path, GR_OWN_SCRATCH, all.data, all.len, err);
    gr_str_free(&all);
    return st;
}

// Runs the launch in `folder`, and takes what exact reports: races, and why the launch came to no end.
static gr_status run_in(GrReplays *r, const GrBound *b, const char *launch, const char *folder,
                        gr_error *err) {
    char spec_path[PATH_MAX + 32], report_path[PATH_MAX + 32];
    snprintf(spec_path, sizeof spec_path, "%s/launch", folder);
    snprintf(report_path, sizeof report_path, "%s/report.json", folder);
    char *program = gr_arena_printf(r->arena, "%s/gpurace-launch", b->set->folder);
    GR_NEED(program, err);
    const char *const words[] = {b->set->command,
                                 "run",
                                 "--engine",
                                 "exact",
                                 "--device",
                                 "cpu",
                                 "--format",
                                 "json",
                                 "--output",
                                 report_path,
                                 "--max-reports",
                                 "0",
                                 "--timeout",
                                 "20",
                                 "--bundled-suppressions",
                                 "no",
                                 "--",
                                 program,
                                 spec_path,
                                 NULL};
    if (!spawn(words) || !take_report(r, report_path, launch))
        r->why_not = why_failed(r);
    return GR_OK;
}

static gr_status run(GrReplays *r, GrBound *b, const GrVerdict *v, gr_error *err) {
    gr_status st = GR_OK;
    StrBuf spec = {0}, launch = {0};
    char folder[PATH_MAX];
    r->why_not = write_spec(b, v, &spec);
    gr_witness_text(b, &v->witness, &launch);
    char *text_of = gr_arena_strdup(r->arena, launch.data ? launch.data : "");
    if (spec.oom || launch.oom || !text_of)
        st = gr_no_memory(err);
    else if (!r->why_not && (st = gr_own_folder(folder, "replay", err)) == GR_OK) {
        r->runs++;
        st = write_launch(r, &spec, folder, err);
        if (st == GR_OK)
            st = run_in(r, b, text_of, folder, err);
        (void)gr_own_remove_folder(folder, NULL);
    }
    gr_str_free(&spec);
    gr_str_free(&launch);
    return st;
}

// ---- Which race it is -----------------------------------------------------------------------------------------------

static bool has_line(const GrSeenSide *s, const GrKernelAccess *a) {
    const GrPlace *p = a->place;
    return p && p->file && p->line && s->n_places && s->places[0].file && s->places[0].line == p->line &&
           !strcmp(s->places[0].file, p->file);
}

static bool has_function(const GrReplays *r, const GrSeenSide *s, const GrKernelAccess *a) {
    const char *name = gr_demangle(a->func->name, r->arena);
    return s->function && name && !strcmp(s->function, name);
}

// With several modules a line of PTX alone does not say which module it is of.
static bool is_side(const GrReplays *r, const GrSeenSide *s, const GrKernelAccess *a) {
    bool line = s->ptx_line == a->stmt->line;
    if (r->unit->n_needs > 1)
        return has_line(s, a) || (line && !s->n_places && has_function(r, s, a));
    return line || has_line(s, a);
}

static const GrSeenRace *find(GrReplays *r, const GrVerdict *v) {
    const GrKernelAccess *x = v->sides[0]->a, *y = v->sides[1]->a;
    for (size_t k = 0; k < r->seen.len; k++) {
        GrSeenRace *race = &r->seen.data[k];
        const GrSeenSide *s = race->sides;
        bool straight = is_side(r, &s[0], x) && is_side(r, &s[1], y);
        race->turned = !straight;
        if (straight || (is_side(r, &s[0], y) && is_side(r, &s[1], x)))
            return race;
    }
    return NULL;
}

gr_status gr_replay(GrReplays *r, GrBound *b, const GrVerdict *v, const GrSeenRace **out, gr_error *err) {
    gr_status st = GR_OK;
    *out = find(r, v);
    r->why_not = NULL;
    if (*out)
        return GR_OK;
    if (r->runs >= MOST_RUNS) {
        r->why_not = "there were many replays of this kernel already";
        return GR_OK;
    }
    st = run(r, b, v, err);
    if (st == GR_OK)
        *out = find(r, v);
    if (!*out && !r->why_not)
        r->why_not = "exact saw no such race in its replay";
    return st;
}
