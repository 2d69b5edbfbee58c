// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/host/find.h"

#include <stdlib.h>
#include <string.h>

const char *gr_find_keep(Eval *e, const char *text) {
    const char *r = text ? gr_arena_strdup(&e->out->arena, text) : NULL;
    e->oom |= text && !r;
    return r;
}

static void add_text(Eval *e, const char *text, bool reason, GrHostLaunch *l) {
    e->oom |= !text || !(reason ? gr_vec_push(&e->out->reasons, text) : gr_vec_push(&l->gaps, text));
}

// ---- The configuration ----------------------------------------------------------------------------------------------

// The last call of __cudaPushCallConfiguration before the stub's.
static LLVMValueRef configuration(const Eval *e, LLVMValueRef call) {
    uint32_t block = gr_eval_block(e, call);
    LLVMValueRef i = LLVMGetPreviousInstruction(call);
    for (;;) {
        for (; i; i = LLVMGetPreviousInstruction(i)) {
            if (!strcmp(gr_ir_callee_name(i), "__cudaPushCallConfiguration"))
                return i;
        }
        if (!block || block == FLOW_NONE)
            return NULL;
        block = e->flow.blocks[block].idom;
        i = LLVMGetLastInstruction(e->flow.blocks[block].block);
    }
}

static const GrTerm *low_32(Eval *e, LLVMValueRef v) {
    const GrTerm *a = gr_eval(e, v);
    return a ? gr_term_resize(e->t, 32, false, a) : NULL;
}

// Arguments k to k + 3: x and y of the grid, z, x and y of the block, z.
static void dimensions(Eval *e, LLVMValueRef call, unsigned k, unsigned shared, GrHostLaunch *l) {
    for (int which = 0; which < 2; which++) {
        const GrTerm **to = which ? l->block : l->grid;
        LLVMValueRef xy = LLVMGetOperand(call, k + 2 * (unsigned)which);
        to[0] = gr_eval_half(e, xy, false);
        to[1] = gr_eval_half(e, xy, true);
        to[2] = gr_eval(e, LLVMGetOperand(call, k + 2 * (unsigned)which + 1));
    }
    l->shared_bytes = low_32(e, LLVMGetOperand(call, shared));
}

static const GrTerm *word_of(Eval *e, Pointer p, uint64_t offset, LLVMValueRef call) {
    p.offset = gr_eval_op(e, GR_TERM_ADD, p.offset, gr_eval_const(e, 64, offset));
    return p.offset ? gr_eval_load(e, &p, 32, call, p.to == POINTS_STACK ? p.base : NULL) : NULL;
}

// A cudaLaunchConfig_t: grid, block, bytes of shared memory, stream, attributes.
static void dimensions_of_config(Eval *e, LLVMValueRef call, GrHostLaunch *l) {
    Pointer p = gr_eval_pointer(e, LLVMGetOperand(call, 0));
    for (unsigned k = 0; k < 3; k++) {
        l->grid[k] = word_of(e, p, 4 * k, call);
        l->block[k] = word_of(e, p, 12 + 4 * k, call);
    }
    l->shared_bytes = word_of(e, p, 24, call);
    const GrTerm *attributes = word_of(e, p, 48, call);
    if (!attributes || !gr_term_is_const(attributes, 0))
        add_text(e, gr_find_keep(e, "attributes of the launch are not looked at"), false, l);
}

// ---- One launch -----------------------------------------------------------------------------------------------------

static GrHostLaunch *new_launch(Eval *e, LLVMValueRef call, const char *kernel) {
    GrHostLaunch *l = GR_NEW(&e->out->arena, GrHostLaunch);
    if (!l || !gr_vec_push(&e->out->launches, l)) {
        e->oom = true;
        return NULL;
    }
    IrPlace at = gr_ir_place(e->ir, call);
    l->kernel = gr_find_keep(e, kernel);
    l->file = gr_find_keep(e, at.file);
    l->function = gr_find_keep(e, at.function);
    l->line = at.line;
    l->program = e->out->program;
    return l;
}

static void not_known(Eval *e, LLVMValueRef call, const char *why) {
    IrPlace at = gr_ir_place(e->ir, call);
    add_text(e, gr_arena_printf(&e->out->arena, "%s:%u: %s", at.file ? at.file : "?", at.line, why), true,
             NULL);
}

// If facts of class 3 are off: what a second parameter has from the same variable is another value.
typedef struct Apart {
    Eval *e;
    Map seen, copies; // symbol -> itself; of the present term: symbol -> term
} Apart;

