// SPDX-License-Identifier: Apache-2.0
// Models of kernels against executions: each kernel of model/kernels.cu runs on the CPU device, and every access that a
// thread makes must be one that the model has for that thread, with its guard, its facts and the barriers that may come
// before. Where a kernel's model is exact, the model has no other accesses.
#include "../../vm/harness.h"
#include "engines/verifier/kernel/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_PARAMS = 4, BYTES = 8192, MOST_UNKNOWN = 4, WORDS = BYTES / 4 };

typedef struct Case {
    const char *kernel;
    uint32_t grid[3], block[3], shared;
    const char *params; // p: a buffer; a number of 4 bytes (i) or 8 (l); s: struct Image {p, i, i}
    int64_t values[6];
    uint32_t rounds; // how far counters are tried
    char function;   // of the rounds: 'h' blockDim.x / 2 is halved, 'd' 1 is doubled, 'g' and 1 added
    bool loose;      // the model says more than happens
} Case;

static const Case cases[] = {
    {"stride", {2, 1, 1}, {8, 1, 1}, 0, "ppi", {0, 0, 50}, 6, 0, false},
    {"reduce", {2, 1, 1}, {16, 1, 1}, 0, "pp", {0}, 6, 'h', false},
    {"interleaved", {1, 1, 1}, {16, 1, 1}, 0, "p", {0}, 6, 'd', false},
    {"transpose", {2, 2, 1}, {8, 4, 1}, 0, "ppi", {0, 0, 16}, 3, 0, false},
    {"fill", {3, 1, 1}, {16, 1, 1}, 0, "si", {0, 11, 2, 7}, 0, 0, false},
    {"calls", {1, 1, 1}, {16, 1, 1}, 0, "ppi", {0, 0, 5}, 5, 0, false},
    {"conditions", {1, 1, 1}, {40, 1, 1}, 0, "pii", {0, 3, 20}, 0, 0, false},
    {"counters", {1, 1, 1}, {2, 1, 1}, 0, "pii", {0, 5, 7}, 8, 0, false},
    {"buffers", {1, 1, 1}, {16, 1, 1}, 0, "ppi", {0, 0, 5}, 7, 0, false},
    {"double_buffer", {1, 1, 1}, {16, 1, 1}, 0, "ppi", {0, 0, 4}, 6, 0, false},
    {"do_while", {1, 1, 1}, {8, 1, 1}, 0, "pi", {0, 60}, 12, 0, false},
    {"do_while", {1, 1, 1}, {8, 1, 1}, 0, "pi", {0, 3}, 12, 0, false},
    {"early",
     {1, 1, 1},
     {8, 1, 1},
     0,
     "ppi",
     {0, 0, 9},
     12,
     0,
     true}, // that no earlier round has stopped is not said
    {"bits", {1, 1, 1}, {32, 1, 1}, 0, "pi", {0, 2}, 0, 0, false},
    {"warps", {1, 1, 1}, {64, 1, 1}, 0, "p", {0}, 0, 0, false},
    {"dynamic", {1, 1, 1}, {32, 1, 1}, 256, "pi", {0, 3}, 0, 0, false},
    {"wide", {1, 1, 1}, {16, 1, 1}, 0, "ppl", {0, 0, 7}, 0, 0, false},
    {"scan", {1, 1, 1}, {32, 1, 1}, 0, "pi", {0, 32}, 8, 'd', false},
    {"growing", {1, 1, 1}, {4, 1, 1}, 0, "pi", {0, 60}, 7, 'g', false},
    {"down", {1, 1, 1}, {8, 1, 1}, 0, "pii", {0, 60, 7}, 12, 0, false},
    {"parts", {1, 1, 1}, {8, 1, 1}, 0, "pi", {0, 777}, 0, 0, false},
    {"instructions", {1, 1, 1}, {24, 1, 1}, 0, "pi", {0, 37}, 0, 0, false},
    {"chosen", {1, 1, 1}, {24, 1, 1}, 0, "pi", {0, 1}, 0, 0, false},
    {"counted", {1, 1, 1}, {4, 1, 1}, 0, "pi", {0, 10}, 9, 0, false},
    {"pointers", {1, 1, 1}, {8, 1, 1}, 0, "pi", {0, 60}, 12, 0, false},
    {"rotate", {1, 1, 1}, {4, 1, 1}, 0, "pppi", {0, 0, 0, 8}, 9, 0, false},
    {"captured", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 20}, 6, 0, false},
    {"members", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 6}, 6, 0, false},
    {"reached", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 5}, 6, 0, false},
    {"advanced", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 5}, 6, 0, true},
    {"renamed", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 5}, 6, 0, true},
    {"later", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 7}, 8, 0, true},
    {"swapped", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 7}, 8, 0, true},
    {"filled", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 16}, 6, 0, true},
    {"bounded", {1, 1, 1}, {16, 1, 1}, 0, "pi", {0, 4}, 6, 0, true},
};

