// SPDX-License-Identifier: Apache-2.0
// listen — lets an engine hear what the CPU device does, by calls that this device's driver exports.
#ifndef GR_ENGINES_CORE_LISTEN_H
#define GR_ENGINES_CORE_LISTEN_H

#include "device_api/hooks.h"
#include "engines/core/engine.h"
#include "vm/observer.h"

// From now on `o` hears of kernels, and `work` (or NULL) of work for streams. *heard: false when the driver is another
// one, or is not there yet; nothing has happened then. GR_ERR_NOMEM: the device takes no more observers.
gr_status gr_listen(GrSession *s, const VmObserver *o, void (*work)(void *user, const GrWork *w), void *user,
                    bool *heard, gr_error *err);

#endif
