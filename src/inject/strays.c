// SPDX-License-Identifier: Apache-2.0
#include "inject/strays.h"

#include "engines/core/listen.h"
#include "engines/core/misuses.h"
#include "inject/session.h"

static RaceWriter writer;
static Misuses strays = {.writer = &writer, .strays = true};
static bool listens, said;

static void hear(void *user, const VmMisuseEvent *e) {
    gr_misuses_hear(user, e);
    if (strays.incomplete && !said) {
        said = true;
        gr_session_notef("memory ran out, and stray accesses were not all told apart");
    }
}

void gr_strays_listen(void) {
    Session *s = &gr_session;
    gr_error err = {0};
    VmObserver o = {.user = &strays, .misuse = hear};
    if (listens || !gr_options_pass_strays(&s->options))
        return;
    writer.session = &s->pub;
    if (gr_listen(&s->pub, &o, NULL, NULL, &listens, &err) != GR_OK)
        gr_session_notef("stray accesses are not reported: %s", err.msg);
}
