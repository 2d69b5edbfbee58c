// SPDX-License-Identifier: Apache-2.0
// device — the state of a device: its launches, modules, observers and extensions. Internal to the VM.
#ifndef GR_VM_CORE_DEVICE_H
#define GR_VM_CORE_DEVICE_H

#include "base/rng.h"
#include "base/vec.h"
#include "vm/extension.h"
#include "vm/vm.h"

enum {
    VM_OBSERVERS = 32,
    VM_QUANTUM = 256, // mean, in warp instructions
};

// %globaltimer when the device starts: any fixed date will do.
#define VM_EPOCH_NS UINT64_C(1700000000000000000)

// stuck.c: looks at what kernels do, in warp instructions that the device has executed.
typedef struct VmStuck {
    uint64_t executed, next, ends; // `next`: something is to be done
    uint64_t gap, most;            // between looks, and how long one is
    uint32_t look;
    bool looking, found;
} VmStuck;

struct VmDevice {
    VmConfig config;
    VmProps props;
    VmMem *mem;
    Rng rng;
    uint64_t now_ps;
    VEC(VmObserver) observers;
    bool listens_access, listens_sync, listens_async, listens_window;
    bool listens_always; // some observer wants all accesses
    bool glances;        // some observer has a glance
    uint64_t n_windows;  // that were opened
    VmLaunch *active;    // in order of submission
    VmModule *modules;
    VmModule *runtimes; // modules that are others' runtimes, by VmModule.next_runtime
    uint32_t code_next;
    uint64_t walks; // through the functions of a kernel that is launched for the first time
    uint64_t heap_used;
    void (*print)(void *user, const char *text, size_t len, uint64_t cost);
    void *print_user;
    uint32_t stack_limit;
    struct VmWeak *weak; // weak.h; NULL: accesses are sequentially consistent
    unsigned n_extensions;
    void *extension_state[VM_EXTENSIONS]; // states of config.extensions
    const struct VmPolicy *policy;        // policy.h; NULL: the default schedule
    struct VmPct *pct;                    // of policy_pct.c
    uint64_t executed,
        held_until; // hold.c: warp instructions, and at which number of them a held thread has waited long enough
    uint64_t quiet_until; // hold.c: held_until, if no thread was held or released meanwhile
    uint32_t n_held;
    VmStuck stuck;
    struct VmTeam *team; // threads that run shares; NULL: none were needed yet
};

// Whether accesses have to be told now.
bool gr_vm_wanted(const VmDevice *d, bool reads); // observe.c; reads: such as do nothing else

#endif