// ---- What a thread really did ------------------------------------------------------------------------------------

typedef struct Seen {
    const PtxStmt *stmt;
    uint32_t block[3], thread, size;
    bool shared, writes;
    uint64_t at;
    const PtxStmt *barrier, *warp_barrier; // the last ones; NULL: none
} Seen;

typedef struct Run {
    const Case *c;
    Rig rig;
    VEC(Seen) seen;
    const PtxStmt *barrier[64][1024], *warp_barrier[64][1024]; // by block and thread
    uint8_t *memory;                                           // all buffers, before the launch
    uint64_t base[MOST_PARAMS];
    uint8_t packed[64];
    GrTerms terms;
    GrKernelModel model;
} Run;

static void on_access(void *user, const VmAccessEvent *e) {
    Run *r = user;
    if (e->space != PTX_GLOBAL && e->space != PTX_SHARED)
        return;
    for (uint32_t l = 0; l < 32; l++) {
        if (!(e->where.mask >> l & 1))
            continue;
        uint32_t thread = e->where.warp * 32 + l, block = (uint32_t)e->where.block_linear;
        Seen s = {.stmt = e->where.stmt,
                  .thread = thread,
                  .size = e->size,
                  .shared = e->space == PTX_SHARED,
                  .at = e->address[l]};
        memcpy(s.block, e->where.block, sizeof s.block);
        s.writes = e->access & PTX_ACCESS_WRITE;
        s.barrier = r->barrier[block][thread];
        s.warp_barrier = r->warp_barrier[block][thread];
        assert_true(gr_vec_push(&r->seen, s));
    }
}

static void on_sync(void *user, const VmSyncEvent *e) {
    Run *r = user;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t thread = e->where.warp * 32 + l, block = (uint32_t)e->where.block_linear;
        if (!(e->where.mask >> l & 1))
            continue;
        if (e->kind == VM_SYNC_BARRIER_ARRIVE)
            r->barrier[block][thread] = r->warp_barrier[block][thread] = e->where.stmt;
        else if (e->kind == VM_SYNC_WARP)
            r->warp_barrier[block][thread] = e->where.stmt;
    }
}

// Numbers that stay indices when they are read.
static void fill(Run *r) {
    r->memory = calloc(MOST_PARAMS, BYTES);
    assert_non_null(r->memory);
    for (uint32_t k = 0; k < MOST_PARAMS * WORDS; k++) {
        uint32_t v = (k * 7 + 3) % 23 ? (k * 5) % 31 : 0;
        memcpy(r->memory + 4 * (size_t)k, &v, 4);
    }
    if (!strcmp(r->c->kernel, "early")) // nothing stops before number 6
        memset(r->memory + BYTES, 0, 24);
}

static void launch(Run *r) {
    const Case *c = r->c;
    uint32_t at = 0, value = 0, buffers = 0;
    for (const char *p = c->params; *p; p++) {
        uint32_t size = *p == 'i' ? 4 : 8;
        at = (at + size - 1) / size * size;
        uint64_t v = (uint64_t)c->values[value];
        if (*p == 'p' || *p == 's') {
            v = r->base[buffers] = rig_alloc(&r->rig, BYTES);
            memcpy(rig_view(&r->rig, v, BYTES), r->memory + (size_t)buffers * BYTES, BYTES);
            buffers++;
        }
        value++;
        memcpy(r->packed + at, &v, size);
        at += size;
        for (unsigned k = 0; *p == 's' && k < 2; k++, at += 4) {
            uint32_t i = (uint32_t)c->values[value++];
            memcpy(r->packed + at, &i, 4);
        }
    }
    VmLaunchParams p = {.func = gr_vm_module_func(r->rig.mod, c->kernel),
                        .shared_dynamic = c->shared,
                        .params = r->packed,
                        .launch = 1};
    memcpy(p.grid, c->grid, sizeof p.grid);
    memcpy(p.block, c->block, sizeof p.block);
    gr_error err = {0};
    VmLaunch *l = NULL;
    assert_non_null(p.func);
    VmObserver o = {.user = r, .access = on_access, .sync = on_sync};
    assert_int_equal(gr_vm_observe(r->rig.dev, &o, &err), GR_OK);
    assert_int_equal(gr_vm_launch(r->rig.dev, &p, &l, &err), GR_OK);
    rig_drain(&r->rig, 1000);
    if (gr_vm_launch_fault(l))
        fail_msg("%s: %s", c->kernel, gr_vm_launch_fault(l)->msg);
    gr_vm_launch_free(l);
}

