// SPDX-License-Identifier: Apache-2.0
// vm — a CUDA device whose processor is an interpreter of PTX. Knows no CUDA API and no engine.
//
// Model: docs/execution-model.md. A device loads modules, starts launches, and makes progress only inside gr_vm_run, on
// the caller's thread (VmConfig.jobs may lend it others). The driver decides when that is, so seeds decide asynchrony.
// All launches that were started and have not ended run concurrently. None of these functions is thread safe; the
// driver holds one lock.
#ifndef GR_VM_VM_H
#define GR_VM_VM_H

#include "vm/memory.h"
#include "vm/observer.h"

typedef struct VmDevice VmDevice;
typedef struct VmModule VmModule;
typedef struct VmFunc VmFunc;
typedef struct VmLaunch VmLaunch;

// Which warp runs when (policy.h).
typedef enum VmSchedule {
    VM_SCHEDULE_DEFAULT, // seeded choices, for anything from one instruction on
    VM_SCHEDULE_RR,      // in turn
    VM_SCHEDULE_RANDOM,  // any warp, for a few instructions
    VM_SCHEDULE_PCT,     // by priorities: a bound on how likely a race is found
    VM_SCHEDULE_DIRECTED, // a thread that has made an access is held while others run: gr_vm_run may yield VM_RUN_HELD
} VmSchedule;

enum { VM_PCT_DEPTH = 3, VM_PCT_STEPS = 10000 };

typedef struct VmConfig {
    uint64_t seed;
    int index;             // device ordinal
    VmMem *mem;            // shared by all devices
    uint64_t watchdog_ns;  // virtual time after which a launch ends with VM_FAULT_TIMEOUT; 0: never
    uint32_t split_one_in; // before a memory access, split a converged warp about once in so many accesses;
                           // 0: never
    uint32_t quantum;      // mean number of warp instructions between seeded switches; 0: default
    uint32_t jobs;         // threads that run the blocks of a launch; 0 or 1: one, and all is repeatable
    uint32_t sm_count;     // 0: default
    uint32_t arch;         // compute capability, 120 for 12.0; 0: 90
    bool shuffle_blocks;   // clusters start in a seeded order, an affine permutation
    bool weak;             // weak accesses show weak outcomes: weak.h; jobs is 1 then
    VmSchedule schedule;   // other than the default: jobs is 1
    uint32_t pct_depth, pct_steps; // of VM_SCHEDULE_PCT; 0: default
    bool every_window;             // an extension that has threads wait at accesses leaves none out
    // A lane's access to where it may not goes nowhere (VM_MISUSE_STRAY), instead of a fault.
    bool pass_strays;
    bool unfused;         // execute what shortcuts would skip: for tests, the execution is the same
    uint32_t stack_bytes; // per thread, for calls whose depth is not known; 0: 1024
    uint64_t heap_bytes;  // device malloc heap; 0: 8 MiB
    const struct VmExtension *const *extensions; // extension.h: what engines add, up to NULL; NULL: nothing
} VmConfig;

// What a device is: read by the driver for its attributes.
typedef struct VmProps {
    uint32_t cc_major, cc_minor; // 9.0, unless VmConfig.arch says otherwise
    uint32_t sm_count, warp_size, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
    uint32_t shared_per_block, shared_per_block_optin, shared_per_sm, shared_reserved, regs_per_block;
    uint32_t max_grid[3], max_block[3];
    uint64_t const_bytes, total_bytes;
    uint32_t clock_khz;
} VmProps;

