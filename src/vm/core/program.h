// SPDX-License-Identifier: Apache-2.0
// program — modules and functions as the CPU device holds them: linked and decoded.
//
// A function is an array of VmInsn and a list of fills. A fill says what a slot of the function's frame holds before
// the first instruction runs: immediates, addresses, kernel parameters, special registers. Fills come in three classes,
// sorted. STATIC fills are the same whenever the frame is used again within a launch. WARP fills depend on the warp or
// on the depth of the stack. BLOCK fills depend on the block. Nothing here changes while a kernel runs.
#ifndef GR_VM_CORE_PROGRAM_H
#define GR_VM_CORE_PROGRAM_H

#include "base/map.h"
#include "base/vec.h"
#include "device_api/shared_window.h"
#include "vm/core/insn.h"
#include "vm/vm.h"

#define VM_NO_SLOT UINT32_MAX

enum {
    VM_CLUSTER_MAX = 16,      // blocks of a cluster, where the kernel allows more than the portable 8
    VM_LOCAL_MAX = 512 << 10, // bytes of stack per thread, as devices have
    VM_CALL_BYTES = 16,       // of stack that a call takes besides local variables
};

// Address windows. They lie above what user space of x86-64 can map, so no host pointer is ever mistaken for
// them.
// The shared window holds the shared memory of all blocks of a cluster, block `rank` at rank << VM_SHARED_SHIFT, as on
// devices of compute capability 9.0: an address in it means the same to all of them.
#define VM_SHARED_BASE  GR_CPU_SHARED_WINDOW
#define VM_SHARED_SHIFT GR_CPU_SHARED_SHIFT
#define VM_SHARED_SLOT  (UINT64_C(1) << VM_SHARED_SHIFT)
#define VM_SHARED_SIZE                                                                                       \
    (VM_SHARED_SLOT *                                                                                        \
     GR_CPU_SHARED_RANKS) // ranks that no cluster has are in it too, so that using them faults
#define VM_SHARED_RESERVED                                                                                   \
    1024u // for system software (cooperative groups use it), behind what the program declares
#define VM_LOCAL_BASE UINT64_C(0x820000000000)
#define VM_LOCAL_SIZE UINT64_C(0x10000000)
#define VM_CODE_BASE  UINT64_C(0x830000000000)

// Special registers whose value does not change while a function runs: fills. Instructions read the others.
typedef enum VmFillKind {
    VM_FILL_CONST,      // bits
    VM_FILL_PARAM,      // kernel parameter: `bits` is the offset, `size` bytes of it, sign extended or not
    VM_FILL_PARAM_ADDR, // address of the launch's parameter buffer plus bits
    VM_FILL_SHARED,     // address of shared variable `var` within the window, plus bits
    VM_FILL_LOCAL,      // stack offset of this activation plus bits
    VM_FILL_TID,
    VM_FILL_NTID,
    VM_FILL_CTAID,
    VM_FILL_NCTAID,
    VM_FILL_LANEID,
    VM_FILL_LANEMASK_EQ,
    VM_FILL_LANEMASK_LE,
    VM_FILL_LANEMASK_LT,
    VM_FILL_LANEMASK_GE,
    VM_FILL_LANEMASK_GT,
    VM_FILL_WARPID,
    VM_FILL_NWARPID,
    VM_FILL_SMID,
    VM_FILL_NSMID,
    VM_FILL_GRIDID,
    VM_FILL_SMEM_DYNAMIC,
    VM_FILL_SMEM_TOTAL,
    VM_FILL_SMEM_RESERVED, // bits: from the start of the reserved part
    VM_FILL_CLUSTERID,
    VM_FILL_NCLUSTERID,
    VM_FILL_CLUSTER_CTAID,
    VM_FILL_CLUSTER_NCTAID,
    VM_FILL_CLUSTER_CTARANK,
    VM_FILL_CLUSTER_NCTARANK,
    VM_FILL_CLUSTER_EXPLICIT, // a predicate
    VM_FILL_ENVREG,           // %envreg<dim>
    VM_FILL_RUNTIME, // address of variable `bits_hi` of the runtime, which each module has, plus bits
} VmFillKind;

typedef enum VmFillClass { VM_FILL_STATIC, VM_FILL_WARP, VM_FILL_BLOCK } VmFillClass;

typedef struct VmFill {
    uint32_t slot;
    uint8_t width; // of the slot's lanes in bytes: 0 predicate, 2, 4, 8, 16
    uint8_t kind;  // VmFillKind
    uint8_t cls;   // VmFillClass
    uint8_t dim;   // 0..2 of tid and the like
    uint8_t size;  // PARAM: bytes to read
    bool sext;
    uint64_t bits, bits_hi;
    const PtxVar *var;
} VmFill;

// Bytes that a function's .param variable takes in a frame: lane l at offset + l * stride. A scalar's stride
// is its width, so that a .b32 or .b64 parameter has exactly the layout of a register.
typedef struct VmParamSlot {
    uint32_t offset, stride;
} VmParamSlot;

