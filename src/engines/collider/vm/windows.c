// SPDX-License-Identifier: Apache-2.0
// windows — what the collider inserts around an access, at the price of an instruction where nothing can come of it.
//
// After each access the collider waits for a while and then looks again (engines/collider/pass/collider.h): its window.
// That is most of its cost, and in a loop that runs ten thousand times the ten thousandth window adds little. PTX lets
// nanosleep take no time at all, and then nothing can have happened in between. The program's access and the second
// look are one step, unless the quantum ended between the two. So windows are sampled, each place for itself, with the
// launch's random numbers: the first ones all open, later ones more and more rarely. One that stays shut needs only its
// random number generator advanced. A device that is told so opens all (VmConfig.every_window).
//
// Observers are told of each window that opens, from the moment when its lanes begin to wait (VmWindowEvent).
//
// Before a store the collider asks whether lanes of the warp store side by side and, out of line, if not, whether any
// two store to one address. They do not where addresses increase from lane to lane.
//
// Before an asynchronous copy the collider does what the copy does and looks at both ends: windows of the same kind,
// but then there is no access yet, and all of it is left out.
//
// The first two shortcuts skip instructions that could only have found nothing. The device can be told to execute them
// all the same (VmConfig.unfused): the execution must be the same, event by event, which tests compare.
#include "engines/collider/vm/parts.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/extend.h"
#include "vm/mem/mem_kernels.h"

enum {
    EACH = 128, // so many windows of one place in one launch open as they come, the same number one in two, …
    RAREST_SHIFT = 5, // down to one in 32
};

// A window in one launch.
typedef struct WindowState {
    uint32_t seen; // that opened, up to a limit
    uint32_t shut; // how many more will not
} WindowState;

typedef struct Window {
    const VmInsn *access; // the program's
    const VmInsn *reload; // its address is the access's
    const VmInsn *more;   // the last of further ones, each with an address of its own; NULL: there is none
    const VmInsn *next;   // where the program goes on when nothing was found
    const VmInsn *step;   // of the random number generator; NULL: the pause is always as long
    uint32_t n;           // instructions from the first to the one that goes to the report
    uint32_t state;       // its WindowState among the launch's (gr_vm_launch_room)
    bool store;
} Window;

static bool is_op(const VmInsn *i, PtxOp op) {
    return i->stmt->kind == PTX_INSTR && i->stmt->instr->op == op;
}

static bool is_look(const VmInsn *i) {
    return i->exec[0] != gr_vm_x_rejoin && (i->part || is_op(i, PTX_OP_LD));
}

// ---- Executing them ------------------------------------------------------------------------------------------

// Whether this window opens.
static bool opens(VmLaunch *l, const Window *w) {
    if (l->device->config.every_window)
        return true;
    WindowState *s = gr_vm_launch_state(l, w->state);
    if (s->shut) {
        s->shut--;
        return false;
    }
    unsigned shift = s->seen / EACH;
    if (shift < RAREST_SHIFT)
        s->seen++;
    if (shift)
        s->shut = gr_rng_below(&l->rng, (2u << shift) - 1); // 2^shift - 1 on average
    return true;
}

// Everything but the pause, one after the other; where it leads.
static const VmInsn *execute(VmWarp *w, const VmInsn *first, unsigned n) {
    for (const VmInsn *i = first;; i++) {
        const VmExec *x = i == first ? i->body : i->exec;
        const VmInsn *next = is_op(i, PTX_OP_NANOSLEEP) ? i + 1 : x[w->partial](w, i);
        if (next != i + 1 || i + 1 == first + n)
            return next;
    }
}

static VM_HANDLER(x_window) {
    const Window *k = i->extra;
    VmWarpRest *r = rest_of(w);
    // The quantum began here: others may have run since the access.
    if (r->resumed == i || (k->store && !gr_vm_mem_kernels()->distinct(w, k->reload)) || opens(r->launch, k))
        return i->body[w->partial](w, i);
    w->left -= (int32_t)k->n - 1;
    if (r->launch->device->config.unfused)
        return execute(w, i, k->n);
    const VmInsn *look = k->reload;
    bool nobody = look->body[0] &&
                  !((look->guard_negated ? ~VM_PRED(w, look->guard) : VM_PRED(w, look->guard)) & w->mask);
    if (!nobody) // the second look counts as an access
        w->budget -= 1;
    if (k->step)
        (void)k->step->exec[w->partial](w, k->step);
    return k->next;
}

static VM_HANDLER(x_copy_window) {
    const Window *k = i->extra;
    if (opens(rest_of(w)->launch, k) &&
        !gr_vm_copy_strays(w, k->access)) // else what it does would be done to what is there
        return i->body[w->partial](w, i);
    (void)k->step->exec[w->partial](w, k->step);
    return k->next;
}

