// SPDX-License-Identifier: Apache-2.0
// aiming — the race-directed schedule's aim (aim/aim.h) in a program on the CPU device: what --aim says to it, and what
// this run notes of conflicts for the file of --coverage.
#ifndef GR_ENGINES_COLLIDER_AIMING_H
#define GR_ENGINES_COLLIDER_AIMING_H

#include "engines/core/engine.h"
#include "findings/race.h"
#include "options/options.h"

typedef struct Aiming Aiming;

// *out NULL: no option asks for any of it. The device is to be listened to before what else listens to it, so that an
// access is known before it is a side of a race.
gr_status gr_aiming_begin(GrSession *s, const GrOptions *o, Aiming **out, gr_error *err);
// GR_OK too when there is no such device (yet).
gr_status gr_aiming_listen(Aiming *a, gr_error *err);
// False: memory is out.
bool gr_aiming_module(Aiming *a, const PtxModule *m);
void gr_aiming_met(Aiming *a, const Race *r); // NULL: nothing

#endif