// Where a frame keeps something by lane: lane l's at offset + l * bytes. 0 bytes: it is bit l of a word.
typedef struct VmLanePlace {
    uint32_t offset, bytes;
} VmLanePlace;

// A module-scope variable after linking.
typedef struct VmGlobal {
    const char *name;
    const PtxVar *var; // the definition
    PtxSpace space;    // GLOBAL, CONST or SHARED
    uint64_t addr, size;
    VmRange *range;
    bool managed;
    uint32_t index; // in VmModule.globals
} VmGlobal;

// A function that the device itself provides (vprintf, malloc, …).
typedef struct VmBuiltin {
    const char *name;
    VmExec exec;
} VmBuiltin;

// What a module's functions have numbers of.
typedef struct VmCounts {
    uint32_t caches;      // inline caches its memory instructions use
    uint32_t launch_room; // bytes of each launch that extensions keep (extend.h)
    uint32_t speculated;
} VmCounts;

struct VmFunc {
    const char *name;
    PtxFunc *ptx; // open while there is code
    VmModule *module;
    uint32_t index; // within the VmModule
    // What it takes to run it: made when a kernel that may come to it is first launched (gr_vm_decode), in `arena`.
    // NULL: not yet.
    Arena *arena;
    VmInsn *code;
    uint32_t n_code;
    uint32_t frame_bytes;
    VmFill *fills;
    uint32_t n_static, n_warp, n_block; // consecutive in fills[]
    VmLanePlace *places;                // device functions: all that their frames keep of lanes
    uint32_t n_places;
    uint32_t local_bytes;        // of one activation
    VmParamSlot *formals, *rets; // device functions
    const VmBuiltin *builtin;    // instead of code
    // Call graph: what it needs of its kernel's shared memory and stack.
    VmFunc **callees;
    uint32_t n_callees;
    bool calls_indirect, calls_alloca, address_taken;
    bool known;            // what is said here of its needs: it was decoded when its module was loaded
    bool ready;            // kernels: all that it may come to can run
    uint64_t walk;         // the last of VmDevice.walks that came here
    VmCounts first;        // the numbers that it was given when it was decoded for the first time
    const PtxVar **shared; // shared variables it names
    uint32_t n_shared;
    // Kernels.
    VmFuncAttrs attrs;
    VmParam *params;
    uint32_t n_params, param_bytes;
    Map shared_layout; // const PtxVar * -> offset + 1
    uint32_t shared_static;
    uint32_t shared_align; // of the dynamic part; 0: none is named
    bool wants_reserved;   // names the reserved part of shared memory
    bool recursive;        // or calls indirectly: the stack's depth is not known
    uint32_t stack_bytes;
    bool wants_param_buffer;
};

struct VmModule {
    VmDevice *device;
    PtxModule **ptx;
    size_t n_ptx;
    Arena arena;
    VmFunc **funcs; // definitions and built-ins, those of `runtime` first
    uint32_t n_funcs;
    VmFunc **kernels;
    uint32_t n_kernels;
    Map func_of;   // const PtxFunc * (definition or declaration) -> VmFunc *
    Map global_of; // const PtxVar * (definition or declaration) -> VmGlobal *
    Map global_by_name;
    Map func_by_name;
    VEC(VmGlobal *) globals;
    VEC(const char *) unknown;
    VmCounts counts;
    uint32_t code_base;
    bool orders; // some instruction may order blocks among themselves
    bool bulk;   // some instruction is of the async proxy
    bool tagged; // some instruction was inserted by a pass
    // A runtime is code that several modules share: it knows no addresses of variables, which are each module's own.
    bool is_runtime;
    VmModule *next_runtime;
    VmModule *runtime;    // the runtime that it has; NULL: none
    const char *suffix;   // of the runtime's names in it
    uint64_t *runtime_at; // where the runtime's variables are, by VmGlobal.index there
    VmModule *next;
};

// Steps of gr_vm_module_load.
gr_status gr_vm_link_data(VmModule *m, gr_error *err); // globals.c
// decode.c. In `arena`, which lives as long as f->code. What it is decoded to is the same each time.
gr_status gr_vm_decode(VmFunc *f, Arena *arena, gr_error *err);
void gr_vm_forget(VmFunc *f);                       // its code: what its kernels need of it stays
gr_status gr_vm_layout(VmModule *m, gr_error *err); // layout.c
const VmBuiltin *gr_vm_builtin(const char *name);   // syscall.c
VmFunc *gr_vm_resolve_func(const VmModule *m, const PtxFunc *decl, const char *name);
// decode/runtime.c: takes the module's runtime before linking; places its variables once their addresses are known.
gr_status gr_vm_take_runtime(VmModule *m, uint32_t *cap, gr_error *err);
gr_status gr_vm_place_runtime(VmModule *m, gr_error *err);
VmFunc *gr_vm_runtime_func(const VmModule *m, const PtxFunc *decl, const char *name);
static inline uint64_t gr_vm_code_address(const VmFunc *f) {
    return VM_CODE_BASE + ((uint64_t)f->module->code_base + f->index) * 16;
}
uint64_t gr_vm_var_size(const PtxVar *v);
uint32_t gr_vm_var_align(const PtxVar *v);

#endif
