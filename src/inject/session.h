// SPDX-License-Identifier: Apache-2.0
// session — the injection's state in a process: options, results file, engine, the program's modules and launches.
//
// It begins with the first driver call (a program that uses no CUDA is left alone) and ends with the process. After
// that, and without a results file to write to, every entry point passes straight through. One lock guards it all. The
// hooks of the CPU device (gr_api_*) come with that driver's lock held, and do not take it.
#ifndef GR_INJECT_SESSION_H
#define GR_INJECT_SESSION_H

#include "base/map.h"
#include "base/vec.h"
#include "engines/core/engine.h"
#include "fatbin/fatbin.h"
#include "findings/module_record.h"
#include "findings/results.h"
#include "inject/chosen.h"
#include "inject/hooks.h"
#include "options/options.h"

#include <pthread.h>

// One PTX module of the program. Several may stand behind one handle of the driver (-rdc=true).
typedef struct LoadedModule {
    GrModule pub;
    GrModuleInfo info; // what its record says
    Arena arena;       // of info's texts
    char *text;        // what was handed to the driver instead of the program's image
    size_t text_len;
    // The runtimes that the driver links with it, of which the text has no copy (wrote.h).
    struct GrApiRuntimes *apart;
    void *linked;          // machine code of it and of all behind it; NULL: none was made (linking.c)
    const void *container; // of a unit that is not rewritten, the program's; NULL where it is not kept
    size_t container_len;
    uint64_t records_offset;
    const char *unchecked;
    CUmodule module; // one of the two, or none yet
    CUlibrary library;
    VEC(CUcontext) ready;      // contexts whose copy of the module the engine knows
    VEC(CUcontext) complete;   // contexts where the driver has loaded its kernels
    VEC(const void *) handles; // handles by which modules_of finds it, if it is the first behind a handle
    bool attach_failed;        // said once
    bool recorded;             // its MODULE record is written
    bool wrapped;              // stands in a fatbin wrapper of the program (wrappers.c)
    struct Declared *declared; // declared.c; NULL unless the engine wants to know
    bool has_lines;            // its PTX names lines of the source
    bool aliased;              // some image of ours or of the driver's means it
    bool in_parts;       // it and those behind it were one piece of machine code: a driver takes them linked
    size_t original_len; // of the program's PTX, of which pub.hash is
    Map kernels;         // by name -> Kernel; of the first of those behind a handle
    struct RecordPool *pool; // that pub.records is of
    struct Pieces *pieces;   // pieces.h; NULL: it is loaded as a whole
    bool split;              // the driver's compiler is to use several threads
    void *boxed;             // the text in a container; NULL: not needed yet
    FatbinPtx built;         // how the text is put into a container
    bool by_kernel;          // the driver has the program's own, and kernels get twins (twins.h)
    struct Twin *twins;
    struct KernelUses *uses;   // uses.h; NULL: the engine looks at all of it
    struct LoadedModule *next; // behind the same handle
} LoadedModule;

typedef struct Kernel {
    char *name;
    uint64_t index;        // of its KERNEL record
    LoadedModule *modules; // the modules behind the handle it came from; NULL when not known
    LoadedModule *module;  // the one that defines it; NULL when not known
    GrKernelCounts *counts;
    struct Twin *twins; // its twins (twins.c), a context each
} Kernel;

enum { KEPT_UNLOADED = 32 };

typedef struct Session {
    GrSession pub;
    GrOptions options;
    GrResults results;
    const GrEngine *engine;
    void *engine_self;
    pthread_mutex_t lock;
    uint64_t n_modules, n_launches, n_kernels;
    VEC(LoadedModule *) modules;
    LoadedModule *unloaded[KEPT_UNLOADED]; // the last that were unloaded, which may come again
    unsigned next_unloaded;
    Map loose_kernels; // by name -> Kernel; those of which it is not known what module they are of
    Map modules_of;    // CUmodule or CUlibrary -> LoadedModule
    Map kernels_of;    // CUfunction or CUkernel -> Kernel
    Map links;         // CUlinkState -> LinkState
    Map images;        // images that are made of modules already prepared -> LoadedModule
    Map pending;       // CUstream -> launches that no thread has waited for
    Map events;        // CUevent -> EventMark: where it was last recorded
    GrKernelCounts *counts_area;
    uint64_t counts_offset, counts_used;
    VEC(struct RecordPool *) pools; // records.c
    struct RecordPool *pool;        // the one that small modules are put into
    GrLogged *log;
    uint64_t log_offset, log_first;
} Session;

extern Session gr_session;

// Whether this call is the program's own and is to be handled; if so, gr_session_leave must follow.
bool gr_session_enter(void);
void gr_session_leave(void);

void gr_session_lock(void);
void gr_session_unlock(void);

