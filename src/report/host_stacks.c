// SPDX-License-Identifier: Apache-2.0
#include "report/host_stacks.h"

#include "base/path_map.h"
#include "findings/headline.h"
#include "findings/stack_record.h"
#include "report/lines/host_place.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 400 }; // stacks whose lines are looked up; of more the functions' names are told

static uint64_t key_of(uint64_t process, uint32_t number) {
    uint64_t of[2] = {process, number};
    return gr_hash_bytes(of, sizeof of);
}

gr_status gr_host_stacks_read(GrReport *r, const GrResultsView *view, GrHostStacks *out, gr_error *err) {
    *out = (GrHostStacks){.report = r, .view = view};
    for (size_t k = 0; k < view->records.len; k++) {
        const GrRecord *rec = &view->records.data[k];
        GrCursor c = gr_cursor(rec);
        if (rec->kind == GR_RECORD_STACK &&
            !gr_map_put_u64(&out->records, key_of(rec->process, gr_get_u32(&c)), (void *)(k + 1)))
            return gr_no_memory(err);
    }
    return GR_OK;
}

void gr_host_stacks_free(GrHostStacks *s) {
    gr_map_free(&s->records);
    gr_map_free(&s->made);
}

// ---- What is the program's own ----------------------------------------------------------------------------

static bool begins_with(const char *text, const char *const *begins, size_t n) {
    for (size_t k = 0; text && k < n; k++)
        if (!strncmp(text, begins[k], strlen(begins[k])))
            return true;
    return false;
}

// A function of NVIDIA's runtime or of headers, which may be part of the program, of what nvcc makes of a launch, or of
// what comes before main.
static bool is_runtime(const char *function, Arena *arena) {
    static const char *const begins[] = {"cuda", "__cuda", "libcudart_static", "_start", "__libc_start"};
    static const char *const mangled[] = {"_ZSt", "_ZNSt", "_ZNKSt", "_ZN6thrust", "_ZN3cub", "_ZN4cuda3"};
    return begins_with(function, mangled, sizeof mangled / sizeof *mangled) ||
           (function && begins_with(gr_demangle(function, arena), begins, sizeof begins / sizeof *begins));
}

static bool is_system(const char *object) {
    static const char *const begins[] = {"libc.so", "libpthread", "libstdc++", "ld-linux", "libgcc_s"};
    const char *slash = strrchr(object, '/');
    return begins_with(slash ? slash + 1 : object, begins, sizeof begins / sizeof *begins);
}

// A library or a file of Python's, or of a package.
static bool is_package(const char *file) {
    static const char *const in[] = {"/site-packages/", "/dist-packages/", "/lib/python3", "/libffi"};
    for (size_t k = 0; k < sizeof in / sizeof *in; k++)
        if (strstr(file, in[k]))
            return true;
    return *file == '<';
}

// ---- From addresses to lines ------------------------------------------------------------------------------

enum { INLINED = 6 }; // places of one call that are kept

// The places of each call, the innermost first.
typedef struct Places {
    GrReport *report;
    GrFrame of[GR_STACK_CALLS][INLINED];
    unsigned n[GR_STACK_CALLS];
    unsigned numbers[GR_STACK_CALLS]; // of the calls that are asked for now
} Places;

static void take(void *user, unsigned k, const GrFrame *f) {
    Places *p = user;
    unsigned call = p->numbers[k];
    if (p->n[call] == INLINED)
        return;
    GrFrame *to = &p->of[call][p->n[call]++];
    *to = *f;
    to->file = gr_path_mapped(p->report->paths, f->file, &p->report->arena);
}

