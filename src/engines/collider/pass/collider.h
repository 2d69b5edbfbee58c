// SPDX-License-Identifier: Apache-2.0
// collider — the SuperCollider rewriting: every weak access is repeated after a delay; a changed value is a race.
//
// Source: Stephenson et al., "SuperCollider", PLDI 2026, figures 1 and 3, and its appendix A for why no report is
// false. For a weak load and a weak store the pass makes (shown for shared space, 32 bits; all inserted lines are
// tagged):
//
//     ld.shared.u32 %r1, [%r2];                  activemask.b32 m;
//     nanosleep.u32 delay;                       match.any.sync.b32 peers, %r2, m;
//     ld.relaxed.sys.shared.u32 again, [%r2];    more than one peer?  -> __gr_report_warp
//     setp.ne.b32 q, %r1, again;                 st.shared.u32 [%r2], %r1;
//     @q bra report;                             nanosleep, ld.relaxed.sys, compare, report as for loads
//
// Bits are compared, never floats; every byte that is accessed and used, and no other. The delay, up to a maximum and
// of any order of magnitude below it, is drawn per warp from a generator in a register, seeded with the seed, the
// block, the warp and the clock. The draw is a multiplication, whose two halves are the number drawn and the next
// state, and a shift. Reports are out of line, at the end of the function. A pass knows no driver: module in, module
// out.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_H

#include "ptx/ptx.h"
#include "ptx/site_status.h"

typedef struct ColliderOptions {
    uint32_t seed;
    // The code reads the seed from its control (GrControl), so that the text is the same for each: a GPU's driver keeps
    // what it has compiled by its text.
    bool seed_at_load;
    uint32_t read_delay_ns, write_delay_ns; // largest delay; 0: none at all
    bool same_value;                        // report lanes that store the same value to one address
    bool poison;                            // store garbage, wait, and only then store (collider_poison.h)
    // The inserted code decides which windows open (collider_pace.h), loads side by side share one (collider_group.h),
    // and threads come late (collider_time.h): for a GPU. The CPU device decides by itself.
    bool thinned;
    // With thinned: threads hold asynchronous copies (collider_held.h) and stores (collider_segment.h) back. Only
    // values may be looked at then: no watchpoint hears of it.
    bool holds;
    // With thinned: where GrControl.beside says that something may run beside the launch, threads wait long.
    bool beside;
    bool budget; // with thinned: GrControl.shut says which share of the windows stays shut besides
    // Sets marked[index] of the functions to instrument; NULL: all of them. Which sites of those; NULL: all.
    void (*mark)(void *user, const PtxModule *m, bool *marked);
    bool (*wanted)(void *user, const PtxModule *m, const PtxSite *site);
    // Of the sites whose status is GR_SITE_CHECKED, sets that of those that are to be left alone; NULL: none are.
    gr_status (*choose)(void *user, const PtxModule *m, GrSiteStatus *status, gr_error *err);
    void *user;
    // Becomes part of every name linked in ("__gr7_report"), so that several rewritten modules can be linked together;
    // "" for none.
    const char *suffix;
    // A runtime will be there for the records; else a thread stops at a breakpoint where none is.
    bool attached;
    // Functions are rewritten when they are printed, by gr_ptx_print_later; `status` and what the callbacks need must
    // live until then.
    bool later;
} ColliderOptions;

// Rewrites `m` in place. `status` has m->n_sites + 1 elements, each set to what became of that site. On failure (a
// target that cannot be raised, 32-bit addresses) the module is in an undefined state and must not be used; err says
// why.
gr_status gr_collider_rewrite(PtxModule *m, const ColliderOptions *o, GrSiteStatus *status, gr_error *err);

// Name of the control variable (GrControl) that a rewritten module carries, for a suffix, written to buf.
const char *gr_collider_control_name(const char *suffix, char *buf, size_t size);

#endif
