// SPDX-License-Identifier: Apache-2.0
#include "engines/core/listen.h"

gr_status gr_listen(GrSession *s, const VmObserver *o, void (*work)(void *user, const GrWork *w), void *user,
                    bool *heard, gr_error *err) {
    int (*observe)(const struct VmObserver *) =
        (int (*)(const struct VmObserver *))s->symbol(s, "gr_cpu_device_observe");
    int (*observe_work)(void (*)(void *, const GrWork *), void *) =
        (int (*)(void (*)(void *, const GrWork *), void *))s->symbol(s, "gr_cpu_device_observe_work");
    if (!observe || !observe_work)
        return GR_OK;
    if (observe(o) || (work && observe_work(work, user)))
        return gr_fail(err, GR_ERR_NOMEM, "the device takes no observer");
    *heard = true;
    return GR_OK;
}