static const GrTerm *other_symbol(void *user, GrTerms *t, const GrSymbol *s) {
    Apart *a = user;
    if (!gr_ir_get(&a->seen, s)) {
        a->e->oom |= !gr_ir_put(&a->copies, s, NULL);
        return NULL;
    }
    const GrTerm *copy = gr_ir_get(&a->copies, s);
    if (copy)
        return copy;
    GrSymbol *fresh = gr_symbol(t, s->kind, s->scope, s->bits, s->name);
    copy = fresh ? gr_term_sym(t, fresh) : NULL;
    a->e->oom |= !copy || !gr_ir_put(&a->copies, s, (void *)(uintptr_t)copy);
    if (fresh) {
        fresh->low = s->low;
        fresh->high = s->high;
    }
    return copy;
}

static void set_apart(Apart *a, const GrTerm **v) {
    if (!*v)
        return;
    const GrReplace r = {other_symbol, NULL, a};
    *v = gr_term_replace(a->e->t, *v, &r);
    for (size_t k = 0; k < a->copies.len; k++) {
        uint64_t key = a->copies.entries[k].key;
        a->e->oom |= !gr_map_put_u64(&a->seen, key, (void *)(uintptr_t)key);
    }
    gr_map_free(&a->copies);
    a->copies = (Map){0};
}

static void without_classes(Eval *e, GrHostLaunch *l) {
    Apart a = {e, {0}, {0}};
    bool apart = !(e->classes & 1u << GR_FACT_SHARED);
    for (size_t k = 0; k < l->arguments.len && apart; k++) {
        set_apart(&a, &l->arguments.data[k].value);
        set_apart(&a, &l->arguments.data[k].at);
    }
    for (int k = 0; k < 6; k++) {
        const GrTerm **dim = k < 3 ? &l->grid[k] : &l->block[k - 3];
        if (!(e->classes & 1u << GR_FACT_DIMENSIONS))
            *dim = NULL;
        else if (apart)
            set_apart(&a, dim);
    }
    gr_map_free(&a.seen);
}

static void finish(Eval *e, LLVMValueRef call, GrHostLaunch *l, const char *gap) {
    if (e->classes & 1u << GR_FACT_SHARED)
        gr_find_choices(e, call, e->open.data, e->open.len, l);
    if (!e->oom)
        gr_find_zero(e, call, e->made_by.data, e->made_by.len, l);
    e->open.len = e->made_by.len = 0;
    without_classes(e, l);
    gr_find_facts(e, call, l);
    if (gap)
        add_text(e, gap, false, l);
}

// stub: NULL if it gets other arguments than the call has.
static void of_kernel(Eval *e, LLVMValueRef call, const char *kernel, LLVMValueRef stub, bool by_pointer,
                      const char *gap) {
    LLVMValueRef push = configuration(e, call); // the stub's own call stands in the kernel's line
    GrHostLaunch *l = new_launch(e, push ? push : call, kernel);
    if (!l)
        return;
    if (push)
        dimensions(e, push, 0, 4, l);
    else
        add_text(e, gr_find_keep(e, "grid and block of the launch were not found"), false, l);
    l->by_pointer = by_pointer;
    if (stub)
        gr_find_stub_arguments(e, call, stub, l);
    finish(e, call, l, gap);
}

static void of_stub(Eval *e, LLVMValueRef call, const char *gap) {
    const char *kernel = gr_ir_stub_kernel(e->ir, gr_ir_callee(call));
    if (kernel)
        of_kernel(e, call, kernel, gr_ir_callee(call), false, gap);
    else
        not_known(e, call, "a launch of a kernel that is not registered under a name");
}

static void of_pointer(Eval *e, LLVMValueRef call, const char *gap) {
    const char *kernel;
    LLVMValueRef stub, f = gr_find_meant(e, call, NULL, &kernel, &stub);
    if (!f)
        not_known(e, call, "a launch of a kernel that is known only when the program runs");
    for (; f && !e->oom; f = gr_find_meant(e, call, f, &kernel, &stub))
        of_kernel(e, call, kernel, stub, true, gap);
}

static void of_runtime(Eval *e, LLVMValueRef call, const char *name, const char *gap) {
    bool config = !strcmp(name, "cudaLaunchKernelExC");
    LLVMValueRef function = LLVMGetOperand(call, config ? 1 : 0);
    const char *kernel = gr_ir_get(&e->ir->kernels, function);
    if (!kernel) {
        not_known(e, call, "a launch of a kernel that is known only when the program runs");
        return;
    }
    GrHostLaunch *l = new_launch(e, call, kernel);
    if (!l)
        return;
    l->cooperative = strstr(name, "Cooperative") != NULL;
    if (config)
        dimensions_of_config(e, call, l);
    else
        dimensions(e, call, 1, 6, l);
    gr_find_array_arguments(e, call, LLVMGetOperand(call, config ? 2 : 5), l);
    finish(e, call, l, gap);
}

