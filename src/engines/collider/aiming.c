// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/aiming.h"

#include "aim/aim.h"
#include "engines/core/listen.h"
#include "engines/exact/exact.h"
#include "findings/conflict_record.h"

#include <stdlib.h>
#include <string.h>

struct Aiming {
    GrSession *session;
    Aim *aim;
    bool listens;
};

static void noted(void *user, const Conflict *c) {
    GrSession *s = ((Aiming *)user)->session;
    StrBuf b = {0};
    gr_conflict_write(c, &b);
    s->record(s, GR_RECORD_CONFLICT, &b);
    gr_str_free(&b);
}

static void work(void *user, const GrWork *w) {
    Aim *aim = ((Aiming *)user)->aim;
    if (w->kind == GR_WORK_BEGINS && w->type == GR_WORK_KERNEL)
        gr_aim_launch(aim, w->launch, w->stream, w->blocking ? w->context : 0);
    else if (w->kind == GR_WORK_WAITED)
        gr_aim_waited(aim, w->stream, w->legacy ? w->context : 0);
}

gr_status gr_aiming_begin(GrSession *s, const GrOptions *o, Aiming **out, gr_error *err) {
    *out = NULL;
    if (!s || (!o->coverage[0] && !o->aim[0]) || gr_options_misses(o, GR_AIM_NEEDS))
        return GR_OK;
    Aiming *a = calloc(1, sizeof *a);
    GR_NEED(a, err);
    a->session = s;
    gr_status st = gr_aim_create(&(AimOptions){.at = o->aim,
                                               .notes = o->coverage[0] != 0,
                                               .noted = noted,
                                               .user = a,
                                               .fingerprint = gr_exact_fingerprint},
                                 &a->aim, err);
    if (st != GR_OK) {
        free(a);
        return st;
    }
    *out = a;
    return GR_OK;
}

gr_status gr_aiming_listen(Aiming *a, gr_error *err) {
    VmObserver o = gr_aim_observer(a->aim);
    return a->listens ? GR_OK : gr_listen(a->session, &o, work, a, &a->listens, err);
}

bool gr_aiming_module(Aiming *a, const PtxModule *m) { return !a || gr_aim_module(a->aim, m); }

void gr_aiming_met(Aiming *a, const Race *r) {
    if (a)
        gr_aim_met(a->aim, r);
}
