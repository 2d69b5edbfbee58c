// SPDX-License-Identifier: Apache-2.0
// aim — the second step: what a run is to bring together, and what threads should therefore do where.
#include "aim/aim_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- What to aim at ----------------------------------------------------------------------------------------

// Digits and nothing else: strtoull would take blanks, signs and "0x" before them.
static bool number(const char **p, unsigned base, uint64_t *out) {
    const char *from = *p;
    for (*out = 0; isxdigit((unsigned char)**p); ++*p) {
        unsigned digit = isdigit((unsigned char)**p) ? (unsigned)(**p - '0')
                                                     : (unsigned)(tolower((unsigned char)**p) - 'a') + 10;
        if (digit >= base || *out > (UINT64_MAX - digit) / base)
            return false;
        *out = *out * base + digit;
    }
    return *p > from;
}

static bool take(const char **p, char c) {
    if (**p != c)
        return false;
    ++*p;
    return true;
}

static bool read_word(Aim *a, const char **p) {
    uint64_t function, nth, warp = 0;
    Place at = {.wish = VM_WISH_STOPS};
    if (!number(p, 16, &function) || !take(p, ':') || !number(p, 10, &nth) || nth > UINT32_MAX)
        return false;
    if (!nth)
        return gr_vec_push(&a->late, function);
    if (take(p, '@')) {
        at.wish = VM_WISH_STAYS;
        if (!number(p, 10, &at.launch) || !take(p, '.') || !number(p, 10, &at.block) || !take(p, '.') ||
            !number(p, 10, &warp) || warp > UINT32_MAX)
            return false;
    }
    at.warp = (uint32_t)warp;
    at.name = (SampleSite){function, (uint32_t)nth};
    uint32_t n = gr_aim_named(a, at.name);
    if (n && a->places.data[n].wish < at.wish)
        a->places.data[n] = at;
    return n != 0;
}

static gr_status read_aim(Aim *a, gr_error *err) {
    const char *p = a->options.at;
    if (!*p)
        return GR_OK;
    if (!strcmp(p, "new")) {
        a->otherwise = VM_WISH_NEW;
        return GR_OK;
    }
    a->otherwise = VM_WISH_PASSES;
    do {
        const char *word = p;
        if (!read_word(a, &p) || (*p && *p != ','))
            return gr_fail(
                err, GR_ERR_ARGUMENT,
                "--aim takes accesses as FUNCTION:NTH or FUNCTION:NTH@LAUNCH.BLOCK.WARP, or the word "
                "new, not '%.60s'",
                word);
    } while (take(&p, ','));
    return GR_OK;
}

// ---- What threads should do --------------------------------------------------------------------------------

static bool is_late(const Aim *a, uint64_t launch) {
    for (size_t k = 0; k < a->late_launches.len; k++)
        if (a->late_launches.data[k] == launch)
            return true;
    return false;
}

static VmWish wish(void *user, const VmWhere *w) {
    Aim *a = user;
    if (a->otherwise < VM_WISH_PASSES)
        return a->otherwise;
    if (!w->site)
        return is_late(a, w->launch) ? VM_WISH_STAYS : VM_WISH_PASSES;
    const Place *p = &a->places.data[gr_aim_place(a, w->module, w->site)];
    bool elsewhere = p->launch != w->launch || p->block != w->block_linear || p->warp != w->warp;
    return p->wish == VM_WISH_STAYS && elsewhere ? VM_WISH_STOPS : p->wish;
}

// The kernel, as its accesses are called; 0: it has none.
static uint64_t function_of(Aim *a, const VmLaunchEvent *e) {
    for (uint32_t k = 1; k <= e->module->n_sites; k++)
        if (e->module->sites[k].func == e->kernel)
            return a->places.data[gr_aim_place(a, e->module, k)].name.function;
    return 0;
}

static void launch_begin(void *user, const VmLaunchEvent *e) {
    Aim *a = user;
    uint64_t kernel = a->late.len ? function_of(a, e) : 0;
    for (size_t k = 0; k < a->late.len; k++)
        if (a->late.data[k] == kernel) {
            (void)gr_vec_push(&a->late_launches, e->launch); // else it does not begin late
            break;
        }
}

static void launch_end(void *user, const VmLaunchEvent *e, bool faulted) {
    Aim *a = user;
    (void)faulted;
    for (size_t k = 0; k < a->late_launches.len; k++)
        if (a->late_launches.data[k] == e->launch)
            a->late_launches.data[k] = a->late_launches.data[--a->late_launches.len];
}

// ---- Creation ----------------------------------------------------------------------------------------------

gr_status gr_aim_create(const AimOptions *o, Aim **out, gr_error *err) {
    gr_status st = GR_OK;
    Aim *a = calloc(1, sizeof *a);
    GR_NEED(a, err);
    a->options = *o;
    bool ok = gr_vec_push(&a->places, (Place){.wish = VM_WISH_PASSES}) && // what is not known
              (!o->notes || (a->conflicts = gr_conflicts_new(a)));
    if (!ok)
        st = gr_no_memory(err);
    else
        st = read_aim(a, err);
    if (st == GR_OK)
        *out = a;
    else
        gr_aim_free(a);
    return st;
}

gr_status gr_aim_check(const char *at, gr_error *err) {
    Aim *a = NULL;
    gr_status st = gr_aim_create(&(AimOptions){.at = at}, &a, err);
    gr_aim_free(a);
    return st;
}

void gr_aim_free(Aim *a) {
    if (!a)
        return;
    gr_conflicts_free(a->conflicts);
    gr_map_free(&a->modules);
    gr_map_free(&a->known);
    gr_map_free(&a->names);
    gr_vec_free(&a->places);
    gr_vec_free(&a->late);
    gr_vec_free(&a->late_launches);
    free(a);
}

VmObserver gr_aim_observer(Aim *a) {
    VmObserver o = {.user = a, .launch_begin = launch_begin, .launch_end = launch_end, .wish = wish};
    if (a->conflicts)
        gr_conflicts_listen(&o);
    return o;
}

void gr_aim_launch(Aim *a, uint64_t launch, uint64_t stream, uint64_t blocking) {
    if (a->conflicts)
        gr_conflicts_launch(a->conflicts, launch, stream, blocking);
}

void gr_aim_waited(Aim *a, uint64_t stream, uint64_t legacy) {
    if (a->conflicts)
        gr_conflicts_waited(a->conflicts, stream, legacy);
}

static uint32_t side_of(const Aim *a, const RaceSide *s) {
    return s->by == RACE_BY_KERNEL ? gr_aim_known(a, s->module, s->site) : 0;
}

void gr_aim_met(Aim *a, const Race *r) {
    uint32_t x = side_of(a, &r->side[0]), y = side_of(a, &r->side[1]);
    if (a->conflicts && x && y)
        gr_conflicts_met(a->conflicts, x, y);
}