static bool is_launch(LLVMValueRef i, const char **name) {
    static const char *const names[] = {
        "cudaLaunchKernel",         "cudaLaunchKernel_ptsz",       "cudaLaunchKernelExC",
        "cudaLaunchKernelExC_ptsz", "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernel_ptsz"};
    *name = NULL;
    if (!gr_ir_is_call(i))
        return false;
    if (gr_ir_is_stub(gr_ir_callee(i)))
        return true;
    const char *callee = gr_ir_callee_name(i);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (!strcmp(callee, names[k])) {
            *name = names[k];
            return true;
        }
    }
    return false;
}

// ---- Functions ------------------------------------------------------------------------------------------------------

static bool launches(LLVMValueRef f) {
    const char *name;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (is_launch(i, &name) || !strcmp(gr_ir_callee_name(i), "__cudaPushCallConfiguration"))
                return true;
        }
    }
    return false;
}

// The function is there for the compiler only: stubs, kernels' own symbols, and what went into its callers.
static bool is_left(const Ir *ir, LLVMValueRef f) {
    size_t len;
    const char *name = LLVMGetValueName2(f, &len);
    if (gr_ir_is_elsewhere(f) || gr_ir_is_stub(f) || gr_ir_get(&ir->kernels, f) ||
        strstr(name, "__wrapper__device_stub"))
        return false;
    return !strcmp(name, "main") || LLVMGetFirstUse(f) || !gr_ir_get(&ir->called, f);
}

static void in_function(Eval *e, const char *gap) {
    for (uint32_t b = 0; b < e->flow.n && !e->oom; b++) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(e->flow.blocks[b].block); i && !e->oom;
             i = LLVMGetNextInstruction(i)) {
            const char *name;
            if (gr_find_is_indirect(e, i))
                of_pointer(e, i, gap);
            if (!is_launch(i, &name))
                continue;
            if (name)
                of_runtime(e, i, name, gap);
            else
                of_stub(e, i, gap);
        }
    }
}

static const char *gap_of(Ir *ir, GrHost *out, LLVMValueRef f) {
    size_t len;
    const char *name = LLVMGetValueName2(f, &len);
    if (!strcmp(name, "main") || LLVMCountParams(f) == 0)
        return NULL;
    return gr_arena_printf(&out->arena,
                           gr_ir_get(&ir->called, f)
                               ? "not all calls of %s are followed: its parameters may be anything"
                               : "nothing calls %s: its parameters may be anything",
                           name);
}

static void free_eval(Eval *e) {
    gr_flow_free(&e->flow);
    gr_map_free(&e->terms);
    gr_map_free(&e->pointers);
    gr_map_free(&e->cells);
    gr_map_free(&e->made);
    gr_map_free(&e->older);
    gr_map_free(&e->captured);
    gr_vec_free(&e->loops);
    gr_vec_free(&e->open);
    gr_vec_free(&e->made_by);
    gr_vec_free(&e->statuses);
    gr_arena_free(&e->arena);
}

static int by_place(const void *x, const void *y) {
    const GrHostLaunch *a = *(GrHostLaunch *const *)x, *b = *(GrHostLaunch *const *)y;
    int files = strcmp(a->file ? a->file : "", b->file ? b->file : "");
    return files ? files : a->line != b->line ? (a->line < b->line ? -1 : 1) : strcmp(a->kernel, b->kernel);
}

gr_status gr_find_launches(Ir *ir, GrTerms *t, unsigned classes, GrHost *out, gr_error *err) {
    bool oom = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(ir->module); f && !oom; f = LLVMGetNextFunction(f)) {
        if (!is_left(ir, f) || !launches(f))
            continue;
        Eval e = {.t = t, .out = out, .ir = ir, .function = f, .classes = classes};
        gr_arena_init(&e.arena);
        e.oom = !gr_flow_init(&e.flow, f);
        if (!e.oom)
            in_function(&e, gap_of(ir, out, f));
        oom = e.oom;
        free_eval(&e);
    }
    if (out->launches.len)
        qsort(out->launches.data, out->launches.len, sizeof *out->launches.data, by_place);
    return oom ? gr_fail(err, GR_ERR_NOMEM, "reading host code") : GR_OK;
}