// ---- What the model says --------------------------------------------------------------------------------------------

typedef struct Unknown {
    const GrSymbol *sym;
    uint64_t value;
} Unknown;

typedef struct Thread {
    const Run *run;
    uint32_t tid[3], ctaid[3];
    Unknown unknown[MOST_UNKNOWN];
    unsigned n_unknown;
    bool missing; // something that is not among the unknowns
    bool free;    // a value that may be anything is among them
} Thread;

static uint64_t unknown(Thread *t, const GrSymbol *s) {
    for (unsigned k = 0; k < t->n_unknown; k++)
        if (t->unknown[k].sym == s)
            return t->unknown[k].value;
    t->missing = true;
    return 0;
}

static uint64_t special(const Thread *t, const char *name) {
    unsigned d = (unsigned)(strrchr(name, '.')[1] - 'x');
    const Case *c = t->run->c;
    return name[1] == 't'               ? t->tid[d]
           : name[1] == 'c'             ? t->ctaid[d]
           : !strncmp(name, "%ntid", 5) ? c->block[d]
                                        : c->grid[d];
}

static uint64_t symbol(void *user, const GrSymbol *s) {
    Thread *t = user;
    if (s->kind == GR_SYM_SPECIAL)
        return special(t, s->name);
    if (s->kind != GR_SYM_PARAM)
        return unknown(t, s);
    VmFunc *f = gr_vm_module_func(t->run->rig.mod, t->run->c->kernel);
    const VmParam *p;
    uint32_t total;
    uint64_t v = 0;
    assert_true(s->param < gr_vm_func_params(f, &p, &total));
    memcpy(&v, t->run->packed + p[s->param].offset + s->offset, s->bits / 8);
    return v;
}

static uint64_t memory(void *user, const GrSymbol *object, uint64_t offset, uint32_t bits) {
    Thread *t = user;
    const GrObject *o = object->owner;
    if (!o && offset < 32) // a function of the rounds
        return t->run->c->function == 'h'   ? t->run->c->block[0] / 2 >> offset
               : t->run->c->function == 'd' ? UINT64_C(1) << offset
                                            : (UINT64_C(2) << offset) - 1;
    if (!o)
        return 0; // of round -1: nothing depends on it
    uint64_t v = 0;
    if (o->kind == GR_OBJECT_PARAM && offset + bits / 8 <= BYTES)
        memcpy(&v, t->run->memory + (size_t)o->param * BYTES + offset, bits / 8);
    return v;
}

static uint64_t value_of(Thread *t, const GrTerm *a) {
    uint64_t v = 0;
    GrValues values = {symbol, memory, t};
    assert_true(gr_term_value(a, &values, &v));
    return v;
}

static void see_unknown(void *user, const GrSymbol *s) {
    Thread *t = user;
    bool open = s->kind == GR_SYM_COUNTER || s->kind == GR_SYM_FREE;
    for (unsigned k = 0; k < t->n_unknown; k++)
        open = open && t->unknown[k].sym != s;
    if (!open)
        return;
    t->free |= s->kind == GR_SYM_FREE;
    assert_true(t->n_unknown < MOST_UNKNOWN);
    t->unknown[t->n_unknown++].sym = s;
}

// The next assignment of the unknowns; false: none is left.
static bool next(Thread *t) {
    for (unsigned k = 0; k < t->n_unknown; k++) {
        assert_int_equal(t->unknown[k].sym->kind, GR_SYM_COUNTER);
        if (++t->unknown[k].value < t->run->c->rounds)
            return true;
        t->unknown[k].value = 0;
    }
    return false;
}