static VM_HANDLER(x_peers) {
    enum { OUT_OF_LINE = 16 };
    const Window *k = i->extra;
    if (!gr_vm_mem_kernels()->distinct(w, k->reload))
        return i->body[w->partial](w, i);
    w->left -= (int32_t)k->n - 1;
    if (!rest_of(w)->launch->device->config.unfused)
        return k->next;
    const VmInsn *at = execute(w, i, k->n);
    for (unsigned n = 0; n < OUT_OF_LINE && at && at != k->next;
         n++) // not side by side: leads back all the same
        at = at->exec[w->partial](w, at);
    return at;
}

// The running lanes are about to wait: observers are told of the window.
static void wait_in_window(VmWarp *w, const VmInsn *i) {
    const Window *k = i->extra;
    if (!k || !rest_of(w)->launch->device->listens_window)
        return;
    gr_vm_open_window(w, k->access, k->reload, true);
    for (const VmInsn *look = k->reload; look != k->more && k->more;)
        if (is_look(++look))
            gr_vm_open_window(w, k->access, look, false);
}

// The pause. Under a schedule that holds threads it has no length: they are held here.
static VM_HANDLER(x_pause) {
    if (gr_vm_hold(w, i, i->stmt->tag.site, wait_in_window))
        return NULL;
    uint64_t ns = gr_vm_pause_ns(w, i);
    if (ns)
        wait_in_window(w, i);
    return gr_vm_pause(w, i, ns);
}

// ---- Recognizing them ----------------------------------------------------------------------------------------

static bool same_place(const VmInsn *a, const VmInsn *b) {
    return b->tagged && b->stmt->kind == PTX_INSTR && b->stmt->tag.inserted &&
           b->stmt->tag.site == a->stmt->tag.site && b->exec[0] != gr_vm_x_rejoin;
}

static bool computes(PtxOp op) {
    switch (op) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_CVT:
    case PTX_OP_SHR:
    case PTX_OP_SETP:
    case PTX_OP_ADD:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_NOT:
    case PTX_OP_MOV: return true;
    default: return false;
    }
}

// The conditional branch that ends the inserted instructions from `i` on; NULL if they are not only such as compute,
// those of `ops` apart, each of which occurs once.
static VmInsn *end_of(VmInsn *i, const VmInsn *limit, const PtxOp *ops, unsigned n_ops) {
    unsigned found[2] = {0, 0};
    for (VmInsn *k = i; k < limit && k < i + 32; k++) {
        if (!same_place(i, k))
            return NULL;
        if (k->exec[0] == gr_vm_x_bra_if) {
            for (unsigned x = 0; x < n_ops; x++)
                if (found[x] != 1)
                    return NULL;
            return k;
        }
        bool known = false;
        for (unsigned x = 0; x < n_ops; x++)
            if (is_op(k, ops[x])) {
                found[x]++;
                known = true;
            }
        if (!known && !computes(k->stmt->instr->op))
            return NULL;
    }
    return NULL;
}

static const VmInsn *after(const VmInsn *bra) { return bra->guard_negated ? bra->target : bra + 1; }

// Puts a handler in front of an instruction's own.
static void wrap(VmInsn *i, VmExec x, void *extra) {
    if (!i->body[0]) { // has no guard
        i->body[0] = i->exec[0];
        i->body[1] = i->exec[1];
        i->exec[0] = i->exec[1] = x;
        i->extra = extra;
    }
}

static bool fuse_window(VmFunc *f, VmInsn *i, const VmInsn *limit, const VmInsn *before) {
    static const PtxOp ops[] = {PTX_OP_NANOSLEEP, PTX_OP_LD};
    bool store = is_op(before, PTX_OP_ST);
    if (i->body[0] || (!store && !is_op(before, PTX_OP_LD)) || before->tagged ||
        before->stmt->site != i->stmt->tag.site)
        return true;
    VmInsn *bra = end_of(i, limit, ops, 2);
    if (!bra)
        return true;
    Window *w = GR_NEW(f->arena, Window);
    if (!w)
        return false;
    for (const VmInsn *k = i; k < bra; k++)
        if (is_op(k, PTX_OP_LD))
            w->reload = k;
    w->access = before;
    // A multiplication's high half draws the pause; its low half is the generator's next state (collider_access.c).
    w->step = is_op(i, PTX_OP_MUL) ? i + 1 : NULL;
    w->next = after(bra);
    w->n = (uint32_t)(bra - i) + 1;
    w->store = store;
    w->state = gr_vm_launch_room(f->module, sizeof(WindowState));
    wrap(i, x_window, w);
    return true;
}

