// SPDX-License-Identifier: Apache-2.0
// extension — the tracker's addition to the CPU device: calls of its device runtime run as code of the host, one lane
// after the other, while nothing else runs. So the runtime costs little, and no update of metadata is lost.
#include "vm/extension.h"

#include "engines/tracker/device/word.h"
#include "engines/tracker/vm/rules.h"
#include "vm/core/exec.h"
#include "vm/core/extend.h"
#include "vm/core/fault.h"
#include "vm/core/mem_insn.h"
#include "vm/core/warp.h"
#include "vm/memory.h"

#include <string.h>

typedef enum Callee {
    BEGIN,
    ACCESS,
    QUICK,
    REST,
    SAW_AT,
    SAW,
    RANGE,
    ORDER,
    OWN,
    WHERE,
    EXTENT,
    STRAY,
    CALLEES
} Callee;

// What is known of one call.
typedef struct Call {
    const VmCallInfo *info;
    Callee callee;
    const GrTrackerControl *control; // where the host sees it
    uint64_t base, size;             // of device memory, and how far away the host sees it
    int64_t delta;
} Call;

static uint64_t argument(const VmWarp *w, const VmCallInfo *c, uint32_t k, unsigned lane) {
    uint64_t v = 0;
    if (k < c->n_args && c->args[k].offset != VM_NO_SLOT) {
        uint32_t n = c->args[k].stride;
        memcpy(&v, w->frame + c->args[k].offset + (size_t)lane * n, n < sizeof v ? n : sizeof v);
    }
    return v;
}

static void give(const VmWarp *w, const VmCallInfo *c, unsigned lane, uint64_t v) {
    if (c->n_rets && c->rets[0].offset != VM_NO_SLOT) {
        uint32_t n = c->rets[0].stride;
        memcpy(w->frame + c->rets[0].offset + (size_t)lane * n, &v, n < sizeof v ? n : sizeof v);
    }
}

static bool call(const Call *k, const RuleSet *rules, const VmWarp *w, const RuleLane *l) {
    enum { MOST = 5 };
    uint64_t arg[MOST];
    for (uint32_t n = 0; n < MOST; n++)
        // A module of the other rule set, whose control block was never filled in, has fewer arguments.
        arg[n] = n < k->info->n_args ? argument(w, k->info, n, l->lane) : GR_OWN_SLOW;
    switch (k->callee) {
    case BEGIN: give(w, k->info, l->lane, rules->begin(l, (uint32_t)arg[0])); return false;
    case OWN: give(w, k->info, l->lane, rules->own(l)); return false;
    case WHERE: give(w, k->info, l->lane, 0); return false; // the rules look for it themselves
    case ACCESS:
    case QUICK:
        give(w, k->info, l->lane, 0); // nothing is left to do, if it gives that
        return rules->access(l, (uint32_t)arg[0], (uint32_t)arg[1], arg[2], arg[3], arg[4]);
    case REST: return false;
    case SAW_AT: give(w, k->info, l->lane, 0); return rules->saw(l, (uint32_t)arg[0], arg[1], arg[2]);
    case SAW: return rules->saw(l, (uint32_t)arg[0], arg[1], arg[2]);
    case RANGE: return rules->range(l, (uint32_t)arg[0], (uint32_t)arg[1], arg[2], (uint32_t)arg[3], arg[4]);
    case EXTENT: give(w, k->info, l->lane, rules->extent(l, arg[0])); return false;
    case STRAY: return rules->stray(l, arg[0]);
    case ORDER:
        give(w, k->info, l->lane, rules->order(l, (uint32_t)arg[0], (uint32_t)arg[1], arg[2]));
        return false;
    default: return false;
    }
}

static RuleLane lane_of(const Call *k, VmWarp *w) {
    const VmWarpRest *r = rest_of(w);
    return (RuleLane){.launch = r->launch,
                      .block = r->block,
                      .control = k->control,
                      .base = k->base,
                      .size = k->size,
                      .delta = k->delta,
                      .warp = r->index,
                      .mask = w->mask};
}

static const VmInsn *raced(VmWarp *w, const VmInsn *i, uint32_t lane) {
    return gr_vm_fault(w, i, VM_FAULT_ILLEGAL_INSTRUCTION, (int)lane, 0, "raced (--stop)");
}

static VM_HANDLER(x_call) {
    const Call *k = (const Call *)(uintptr_t)i->imm;
    RuleLane l = lane_of(k, w);
    const RuleSet *rules = k->control->paper ? &gr_tracker_paper_rules : &gr_tracker_ptx_rules;
    for (uint32_t m = w->mask & w->live; m; m &= m - 1) {
        l.lane = (uint32_t)__builtin_ctz(m);
        if (call(k, rules, w, &l))
            return raced(w, i, l.lane);
    }
    return i + 1;
}

// Tells all lanes that nothing is left to do.
static void give_nothing(const VmWarp *w, const VmCallInfo *c) {
    typedef uint64_t Four __attribute__((vector_size(32), aligned(8)));
    uint64_t *to = VM_U64(w, c->rets[0].offset);
    if (!w->partial)
        for (unsigned k = 0; k < VM_LANES; k += 16)
            *(Four *)&to[k] = *(Four *)&to[k + 4] = *(Four *)&to[k + 8] = *(Four *)&to[k + 12] = (Four){0};
    for (uint32_t m = w->partial ? w->mask : 0; m; m &= m - 1)
        to[__builtin_ctz(m)] = 0;
}