typedef enum VmFaultKind {
    VM_FAULT_NONE,
    VM_FAULT_ILLEGAL_ADDRESS,     // CUDA_ERROR_ILLEGAL_ADDRESS 700
    VM_FAULT_MISALIGNED,          // 716
    VM_FAULT_ILLEGAL_INSTRUCTION, // 715: an instruction this device does not have, named in msg
    VM_FAULT_ADDRESS_SPACE,  // 717: a shared instruction on a generic address of another space and the like
    VM_FAULT_INVALID_PC,     // 718
    VM_FAULT_CLUSTER_BLOCK,  // 719: shared memory of a block that has ended, or that the cluster has not
    VM_FAULT_TRAP,           // 719 launch failed: trap
    VM_FAULT_BREAKPOINT,     // 719: brkpt without a debugger
    VM_FAULT_ASSERT,         // 710
    VM_FAULT_STACK_OVERFLOW, // 719, as hardware reports it
    VM_FAULT_TIMEOUT,        // 702: the watchdog
    VM_FAULT_DEADLOCK,       // 702: no thread can make progress (a barrier that not all threads reach)
    VM_FAULT_LIMIT,          // 2: out of memory for the launch's own needs
} VmFaultKind;

typedef struct VmFault {
    VmFaultKind kind;
    const char *kernel, *function; // names as in PTX
    const char *file;              // source file, NULL without -lineinfo
    uint32_t line, ptx_line;
    const PtxStmt *stmt; // NULL: not known; in `module`
    const PtxModule *module;
    uint32_t thread[3], block[3];
    uint64_t address;
    bool shuffled;  // the launch's blocks did not start in ascending order
    char msg[1024]; // one sentence: "thread (3,0,0) of block (1,0,0) wrote 4 bytes at 0x…, 0 bytes past the
                    // end of a 400-byte allocation"
} VmFault;

typedef struct VmFuncAttrs {
    uint32_t max_threads; // per block
    uint32_t regs;        // an estimate, never 0
    uint64_t shared_static, local_bytes, const_bytes;
    // The architecture that the PTX was written for (.target) and the device's own, as if a JIT compiler had made the
    // code: 80 for sm_80. PTX ISA versions (.version) have nothing to do with it.
    uint32_t ptx_version, binary_version;
    uint32_t reqntid[3], cluster[3];
    uint32_t max_cluster; // blocks, from .maxclusterrank; 0: not written
    bool explicit_cluster;
} VmFuncAttrs;

typedef struct VmParam {
    uint32_t offset, size;
} VmParam;

gr_status gr_vm_create(const VmConfig *config, VmDevice **out, gr_error *err);
void gr_vm_destroy(VmDevice *d);
const VmProps *gr_vm_props(const VmDevice *d);
uint32_t
gr_vm_jobs(const VmDevice *d); // VmConfig.jobs, or 1 while an observer listens: those hear of one execution

// cudaLimitStackSize: for launches made from now on. 0: the default.
void gr_vm_set_stack(VmDevice *d, uint32_t bytes);
// cudaLimitMallocHeapSize: for launches made from now on. What is allocated already stays.
void gr_vm_set_heap(VmDevice *d, uint64_t bytes);

// Adds an ear. The observer is copied. Accesses cost more while anyone listens to them.
gr_status gr_vm_observe(VmDevice *d, const VmObserver *o, gr_error *err);

// Decodes and links modules (several for -rdc=true: .extern is resolved among them; .weak and .visible as PTX
// ISA 11.6). They must outlive the VmModule. An instruction the device does not know is no error here: it
// faults when reached, and gr_vm_module_unknown counts and names them. Unresolved .extern functions other
// than the built-in ones (vprintf, malloc, free,
// __assertfail) are GR_ERR_NOT_FOUND.
// Modules may call a `runtime`, as "__gr<suffix>_NAME" what is "__gr_NAME" there. NULL: they call none.
gr_status gr_vm_module_load(VmDevice *d, PtxModule *const *modules, size_t n, VmModule *runtime,
                            const char *suffix, VmModule **out, gr_error *err);
// A device runtime that modules share, decoded once. It stays as long as the device; each module has its variables.
gr_status gr_vm_runtime(VmDevice *d, PtxModule *ptx, VmModule **out, gr_error *err);
void gr_vm_module_unload(VmModule *m); // frees its globals
size_t gr_vm_module_unknown(const VmModule *m, const char *const **names);

VmFunc *gr_vm_module_func(const VmModule *m,
                          const char *name); // kernels and device functions; NULL when absent