// All calls in one object are asked for at once.
static void ask(GrHostStacks *s, const GrStackInfo *info, Places *p) {
    bool asked[GR_STACK_CALLS] = {false};
    for (uint32_t first = 0; first < info->n; first++) {
        const GrStackCall *of = &info->calls[first];
        uint64_t at[GR_STACK_CALLS];
        unsigned n = 0;
        if (asked[first] || of->interpreted || !*of->object || is_system(of->object))
            continue;
        for (uint32_t k = first; k < info->n; k++)
            if (!asked[k] && !info->calls[k].interpreted && !strcmp(info->calls[k].object, of->object)) {
                asked[k] = true;
                p->numbers[n] = k;
                at[n++] = info->calls[k].at;
            }
        gr_host_places(of->object, at, n, &s->report->arena, take, p);
    }
}

// "main+0x1c" is main; a place of which only the file is known stays as it is.
static const char *function_of(const GrStackCall *c, Arena *arena) {
    const char *plus = strrchr(c->symbol, '+'), *slash = strrchr(c->object, '/');
    const char *name = slash ? slash + 1 : c->object;
    bool is_file = plus && !strncmp(c->symbol, name, (size_t)(plus - c->symbol)) && !name[plus - c->symbol];
    if (!*c->symbol)
        return NULL;
    return plus && !is_file ? gr_arena_strndup(arena, c->symbol, (size_t)(plus - c->symbol)) : c->symbol;
}

// "cuMemcpyHtoDAsync_v2_ptsz" is cuMemcpyHtoDAsync.
static const char *plain_name(const char *name, Arena *arena) {
    size_t n = strlen(name);
    if (n > 5 && (!strcmp(name + n - 5, "_ptsz") || !strcmp(name + n - 5, "_ptds")))
        n -= 5;
    if (n > 3 && name[n - 3] == '_' && name[n - 2] == 'v')
        n -= 3;
    return gr_arena_strndup(arena, name, n);
}

// What the program called. A function that the dynamic linker does not know is part of the program.
static const char *called(const GrStackInfo *info, Arena *arena) {
    const GrStackCall *c = &info->called;
    const char *name = *c->object ? function_of(c, arena) : NULL;
    bool whole = name && strlen(c->symbol) > 4 && !strcmp(c->symbol + strlen(c->symbol) - 4, "+0x0");
    if (name && !whole)
        name = gr_host_place(c->object, c->at, "", arena).function;
    return plain_name(name && !strncmp(name, "cu", 2) ? name : info->entry, arena);
}

// ---- Stacks -----------------------------------------------------------------------------------------------

typedef VEC(GrFrame) Frames;

// False: memory is out.
static bool add_native(const GrStackCall *c, bool python, const GrFrame *places, unsigned n, Arena *arena,
                       Frames *out) {
    GrFrame named = {.function = function_of(c, arena)};
    if (is_system(c->object) || (python && is_package(c->object)))
        return true;
    if (!n || (!places[0].function && !places[0].line)) {
        places = &named;
        n = 1;
    }
    for (unsigned k = 0; k < n; k++) {
        const GrFrame *f = &places[k];
        if ((f->line && gr_is_toolkit_file(f->file)) || is_runtime(f->function, arena))
            continue;
        if (!gr_vec_push(out, *f))
            return false;
    }
    return true;
}

static bool add_python(const GrStackInfo *info, bool packages, Frames *out) {
    for (uint32_t k = 0; k < info->n; k++) {
        const GrStackCall *c = &info->calls[k];
        if (c->interpreted && is_package(c->object) == packages &&
            !gr_vec_push(out, ((GrFrame){.file = c->object, .function = c->symbol, .line = (uint32_t)c->at})))
            return false;
    }
    return true;
}

// The kernel whose stub on the host that is, as plain names are; NULL: it is no stub, or memory is out.
static const char *stub_of(const char *function, Arena *arena) {
    static const char wrapper[] = "__wrapper__device_stub_", stub[] = "__device_stub_";
    const char *at = strstr(function, wrapper), *plain;
    if (at) {
        plain = gr_plain_name(function, arena);
        at = plain ? strstr(plain, wrapper) : NULL;
        return at ? gr_arena_printf(arena, "%.*s%s", (int)(at - plain), plain, at + strlen(wrapper)) : NULL;
    }
    at = strstr(function, stub);
    return at ? gr_plain_name(at + strlen(stub), arena) : NULL;
}

