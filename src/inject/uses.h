// SPDX-License-Identifier: Apache-2.0
// uses — what the program uses and the engine ignores on this device (engines/core/uses.h), each noted once.
#ifndef GR_INJECT_USES_H
#define GR_INJECT_USES_H

#include "engines/core/uses.h"
#include "inject/session.h"

// Begins, once the engine is known.
void gr_uses_begin(void);
// The program does that now. Any thread, no lock needed.
void gr_use_seen(GrUse use);
// Work comes in this stream.
void gr_use_stream(CUstream stream);

// Notes what each kernel uses, from a module's own text, before it is changed.
void gr_uses_take(LoadedModule *m, const PtxModule *ptx);
void gr_uses_launched(const Kernel *k); // at its first launch, with the lock

#endif