size_t gr_vm_module_kernels(const VmModule *m, VmFunc *const **out);
// False when absent. *managed tells a __managed__ variable.
bool gr_vm_module_global(const VmModule *m, const char *name, uint64_t *addr, uint64_t *size, bool *managed);

const char *gr_vm_func_name(const VmFunc *f);
bool gr_vm_func_is_kernel(const VmFunc *f);
const VmFuncAttrs *gr_vm_func_attrs(const VmFunc *f);
size_t gr_vm_func_params(const VmFunc *f, const VmParam **out,
                         uint32_t *total_bytes); // layout of the parameter buffer

typedef struct VmLaunchParams {
    VmFunc *func;
    uint32_t grid[3], block[3], cluster[3]; // cluster {0,0,0}: none asked
    uint32_t shared_dynamic;
    const void *params; // packed as gr_vm_func_params says; copied
    uint64_t launch;    // number, from 1
    bool cooperative;   // all blocks resident, or GR_ERR_LIMIT
    uint32_t peers;     // a bit per device whose memory the kernel may use beside its own
} VmLaunchParams;

// Checks the configuration and makes the launch runnable. Its blocks start inside gr_vm_run.
gr_status gr_vm_launch(VmDevice *d, const VmLaunchParams *p, VmLaunch **out, gr_error *err);

typedef enum VmRunResult {
    VM_RUN_IDLE,     // no launch is active
    VM_RUN_PROGRESS, // the budget was used
    VM_RUN_ENDED,    // at least one launch ended or faulted; ask gr_vm_launch_done
    VM_RUN_HELD,     // VM_SCHEDULE_DIRECTED: nothing can move until gr_vm_release
    VM_RUN_STUCK, // every thread waits or repeats a loop that changes nothing, until memory changes from outside
} VmRunResult;

// Runs active launches for about `steps` warp instructions. Returns early as soon as a launch ends. When
// every thread of every launch sleeps, the clock jumps; when none can ever run again, the launch faults with
// VM_FAULT_DEADLOCK.
VmRunResult gr_vm_run(VmDevice *d, uint64_t steps);

// After VM_RUN_STUCK, when nothing outside will change memory: its launches end with VM_FAULT_TIMEOUT.
void gr_vm_end_stuck(VmDevice *d);

// Releases a held thread, which the seed chooses. Its launch; NULL: none is held.
VmLaunch *gr_vm_release(VmDevice *d);
// Whether gr_vm_run would yield VM_RUN_HELD.
bool gr_vm_all_held(const VmDevice *d);

// What VM_SCHEDULE_PCT promises of this execution so far. False under other schedules.
typedef struct VmBound {
    uint64_t warps, steps, limit, spins; // n, warp instructions, k; how often a warp that polled was put last
    uint32_t depth;
    bool holds;         // neither more steps than the limit nor spins
    double probability; // 1 / (n k^(depth-1))
} VmBound;
bool gr_vm_bound(const VmDevice *d, VmBound *out);

// Whether VmConfig.weak was not heeded for some accesses, because memory ran out.
bool gr_vm_weak_incomplete(const VmDevice *d);

bool gr_vm_launch_done(const VmLaunch *l);
const VmFault *gr_vm_launch_fault(const VmLaunch *l); // NULL when none
// Ends the launch of that number as a trap of its own would, with the instruction if it is executing one: observers may
// call it. False: it does not run.
bool gr_vm_stop(VmDevice *d, uint64_t launch, const char *why);
void gr_vm_launch_free(VmLaunch *l); // also cancels one that runs

uint64_t gr_vm_now_ns(const VmDevice *d);        // the virtual clock
void gr_vm_advance_ns(VmDevice *d, uint64_t ns); // the driver: copies and API calls take time too

// Where vprintf goes: called with whole formatted output of one call, in execution order. Default: stdout. `cost`:
// bytes that the call takes of the output buffer of CUDA.
void gr_vm_set_print(VmDevice *d, void (*print)(void *user, const char *text, size_t len, uint64_t cost),
                     void *user);

uint32_t gr_vm_occupancy(const VmDevice *d, const VmFunc *f, uint32_t threads,
                         uint64_t shared_dynamic); // blocks per SM

#endif