// nvcc makes two functions of the host's for each kernel: a stub, and one that is called like the kernel and calls the
// stub, or has it in itself. Nobody wrote a line of either.
static void drop_stubs(Frames *f, Arena *arena) {
    size_t drop = 0;
    for (size_t k = 0; k < f->len && k < 3; k++) {
        const char *kernel = f->data[k].function ? stub_of(f->data[k].function, arena) : NULL;
        const char *next = kernel && k + 1 < f->len && f->data[k + 1].function
                               ? gr_plain_name(f->data[k + 1].function, arena)
                               : NULL;
        if (kernel)
            drop = k + 1 + (next && !strcmp(next, kernel));
    }
    if (!drop || drop >= f->len)
        return;
    memmove(f->data, f->data + drop, (f->len - drop) * sizeof *f->data);
    f->len -= drop;
}

// What is further out than main is not the program's.
static void end_at_main(Frames *f) {
    for (size_t k = 0; k < f->len; k++)
        if (f->data[k].function && !strcmp(f->data[k].function, "main"))
            f->len = k + 1;
}

static GrStack *make(GrHostStacks *s, const GrRecord *rec) {
    Arena *arena = &s->report->arena;
    GrStackInfo *info = calloc(1, sizeof *info);
    Places *places = calloc(1, sizeof *places);
    GrStack *out = NULL;
    Frames frames = {0};
    bool ok = info && places;
    if (ok && gr_stack_read(rec, arena, info, NULL) != GR_OK) {
        s->report->damaged++;
        free(info);
        free(places);
        return NULL;
    }
    if (ok)
        places->report = s->report;
    if (ok && s->made.len < MOST)
        ask(s, info, places);
    bool python = info && info->n && info->calls[info->n - 1].interpreted;
    for (uint32_t k = 0; ok && k < info->n; k++)
        if (!info->calls[k].interpreted)
            ok = add_native(&info->calls[k], python, places->of[k], places->n[k], arena, &frames);
    if (ok)
        drop_stubs(&frames, arena);
    end_at_main(&frames);
    size_t native = frames.len;
    ok = ok && add_python(info, false, &frames) && (frames.len > native || add_python(info, true, &frames));
    GrFrame *copy = ok ? GR_NEW_ARRAY(arena, GrFrame, frames.len + 1) : NULL;
    out = copy ? GR_NEW(arena, GrStack) : NULL;
    if (out) {
        memcpy(copy, frames.data, frames.len * sizeof *copy);
        *out = (GrStack){called(info, arena), copy, (uint32_t)frames.len};
    }
    s->nomem |= !out;
    gr_vec_free(&frames);
    free(info);
    free(places);
    return out;
}

const GrStack *gr_host_stack(GrHostStacks *s, uint64_t process, uint32_t number) {
    uint64_t key = key_of(process, number);
    size_t at = number ? (size_t)gr_map_get_u64(&s->records, key) : 0;
    GrStack *made = at ? gr_map_get_u64(&s->made, key) : NULL;
    if (!at || made)
        return made;
    made = make(s, &s->view->records.data[at - 1]);
    if (made && !gr_map_put_u64(&s->made, key, made))
        s->nomem = true;
    return made;
}

const GrStack *gr_host_stack_of_launch(GrHostStacks *s, uint64_t process, uint32_t number,
                                       const char *kernel) {
    const GrStack *stack = gr_host_stack(s, process, number);
    if (!stack || !stack->n || !kernel || !stack->frames[0].function ||
        strcmp(stack->frames[0].function, kernel))
        return stack;
    GrStack *out = GR_NEW(&s->report->arena, GrStack);
    s->nomem |= !out;
    if (out)
        *out = (GrStack){stack->call, stack->frames + 1, stack->n - 1};
    return out;
}