// A call of the common path, whose arguments and result have 8 bytes.
static VM_HANDLER(x_quick) {
    const Call *k = (const Call *)(uintptr_t)i->imm;
    const VmCallInfo *c = k->info;
    uint32_t lanes = w->mask & w->live;
    if (k->control->paper || !lanes)
        return x_call(w, i);
    unsigned first = (unsigned)__builtin_ctz(lanes);
    RuleLane l = lane_of(k, w);
    RuleCall all = {.site = (uint32_t)VM_U64(w, c->args[0].offset)[first],
                    .what = (uint32_t)VM_U64(w, c->args[1].offset)[first],
                    .lanes = lanes,
                    .at = VM_U64(w, c->args[2].offset),
                    .value = VM_U64(w, c->args[3].offset),
                    .own = VM_U64(w, c->args[4].offset)};
    if (c->n_rets)
        give_nothing(w, c);
    return gr_tracker_ptx_rules.quick(&l, &all) ? raced(w, i, l.lane) : i + 1;
}

static bool is_of_8_bytes(const VmParamSlot *s) { return s->stride == 8 && s->offset != VM_NO_SLOT; }

static bool may_be_quick(const VmCallInfo *c) {
    bool all = c->n_args > 4 && (!c->n_rets || is_of_8_bytes(&c->rets[0]));
    for (uint32_t n = 0; all && n < 5; n++)
        all = is_of_8_bytes(&c->args[n]);
    return all;
}

// Which function "__gr<number>_NAME" is; CALLEES: none of the runtime's.
static Callee callee_of(const char *name) {
    static const char *const names[CALLEES] = {
        [BEGIN] = "_begin", [ACCESS] = "_access", [SAW] = "_saw",       [RANGE] = "_range",
        [ORDER] = "_order", [OWN] = "_own",       [WHERE] = "_where",   [EXTENT] = "_extent",
        [STRAY] = "_stray", [REST] = "_rest",     [SAW_AT] = "_saw_at",
    };
    static const char *const quick[] = {
#define QUICK_NAME(name, shared, writes, strong) "_" #name, "_" #name "_word",
        GR_QUICK(QUICK_NAME)
#undef QUICK_NAME
    };
    if (strncmp(name, "__gr", 4))
        return CALLEES;
    name += 4 + strspn(name + 4, "0123456789");
    for (unsigned k = 0; k < CALLEES; k++)
        if (names[k] && !strcmp(name, names[k]))
            return (Callee)k;
    for (unsigned k = 0; k < sizeof quick / sizeof *quick; k++)
        if (!strcmp(name, quick[k]))
            return QUICK;
    return CALLEES;
}

// The module's control block, if it is the tracker's.
static const GrTrackerControl *control_of(const VmModule *m, const char *callee, uint64_t *at) {
    char name[64];
    size_t n = 4 + strspn(callee + 4, "0123456789");
    uint64_t size;
    bool managed;
    if (n + sizeof "_control" > sizeof name)
        return NULL;
    memcpy(name, callee, n);
    memcpy(name + n, "_control", sizeof "_control");
    if (!gr_vm_module_global(m, name, at, &size, &managed) || size != sizeof(GrTrackerControl))
        return NULL;
    return gr_vm_mem_view(m->device->mem, *at, size);
}

// The callee's name in the call: a function of a runtime that several modules share has another name itself.
static const char *name_of(const VmInsn *i) {
    PtxCallParts c = gr_ptx_call_parts(i->stmt->instr);
    return c.callee && c.callee->kind == PTX_O_FUNC ? c.callee->text : NULL;
}

static bool decoded(VmModule *m, VmFunc *f) {
    for (uint32_t n = 0; n < f->n_code; n++) {
        VmInsn *i = &f->code[n];
        // A call that could not be decoded stops the kernel when it gets there, and has something else in `extra`.
        if (!i->tagged || (i->body[0] ? i->body[0] : i->exec[0]) != gr_vm_x_call)
            continue;
        const VmCallInfo *info = i->extra;
        const char *name = info->callee ? name_of(i) : NULL;
        Callee callee = name ? callee_of(name) : CALLEES;
        uint64_t at;
        const GrTrackerControl *control = callee == CALLEES ? NULL : control_of(m, name, &at);
        if (!control)
            continue;
        Call *k = GR_NEW(f->arena, Call);
        if (!k)
            return false;
        *k = (Call){.info = info, .callee = callee, .control = control};
        gr_vm_mem_views(m->device->mem, &k->base, &k->size, &k->delta);
        i->imm = (uint64_t)(uintptr_t)k;
        bool guarded = i->body[0] != NULL;
        VmExec *x = guarded ? i->body : i->exec;
        x[0] = x[1] = callee == QUICK && may_be_quick(info) ? x_quick : x_call;
        if (guarded) // nothing is called, so the lanes that do not take part need not go on by themselves
            i->exec[0] = i->exec[1] = gr_vm_x_guard;
    }
    return true;
}

static bool owns(const char *function) { return callee_of(function) != CALLEES; }

const VmExtension gr_tracker_vm = {.name = "tracker", .decoded = decoded, .owns = owns};