static bool facts_hold(Thread *t) {
    for (size_t k = 0; k < t->run->model.facts.len; k++) {
        t->missing = false;
        if (!value_of(t, t->run->model.facts.data[k]) && !t->missing)
            return false;
    }
    return true;
}

static uint64_t address(const Run *r, const GrObject *o) {
    if (o->kind == GR_OBJECT_PARAM) {
        uint64_t v = 0;
        const VmParam *p;
        uint32_t total;
        gr_vm_func_params(gr_vm_module_func(r->rig.mod, r->c->kernel), &p, &total);
        memcpy(&v, r->packed + p[o->param].offset + o->offset, 8);
        return v;
    }
    uint64_t at = 0, size = 0;
    if (o->kind == GR_OBJECT_GLOBAL)
        assert_true(gr_vm_module_global(r->rig.mod, o->var->name, &at, &size, &(bool){false}));
    return at; // shared: each of these kernels has one variable, which lies at 0
}

static bool follows(const GrAfters *list, const PtxStmt *barrier) {
    for (size_t k = 0; k < list->len; k++)
        if (list->data[k].barrier->stmt == barrier)
            return true;
    return false;
}

// Marks what of the execution is an access of that statement.
static void find_all(const Run *r, const GrKernelAccess *a, const uint32_t *order, size_t n, bool *found) {
    for (size_t k = 0; k < n; k++) {
        const Seen *s = &r->seen.data[order[k]];
        if (s->stmt == a->stmt && s->size == a->size && s->writes == a->writes)
            found[order[k]] |= follows(&a->after[GR_REACH_BLOCK], s->barrier) &&
                               follows(&a->after[GR_REACH_WARP], s->warp_barrier);
    }
}

// Marks what of the execution is this access of this thread in some assignment. Returns whether all of the assignments
// really happened.
static bool compare(const Run *r, const GrKernelAccess *a, Thread *t, const uint32_t *order, size_t n,
                    bool *found) {
    bool all = true;
    t->n_unknown = 0;
    t->free = a->object->kind == GR_OBJECT_UNKNOWN;
    assert_true(gr_term_symbols(a->offset, see_unknown, t) && gr_term_symbols(a->guard, see_unknown, t));
    if (t->free) {
        find_all(r, a, order, n, found);
        return false;
    }
    uint64_t base = address(r, a->object);
    for (unsigned k = 0; k < t->n_unknown; k++)
        t->unknown[k].value = 0;
    do {
        if (!value_of(t, a->guard) || !facts_hold(t))
            continue;
        uint64_t at = base + value_of(t, a->offset);
        bool happened = false;
        for (size_t k = 0; k < n; k++) {
            const Seen *s = &r->seen.data[order[k]];
            if (s->stmt != a->stmt || s->at != at || s->size != a->size || s->writes != a->writes ||
                s->shared != (a->object->kind == GR_OBJECT_SHARED))
                continue;
            happened = true;
            found[order[k]] |= follows(&a->after[GR_REACH_BLOCK], s->barrier) &&
                               follows(&a->after[GR_REACH_WARP], s->warp_barrier);
        }
        all &= happened;
    } while (next(t));
    return all;
}

static void check_thread(const Run *r, Thread *t, bool *found, uint32_t *order) {
    size_t n = 0;
    const uint32_t *b = r->c->block;
    for (size_t k = 0; k < r->seen.len; k++) {
        const Seen *s = &r->seen.data[k];
        if (s->thread == t->tid[0] + b[0] * (t->tid[1] + b[1] * t->tid[2]) &&
            !memcmp(s->block, t->ctaid, sizeof s->block))
            order[n++] = (uint32_t)k;
    }
    for (size_t k = 0; k < r->model.accesses.len; k++) {
        const GrKernelAccess *a = r->model.accesses.data[k];
        if (!compare(r, a, t, order, n, found) && !r->c->loose)
            fail_msg("%s: the access at line %u is in the model of thread %u, but did not happen",
                     r->c->kernel, a->place->line, t->tid[0]);
    }
    for (size_t k = 0; k < n; k++)
        if (!found[order[k]])
            fail_msg("%s: thread %u accesses %llx at line %u, which the model does not have", r->c->kernel,
                     t->tid[0], (unsigned long long)r->seen.data[order[k]].at,
                     r->seen.data[order[k]].stmt->loc ? r->seen.data[order[k]].stmt->loc->line : 0);
}

