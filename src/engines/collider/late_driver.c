// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/late_driver.h"

bool gr_late_driver(LateDriver *d, GrSession *s) {
    if (d->there || d->missing)
        return d->there;
    bool all = true;
#define FIND(field, name)                                                                                    \
    d->field = (__typeof__(d->field))s->driver(s, name);                                                     \
    all = all && d->field;
    FIND(current, "cuCtxGetCurrent")
    FIND(fill, "cuMemsetD32Async")
    FIND(host_function, "cuLaunchHostFunc")
    FIND(ask, "cuPointerGetAttribute")
    FIND(wait, "cuStreamSynchronize")
    FIND(new_event, "cuEventCreate")
    FIND(record, "cuEventRecord")
    FIND(query, "cuEventQuery")
    FIND(device, "cuCtxGetDevice")
    d->there = all;
    FIND(prefetch, "cuMemPrefetchAsync")
    FIND(flags, "cuStreamGetFlags")
#undef FIND
    d->missing = !d->there;
    if (d->missing)
        s->remark(s, "--late-work had no effect: the driver lacks what it needs");
    return d->there;
}
