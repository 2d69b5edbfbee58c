// SPDX-License-Identifier: Apache-2.0
// mbarriers — objects in shared memory at which threads of a block arrive and wait (PTX ISA, "Parallel Synchronization
// and Communication Instructions: mbarrier"), in code for warps.
//
// There they end regions: each arrival, and each wait that is not over. What arrives in a region counts from the
// region's end on; so what two threads do in one region is in no order by the object. A thread that waits ends regions
// until it need not wait; what it does then comes behind the ends of all regions in which others arrived.
//
//     arrive:    `token`: the object's phase; in pass 1 it counts one more; end of the region; the destination becomes
//                `token`
//     wait:      S: over? then true, and on; else end of the region, and again from S on
//
// An end of the region is one of all threads. So what a thread does without a wait comes behind what others did before
// they arrived, and nothing is seen. Therefore such a kernel is run once more, and arrivals do not end regions then
// (GrPrivControl.lanes): there what a thread does behind its arrival comes in front of what others wait for.
#ifndef GR_ENGINES_PRIVATIZER_PASS_MBARRIERS_H
#define GR_ENGINES_PRIVATIZER_PASS_MBARRIERS_H

#include "ptx/ptx.h"

typedef enum GrMeeting {
    GR_MEETS_NOT,
    GR_MEETS_BEGINS,
    GR_MEETS_ARRIVES,
    GR_MEETS_WAITS,
    GR_MEETS_OTHER
} GrMeeting;

// What the instruction does to an object, if that is followed: it is of the block's own threads, which arrive one by
// one. OTHER: it is not.
GrMeeting gr_meeting_of(const PtxInstr *i);

#endif
