// SPDX-License-Identifier: Apache-2.0
#include "passes/runtime.h"

#include "base/str.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

gr_status gr_runtime_may_enter(const PtxModule *m, const char *text, size_t len, bool will_enter,
                               gr_error *err) {
    char name[80];
    const char *by = gr_ptx_rewritten_by(m);
    if (by)
        return gr_fail(
            err, GR_ERR_UNSUPPORTED,
            "it defines %s, as PTX does that `gpurace ptx` has rewritten: give the PTX that this was made of",
            by);
    if (will_enter && gr_ptx_reserved_name(text, len, name, sizeof name))
        return gr_fail(err, GR_ERR_UNSUPPORTED,
                       "its name %s begins as the names that gpurace gives to what it inserts: rename it, or "
                       "use --engine exact",
                       name);
    return GR_OK;
}

static gr_status link_text(PtxModule *m, const char *ptx, const char *suffix, gr_error *err) {
    gr_status st = GR_OK;
    PtxModule *runtime = NULL;
    StrBuf text = {0};
    gr_ptx_put_named(&text, ptx, suffix);
    if (text.oom)
        st = gr_no_memory(err);
    else {
        GR_TRY(gr_ptx_parse(text.data, text.len, "device runtime", &runtime, err));
        GR_TRY(gr_ptx_link_runtime(m, runtime, err));
    }
done:
    gr_ptx_free(runtime);
    gr_str_free(&text);
    return st;
}

// ---- Runtimes that stay apart ------------------------------------------------------------------------------------

// What modules see of a runtime: its declarations, made once for all modules.
typedef struct Declarations {
    const char *of; // the runtime's text
    char *text;
} Declarations;

static struct {
    pthread_mutex_t lock;
    VEC(Declarations) of;
} declared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void declare_all(PtxModule *runtime) {
    PtxItem **at = &runtime->items;
    while (*at) {
        PtxItem *i = *at;
        bool seen = i->kind == PTX_ITEM_FUNC  ? i->func->is_visible && i->func->has_body
                    : i->kind == PTX_ITEM_VAR ? i->var->is_visible || i->var->is_extern
                                              : false;
        if (!seen) {
            *at = i->next;
            continue;
        }
        if (i->kind == PTX_ITEM_FUNC) {
            i->func->has_body = i->func->is_visible = false;
            i->func->is_extern = true;
            i->func->directives = NULL;
        } else {
            i->var->is_visible = false;
            i->var->is_extern = true;
            i->var->init = NULL;
            i->var->init_text = NULL;
            i->var->n_init = 0;
        }
        at = &i->next;
    }
}

static gr_status make_declarations(const char *ptx, char **out, gr_error *err) {
    gr_status st = GR_OK;
    PtxModule *runtime = NULL;
    StrBuf text = {0};
    GR_TRY(gr_ptx_parse(ptx, strlen(ptx), "device runtime", &runtime, err));
    declare_all(runtime);
    GR_TRY(gr_ptx_print(runtime, PTX_PRINT_NO_TAGS, &text, err));
    if (!(*out = gr_str_take(&text)) || !gr_vec_push(&declared.of, ((Declarations){ptx, *out})))
        st = gr_no_memory(err);
done:
    gr_ptx_free(runtime);
    gr_str_free(&text);
    return st;
}

// The declarations stay as long as the process.
static gr_status declarations_of(const char *ptx, char **out, gr_error *err) {
    gr_status st = GR_OK;
    *out = NULL;
    pthread_mutex_lock(&declared.lock);
    for (size_t k = 0; k < declared.of.len && !*out; k++)
        if (declared.of.data[k].of == ptx)
            *out = declared.of.data[k].text;
    if (!*out)
        st = make_declarations(ptx, out, err);
    pthread_mutex_unlock(&declared.lock);
    return st;
}

static gr_status link_apart(PtxModule *m, const char *ptx, const char *suffix, gr_error *err) {
    char *text;
    if (m->apart.n == PTX_RUNTIMES)
        return gr_fail(err, GR_ERR_INTERNAL, "more than %d device runtimes", PTX_RUNTIMES);
    GR_MUST(declarations_of(ptx, &text, err));
    GR_MUST(link_text(m, text, suffix, err));
    if (!m->apart.suffix && !(m->apart.suffix = gr_arena_strdup(&m->arena, suffix)))
        return gr_no_memory(err);
    m->apart.texts[m->apart.n++] = ptx;
    return GR_OK;
}

gr_status gr_runtime_link(PtxModule *m, const char *ptx, const char *suffix, gr_error *err) {
    return m->apart.wanted ? link_apart(m, ptx, suffix, err) : link_text(m, ptx, suffix, err);
}

// nanosleep and match need sm_70 and PTX 6.3, where shuffles and votes without .sync no longer exist (PTX ISA 9.7.9.5).
gr_status gr_runtime_raise(PtxModule *m, gr_error *err) {
    if (m->address_size != 64)
        return gr_fail(err, GR_ERR_UNSUPPORTED, "%s uses %u-bit addresses; only 64-bit modules are checked",
                       m->name, m->address_size);
    if (m->sm < 70)
        for (uint32_t k = 0; k < m->n_funcs; k++)
            for (const PtxStmt *s = m->funcs[k]->first; s; s = s->next)
                if (s->kind == PTX_INSTR && (s->instr->op == PTX_OP_SHFL || s->instr->op == PTX_OP_VOTE) &&
                    !gr_ptx_instr_has(s->instr, PTX_MOD_sync))
                    return gr_fail_at(err, GR_ERR_UNSUPPORTED, m->name, s->line, s->col,
                                      "%s without .sync cannot be raised to sm_70, which the checks need: "
                                      "build for compute_75 or later",
                                      s->instr->opcode);
    gr_ptx_raise(m, 6, 3, 70);
    return GR_OK;
}