// Writes a NOTE (what was not done) or a REMARK, each text once. Any thread, no lock needed.
void gr_session_notef(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void gr_session_remarkf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
// Writes what the engine does not look for, where the program has it, each text once. Any thread, no lock needed.
void gr_session_blindf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// A call of the program came back with this: if it says that a kernel was stopped, and nobody has told of that, writes
// a FAULT. Any thread, no lock needed.
void gr_session_call_failed(CUresult result);
void gr_session_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// The process ends in an orderly way: tells the engine, and writes the record. Once.
void gr_session_finish(void);

// ---- modules.c, with the lock held unless said otherwise ---------------------------------------------------------

// Rewrites what is in `image` (`len` bytes, or GR_FATBIN_UNBOUNDED). The result is a list of modules, rewritten or
// named unchecked, NULL only when memory is out; *instead is what the driver shall get, or NULL: the image itself.
LoadedModule *gr_modules_prepare(const void *image, size_t len, const char *name, const void **instead);

// Rewrites a PTX file or a container on disk, like gr_modules_prepare.
LoadedModule *gr_modules_prepare_file(const char *path, const void **instead);

// Another pointer, too, stands for the images of these modules: a linker's output, a container of ours.
void gr_modules_alias(const void *image, LoadedModule *list);
void gr_modules_unalias(const void *image);

// Writes the MODULE records; gr_modules_loaded does it for what the driver is seen to take.
void gr_modules_record(LoadedModule *list);

// Points a wrapper of the program at a rewritten container.
void gr_modules_rewrite_wrapper(void *wrapper);

// gr_modules_rewrite_wrapper would find PTX for this device.
bool gr_modules_have_ptx(const void *wrapper);

// The driver refused `instead` with `error`: the original goes to it.
void gr_modules_refused(LoadedModule *list, CUresult error);

// The driver has the modules, under one of the two handles: records them, and attaches the engine if a context is
// there.
void gr_modules_loaded(LoadedModule *list, CUmodule module, CUlibrary library);
void gr_modules_unloaded(void *handle);

// ---- attach.c, with the lock held -----------------------------------------------------------------------------------

// Gives the engine its chance at a module in the current context, once per context. False when it is not attached.
bool gr_module_attach(LoadedModule *m);

// Without the lock: makes the driver load all kernels of its rewritten modules, once per context. Waits for the device.
void gr_modules_load_kernels(void);

// The context that is current in this thread, or NULL.
CUcontext gr_current_context(void);

// ---- linking.c, with the lock held ----------------------------------------------------------------------------------

// Machine code of all of these modules for the driver to load, if on a GPU the engine wishes it and there are several
// kernels or units, or if they were linked before. It stays as long as the first one. NULL: load them as they are.
const void *gr_modules_link(LoadedModule *list);
// The driver refused with `error` what was linked, or else the container that the PTX was put into: drops that.
void gr_modules_not_linked(LoadedModule *list, CUresult error);

// ---- libraries.c ----------------------------------------------------------------------------------------------------

// The name of NVIDIA's library that holds this image, if it is to be left alone (--libraries); else NULL.
const char *gr_library_left_alone(const void *image);

// ---- wrappers.c ----------------------------------------------------------------------------------------------------

// The module for which a fatbin wrapper was rewritten at start-up, and that defines `kernel`. It gets the handle under
// which the driver turned out to have it. NULL: there is none.
LoadedModule *gr_wrapped_module(const char *kernel, CUmodule module);

// ---- aside.c -------------------------------------------------------------------------------------------------------

// Between these calls the driver does for this thread what it refuses during a capture. `before`: from gr_aside_begin.
unsigned gr_aside_begin(void);
void gr_aside_end(unsigned before);
// Copies from the host to device memory of the current context, apart from the program's streams, and waits for that.
CUresult gr_aside_write(CUdeviceptr to, const void *from, size_t size);
// Zeroed device memory in the current context; 0: there is none left.
CUdeviceptr gr_aside_take(size_t size);

// ---- records.c -----------------------------------------------------------------------------------------------------

// Gives the module pub.records, of pub.record_bytes bytes. False: there is no room.
bool gr_records_take(LoadedModule *m);
// Makes pub.records visible to the device in the current context and sets pub.records_device.
gr_status gr_records_map(LoadedModule *m, gr_error *err);
// Copies pinned memory that stands in for files into these.
void gr_records_sync(void);

// ---- kernels.c -----------------------------------------------------------------------------------------------------

// The modules behind a handle, of a module or a library; NULL: none of ours.
LoadedModule *gr_modules_of(const void *handle);
// The handle means these modules from now on, until they are unloaded. False when memory is out.
bool gr_modules_known_as(LoadedModule *list, const void *handle);
void gr_modules_forget_handles(LoadedModule *list);

void gr_kernel_found(const void *handle, const char *name, LoadedModule *modules);
Kernel *gr_kernel_of(const void *handle);
void gr_kernels_forget(const LoadedModule *modules); // their handles
void gr_kernels_free(LoadedModule *modules);
// The number of a launch that is about to run.
uint64_t gr_launch_reserve(void);
// Whether the launch runs unchecked, as the user or the program wants it (chosen.h). `k` NULL: the kernel is not known.
GrChoice gr_launch_choice(const Kernel *k, uint64_t number, bool in_graph);
// Counts a launch that the driver took or refused.
void gr_kernel_launched(Kernel *k, const GrLaunch *l, GrChoice choice, CUresult result);
uint64_t gr_launches_unfinished(void);
void gr_stream_waited(CUstream stream);
void gr_everything_waited(void);
void gr_event_recorded(CUevent event, CUstream stream);
void gr_event_waited(CUevent event);

#endif
