// SPDX-License-Identifier: Apache-2.0
// collider_source — the source of a bulk copy, watched from its issue until the thread that issued it waits.
//
// What is inserted at the issue (collider_async.h) sees a thread write to the source while the window is open. A thread
// that writes later, behind a barrier, comes too late for that, and yet it races: the copy may still read. Of a copy
// that completes by a bulk group only the thread that issued it can know the end, by cp.async.bulk.wait_group. So until
// that thread waits nobody can be ordered behind the copy. A source that is not what it was at the issue when the
// thread gets to the wait was written to by an access that races with the copy, its own thread's stores included. The
// thread keeps a hash of the source, and compares:
//
//     call (hash), __gr_source, (src, size);            at the issue
//     @pending call __gr_source_again, (…, hash);       before a wait, and before the same instruction issues the next
//                                                       copy
//
// A wait that leaves the N newest groups alone ends this for older groups only: the thread counts its groups. One copy
// of each instruction is watched at a time, and a call of a function, which may wait, ends this for all.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_SOURCE_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_SOURCE_H

#include "engines/collider/pass/collider_async.h"

// At `at`, before the copy is issued; its source and size are in these registers, as a generic address and in bytes.
gr_status gr_source_issued(ColliderWork *w, const Copy *c, PtxStmt *at, const PtxReg *src,
                           const PtxReg *size);
// When all of the function's copies have been rewritten: at its waits, and at its beginning `at`.
gr_status gr_source_finish(ColliderWork *w, PtxFunc *f, PtxStmt *at);

#endif