static void check(const Case *c) {
    Run *r = calloc(1, sizeof *r);
    gr_error err = {0};
    assert_non_null(r);
    r->c = c;
    rig_open_file(&r->rig, GR_MODEL_PTX, NULL);
    fill(r);
    gr_terms_init(&r->terms);
    assert_int_equal(
        gr_kernel_model(&r->terms, NULL, gr_ptx_find_func(r->rig.ptx, c->kernel), 0, &r->model, &err), GR_OK);
    assert_int_equal(r->model.gaps.len, 0);
    launch(r);
    assert_true(r->seen.len > 0);
    bool *found = calloc(r->seen.len, sizeof *found);
    uint32_t *order = calloc(r->seen.len, sizeof *order);
    uint32_t blocks = c->grid[0] * c->grid[1] * c->grid[2], threads = c->block[0] * c->block[1] * c->block[2];
    for (uint32_t k = 0; k < blocks * threads; k++) {
        uint32_t th = k % threads, bl = k / threads;
        Thread t = {.run = r,
                    .tid = {th % c->block[0], th / c->block[0] % c->block[1], th / c->block[0] / c->block[1]},
                    .ctaid = {bl % c->grid[0], bl / c->grid[0] % c->grid[1], bl / c->grid[0] / c->grid[1]}};
        check_thread(r, &t, found, order);
    }
    gr_kernel_model_free(&r->model);
    gr_terms_free(&r->terms);
    rig_close(&r->rig);
    gr_vec_free(&r->seen);
    free(found);
    free(order);
    free(r->memory);
    free(r);
}

static void executions(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check(&cases[k]);
}

// ---- What is not executed -------------------------------------------------------------------------------------------

typedef struct Parsed {
    PtxModule *ptx;
    GrTerms terms;
    GrKernelModel model;
} Parsed;

static const GrKernelModel *model_of(Parsed *p, const char *kernel) {
    char *text;
    size_t len;
    gr_error err = {0};
    assert_int_equal(gr_file_read(GR_MODEL_PTX, &text, &len, &err), GR_OK);
    assert_int_equal(gr_ptx_parse(text, len, "kernels", &p->ptx, &err), GR_OK);
    free(text);
    gr_terms_init(&p->terms);
    assert_int_equal(gr_kernel_model(&p->terms, NULL, gr_ptx_find_func(p->ptx, kernel), 0, &p->model, &err),
                     GR_OK);
    return &p->model;
}

static void drop(Parsed *p) {
    gr_kernel_model_free(&p->model);
    gr_terms_free(&p->terms);
    gr_ptx_free(p->ptx);
}

static void locks(void **state) {
    (void)state;
    Parsed p;
    const GrKernelModel *m = model_of(&p, "lock");
    assert_int_equal(m->accesses.len, 4); // cas, load, store, exch
    for (size_t k = 1; k < 3; k++) {
        const GrKernelAccess *a = m->accesses.data[k];
        assert_int_equal(a->before.len, 2);
        assert_true(a->before.data[0]->is_cas && a->before.data[0]->spins && a->before.data[0]->until);
        assert_true(a->before.data[1]->is_fence && a->before.data[1]->scope == PTX_SCOPE_GPU);
        assert_int_equal(a->behind.len, 2);
        assert_true(a->behind.data[0]->is_fence && a->behind.data[1]->is_exch && !a->behind.data[1]->spins);
        assert_ptr_equal(a->behind.data[1]->object, a->before.data[0]->object);
    }
    assert_true(m->accesses.data[0]->atomic && m->accesses.data[0]->loop);
    drop(&p);
}

static void grids(void **state) {
    (void)state;
    Parsed p;
    const GrKernelModel *m = model_of(&p, "phases");
    assert_int_equal(m->gaps.len, 0);
    assert_int_equal(m->accesses.len, 2); // none of the barrier's own
    const GrKernelAccess *before = m->accesses.data[0], *behind = m->accesses.data[1];
    for (unsigned reach = 0; reach < GR_REACHES; reach++) {
        const GrAfters *x = &before->after[reach], *y = &behind->after[reach];
        assert_true(x->len == 1 && x->data[0].barrier->kind == GR_BARRIER_ENTRY);
        assert_true(y->len == 1 && y->data[0].barrier->kind == GR_BARRIER_GRID);
    }
    drop(&p);
}