static bool fuse_peers(VmFunc *f, VmInsn *i, const VmInsn *limit) {
    static const PtxOp ops[] = {PTX_OP_ACTIVEMASK, PTX_OP_MATCH};
    VmInsn *bra = i->body[0] ? NULL : end_of(i, limit, ops, 2);
    if (!bra || bra + 1 >= limit)
        return true;
    VmInsn *access = bra + 1;
    while (access < limit && access->exec[0] == gr_vm_x_rejoin)
        access++;
    if (access == limit || !is_op(access, PTX_OP_ST) || access->site != i->stmt->tag.site)
        return true;
    Window *w = GR_NEW(f->arena, Window);
    if (!w)
        return false;
    *w = (Window){.reload = access, .next = after(bra), .n = (uint32_t)(bra - i) + 1};
    wrap(i, x_peers, w);
    return true;
}

// What the collider inserts before an asynchronous copy does what the copy does, as ordinary accesses, and waits
// between them: all of it is left out, but the generator's step (engines/collider/pass/collider_async.h).
static bool fuse_copy(VmFunc *f, VmInsn *i, const VmInsn *limit) {
    const VmInsn *k = i, *last = i;
    for (; k < limit && (k->exec[0] == gr_vm_x_rejoin || same_place(i, k)); k++)
        if (k->exec[0] != gr_vm_x_rejoin)
            last = k;
    if (i->body[0] || k == limit || k->tagged || k->site != i->stmt->tag.site || !is_op(k, PTX_OP_CP) ||
        !same_place(i, i + 1) || !is_op(i + 1, PTX_OP_MUL))
        return true;
    Window *w = GR_NEW(f->arena, Window);
    if (!w)
        return false;
    *w = (Window){.access = k,
                  .step = i + 1,
                  .next = last + 1,
                  .state = gr_vm_launch_room(f->module, sizeof(WindowState))};
    wrap(i, x_copy_window, w);
    return true;
}

// What wmma.store stored is loaded again by wmma.load.c, whose lanes look where they stored: their addresses are known
// then as those of the store's parts.
static bool stored_parts(VmFunc *f, VmInsn *i, const VmInsn *access) {
    const VmInsn *first = access;
    while (first[-1].stmt == access->stmt && first[-1].part)
        first--;
    Window *w = GR_NEW(f->arena, Window);
    if (!w)
        return false;
    *w = (Window){.access = access, .reload = first, .more = access > first ? access : NULL};
    i->extra = w;
    return true;
}

// A wait that is no window above, as its instructions are guarded or unknown, is one for observers.
static bool find_wait(VmFunc *f, VmInsn *i, const VmInsn *limit) {
    const VmInsn *access = i, *look = i;
    while (access > f->code && (same_place(i, access) || access->exec[0] == gr_vm_x_rejoin))
        access--;
    if (access->tagged || !access->stmt || !access->site || access->site != i->stmt->tag.site ||
        (!is_op(access, PTX_OP_LD) && !is_op(access, PTX_OP_ST) && !gr_vm_is_matrix(access)))
        return true;
    if (is_op(access, PTX_OP_WMMA) && access->part && access->stmt->instr->mods[0].id == PTX_MOD_store)
        return stored_parts(f, i, access);
    while (look < limit && same_place(i, look) && !is_op(look, PTX_OP_LD))
        look++;
    if (look == limit || !same_place(i, look))
        return true;
    Window *w = GR_NEW(f->arena, Window);
    if (!w)
        return false;
    *w = (Window){.access = access, .reload = look};
    if (gr_vm_is_matrix(access)) // what a lane stored lies in several places
        for (; look < limit && (same_place(i, look) || look->exec[0] == gr_vm_x_rejoin); look++)
            if (look != w->reload && is_look(look))
                w->more = look;
    i->extra = w;
    return true;
}

// Pauses of the device runtime become x_pause, too.
static void take_pause(VmInsn *i) {
    VmExec *x = i->body[0] ? i->body : i->exec;
    if (i->tagged && x[0] == gr_vm_x_nanosleep)
        x[0] = x[1] = x_pause;
}

bool gr_collider_vm_windows(VmFunc *f) {
    const VmInsn *limit = f->code + f->n_code;
    for (VmInsn *i = f->code; i < limit; i++) {
        take_pause(i);
        if (!i->tagged || !i->stmt || i->stmt->kind != PTX_INSTR || !i->stmt->tag.site ||
            i->exec[0] == gr_vm_x_rejoin)
            continue;
        if (is_op(i, PTX_OP_ACTIVEMASK)) {
            if (!fuse_peers(f, i, limit))
                return false;
        } else if (i > f->code && (is_op(i, PTX_OP_MUL) || is_op(i, PTX_OP_NANOSLEEP)) &&
                   !fuse_window(f, i, limit, i - 1))
            return false;
        if (is_op(i, PTX_OP_MUL) && i->exec[0] != x_window && !fuse_copy(f, i, limit))
            return false;
        if (is_op(i, PTX_OP_NANOSLEEP) && !i->extra && !find_wait(f, i, limit))
            return false;
    }
    return true;
}
