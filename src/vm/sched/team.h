// SPDX-License-Identifier: Apache-2.0
// team — threads that share a piece of work with the calling one. Internal to the VM.
#ifndef GR_VM_SCHED_TEAM_H
#define GR_VM_SCHED_TEAM_H

typedef struct VmTeam VmTeam;

enum { VM_TEAM_MAX = 64 };

// A team of `want` members, the caller included; of fewer when the system gives no more threads. NULL: out of memory.
VmTeam *gr_vm_team_new(unsigned want);
void gr_vm_team_free(VmTeam *t);
unsigned gr_vm_team_size(const VmTeam *t);

void gr_vm_team_relax(void); // within a loop that looks for what another thread will do in a moment

// Calls work(arg, k) once for each k below n, which is at most the team's size. The first call is on the caller's
// thread, the k-th always on one helper, or on the caller's thread if that is free and the helper has not come yet.
// Returns when all have returned.
void gr_vm_team_run(VmTeam *t, unsigned n, void (*work)(void *arg, unsigned k), void *arg);

#endif