static void gaps(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *why;
    } want[] = {{"recursive", "recursion"}, {"indirect", "indirect call"}, {"prints", NULL}};
    for (size_t k = 0; k < 3; k++) {
        Parsed p;
        const GrKernelModel *m = model_of(&p, want[k].kernel);
        assert_int_equal(m->gaps.len != 0, want[k].why != NULL);
        for (size_t g = 0; g < m->gaps.len; g++) {
            assert_string_equal(m->gaps.data[g].why, want[k].why);
            assert_true(m->gaps.data[g].whole_kernel && m->gaps.data[g].place);
        }
        drop(&p);
    }
}

static void others(void **state) {
    (void)state;
    Parsed p;
    const GrKernelModel *m = model_of(&p, "loaded"); // an offset in unknown memory is the address
    assert_int_equal(m->accesses.data[1]->object->kind, GR_OBJECT_UNKNOWN);
    assert_true(m->accesses.data[0]->object->written); // by what may be anywhere
    drop(&p);
    m = model_of(&p, "shifted"); // pointers that change in another way
    for (size_t k = 0; k < m->accesses.len; k++)
        assert_int_equal(m->accesses.data[k]->object->kind, GR_OBJECT_UNKNOWN);
    drop(&p);
    m = model_of(&p, "transpose"); // the first loop's accesses come before the barrier, the others behind it
    for (size_t k = 0; k < m->accesses.len; k++) {
        const GrKernelAccess *a = m->accesses.data[k];
        bool behind = a->object->kind == GR_OBJECT_SHARED ? a->reads : a->writes;
        assert_int_equal(a->after[GR_REACH_BLOCK].len, 1);
        assert_int_equal(a->after[GR_REACH_BLOCK].data[0].barrier->kind,
                         behind ? GR_BARRIER_BLOCK : GR_BARRIER_ENTRY);
    }
    drop(&p);
    m = model_of(&p, "reduce"); // how often the loop has gone round since the barrier
    for (size_t k = 0; k < m->accesses.len; k++) {
        const GrKernelAccess *a = m->accesses.data[k];
        if (a->after[GR_REACH_BLOCK].data[0].barrier->kind == GR_BARRIER_ENTRY)
            continue;
        assert_int_equal(a->after[GR_REACH_BLOCK].len, 2);
        assert_int_equal(a->after[GR_REACH_BLOCK].data[0].rounds,
                         GR_ROUNDS_SAME); // the barrier before the loop
        assert_int_equal(a->after[GR_REACH_BLOCK].data[1].rounds, a->loop ? GR_ROUNDS_NEXT : GR_ROUNDS_LEFT);
        assert_true(!a->loop || (a->loop->uniform[GR_REACH_BLOCK] && a->loop->has_barrier));
    }
    drop(&p);
    m = model_of(&p, "named");
    assert_int_equal(m->barriers.len, 2);
    assert_int_equal(m->barriers.data[1]->kind, GR_BARRIER_SOME);
    assert_true(m->barriers.data[1]->number && m->barriers.data[1]->count);
    assert_int_equal(m->accesses.data[0]->after[GR_REACH_BLOCK].data[0].barrier->kind, GR_BARRIER_ENTRY);
    drop(&p);
    m = model_of(&p, "calls"); // the place of what a function does, and of the call
    const GrPlace *at = m->accesses.data[0]->place;
    assert_true(at->inlined_at && at->function && strstr(at->function, "where") &&
                !at->inlined_at->inlined_at);
    assert_string_equal(at->file, "kernels.cu");
    // What the table holds may change: its value is free, and no longer a function of the place.
    const GrObject *changing[1] = {m->accesses.data[0]->object};
    GrKernelModel other;
    assert_int_equal(gr_kernel_model_changing(&p.terms, NULL, m->func, 0, changing, 1, &other, NULL), GR_OK);
    assert_int_equal(other.accesses.len, m->accesses.len);
    for (unsigned k = 0; k < 2; k++) {
        Thread kinds = {0};
        assert_true(gr_term_symbols(k ? other.accesses.data[1]->offset : m->accesses.data[1]->offset,
                                    see_unknown, &kinds));
        assert_int_equal(kinds.n_unknown, k);
    }
    gr_kernel_model_free(&other);
    drop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(executions), cmocka_unit_test(locks),
                                       cmocka_unit_test(grids), cmocka_unit_test(gaps),
                                       cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
