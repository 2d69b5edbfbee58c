// SPDX-License-Identifier: Apache-2.0
// engine — the one table of functions that an engine is. The injection calls nothing else.
//
// An engine rewrites modules, hears what the program asks of the driver, and leaves what it found in the
// results file. Every function may be NULL. None may abort, and a failure of one is named in the verdict, never
// in the program.
//
// The lock. The injection has one lock, which it never holds while a call of the program is in the driver.
//   - around_launch, launching, launched, submitting, submitted, waiting, waited and finish are called without the
//     lock. Several threads may be in around_launch at once; it may call any function of the driver, and wait for the
//     device. What it shares with other functions needs a lock of the engine's. launching, launched and submitting need
//     such a lock, too, and their waits for the device must be bounded.
//   - All other functions are called with the lock, one at a time, and must not wait for the device: what the
//     device does next may be up to another thread of the program, which may be waiting for the lock.
//     GrSession.write is allowed.
//   - Every function of GrSession may be called with the lock and without it. `watching` has a rule of its own.
// Driver functions that an engine calls are the driver's own: the engine is not told of them.
#ifndef GR_ENGINES_CORE_ENGINE_H
#define GR_ENGINES_CORE_ENGINE_H

#include "base/near.h"
#include "base/status.h"
#include "engines/core/launch.h"
#include "engines/core/memory.h"
#include "engines/core/static.h"
#include "engines/core/uses.h"
#include "findings/area.h"
#include "findings/results.h"
#include "ptx/ptx.h"
#include "ptx/site_status.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct GrOptions; // options/options.h: the tables of options, parsed

struct GrHostTouch;   // device_api/work.h
struct GrHostThreads; // device_api/host_threads.h

// A listener for what the host itself does to memory that it shares with the CPU device.
typedef struct GrHostWatcher {
    void *user;
    void (*touched)(void *user, const struct GrHostTouch *t);
    // The host may have done anything in [at, at + size) since, and may until the next submission of work.
    void (*opened)(void *user, uint64_t at, uint64_t size);
} GrHostWatcher;

// The injection as an engine sees it. The injection's own structure begins with this one.
typedef struct GrSession {
    // A driver entry point by its cuda.h name ("cuMemcpyHtoD"), or NULL when this driver lacks it.
    void *(*driver)(struct GrSession *s, const char *name);
    // Copies to device memory of the current context, whatever the program's streams and captures are about.
    CUresult (*write)(struct GrSession *s, CUdeviceptr to, const void *from, size_t size);
    // Zeroed device memory of the tool's own in the current context. No callback is told of it. 0: none is left.
    CUdeviceptr (*take)(struct GrSession *s, size_t size);
    // Something the engine could not do or did not understand: counted and named in the verdict.
    void (*note)(struct GrSession *s, const char *what, const char *text);
    // Worth knowing, and nothing against the verdict.
    void (*remark)(struct GrSession *s, const char *text);
    // A function that the driver's library exports besides (device_api/hooks.h), or NULL.
    void *(*symbol)(struct GrSession *s, const char *name);
    // The results file: appends a record; reserves zeroed bytes, of which *offset is the place, or yields NULL.
    void (*record)(struct GrSession *s, GrRecordKind kind, const StrBuf *payload);
    void *(*area)(struct GrSession *s, uint64_t size, uint64_t *offset);
    // From now on `w` is told of accesses of the host while `watching` is on, each time with the driver's lock held.
    // `watching` must be called with that lock too: on with every submission of work, off when the host has waited for
    // all work. False: not possible here.
    bool (*watch)(struct GrSession *s, const GrHostWatcher *w);
    void (*watching)(struct GrSession *s, bool on);
    // One more race is known: a count for the command that waits for the program.
    void (*raced)(struct GrSession *s);
    // For an engine with CAP_ARENA: where the program's memory lies on the device of the current context. It stays
    // there. False: where the driver puts it. Not to be called by what listens to the CPU device.
    bool (*arena)(struct GrSession *s, GrArena *out);
    // In launching and launched: whether a parameter of the launch, as far as these are known, is an address in memory
    // of one of the kinds (1 << GrRangeKind). *out: that memory from the address on. For an engine that is told of
    // memory.
    bool (*points)(struct GrSession *s, const GrLaunch *l, unsigned kinds, GrRange *out);
    // Any thread, any lock: whether the launch of that number is to be checked (--only-launches). For an engine with
    // CAP_PICKS, which lets all others run unchecked and follows what they order.
    bool (*wants_launch)(struct GrSession *s, uint64_t number);
    // Without the lock. Loads all rewritten kernels that the current context does not have yet: the driver would do it
    // when they are first launched, and waits for the device for it.
    void (*load_kernels)(struct GrSession *s);
    // What orders the program's threads (thread_clocks.h); followed from the first wait that it is told of.
    const struct GrHostThreads *threads;
} GrSession;

// A module of the program on its way into the driver, or loaded.
typedef struct GrModule {
    uint64_t number;           // from 1, in order of loading
    uint64_t hash;             // of its PTX
    const char *name;          // of its PTX in the fatbinary, or "module 3"
    const PtxModule *original; // NULL when it had no PTX
    bool rewritten;
    uint32_t n_sites;
    GrSiteStatus *checked_sites; // [n_sites + 1], made by the caller, filled by rewrite
    void *records; // the module's area in the results file, `record_bytes` long, zeroed; NULL when none was
                   // asked for
    uint64_t record_bytes;
    GrAreaTag record_tag;       // whose they are and what they mean: the engine sets it with record_bytes
    CUdeviceptr records_device; // where device code writes the same area
    // Set by rewrite, heeded on a GPU. With how many registers for each thread every function can be compiled on its
    // own: then a module of several units is linked by the driver before it is loaded; with link_kernels, one of
    // several kernels too. 0: it is never linked.
    unsigned link_registers;
    bool link_kernels;
    // Set by rewrite: parts of the module may be loaded instead, with one kernel each; `loaded` is called for each.
    bool divides;
    void *engine_data; // the engine's own
} GrModule;

// The suffix of names of the module's runtime, in `buf`; nothing for module 0, a file on its own (`gpurace ptx`).
static inline const char *gr_module_suffix(const GrModule *m, char *buf, size_t size) {
    snprintf(buf, size, m->number ? "%llu" : "", (unsigned long long)m->number);
    return buf;
}

// Where a variable of a module that is in the driver is, and its bytes; or why the driver does not say.
typedef CUresult (*GrGetGlobal)(void *handle, const char *name, CUdeviceptr *addr, size_t *size);

typedef struct GrEngine {
    const char *name;     // --engine NAME
    const char *summary;  // one line for --help
    const char *evidence; // what its word is worth: "value changed"
    unsigned caps;        // options/caps.def
    // What it finds (ends with number 0), and what reads its code's areas. NULL: nothing, or another engine's.
    const GrClass *classes;
    const GrDecoder *decoder;

    const GrBlind *blind; // what it does not look for; NULL: it looks for all of it, or checks nothing

    const GrStaticEngine *still; // an engine with CAP_STATIC has this, and nothing of what follows

    // `s` is NULL when only files are rewritten (`gpurace ptx`). *self is freed by finish.
    gr_status (*begin)(GrSession *s, const struct GrOptions *o, void **self, gr_error *err);
    // Changes `ptx` in place. Sets m->checked_sites, m->record_bytes, m->record_tag, m->link_registers and
    // m->link_kernels. On failure the original is loaded and the module is named unchecked.
    gr_status (*rewrite)(void *self, PtxModule *ptx, GrModule *m, gr_error *err);
    // The module is in the driver: `get_global` finds the device address of one of its variables.
    gr_status (*loaded)(void *self, GrModule *m, GrGetGlobal get_global, void *handle, gr_error *err);
    // The module leaves the driver, after its variables were told as freed.
    void (*unloaded)(void *self, GrModule *m);
    // An unloaded module may be loaded again, without `rewrite`. This one will not be: the engine frees m->engine_data.
    void (*dropped)(void *self, GrModule *m);
    // Whether something may run beside a kernel's first launch: then the driver should have loaded the kernel before.
    bool (*loads_early)(void *self);
    // A test runs several programs in this process, and number `run` (from 0) is about to begin: what follows is as in
    // a process of its own with the seed that many higher.
    void (*next_run)(void *self, uint32_t run);
    // Memory that kernels can reach is there, or is about to go. What a context takes with it is told as well.
    void (*allocated)(void *self, const GrRange *r);
    void (*freed)(void *self, const GrRange *r);
    // Without the lock: what was made in the context is gone, or about to go. A later context may have its handle.
    void (*context_ended)(void *self, CUcontext context);
    // Without the lock. The driver is about to be given a copy, a fill or a graph as a whole, which is not only
    // captured: as for launching, below. True, for a copy from pageable memory to the device that is not async: the
    // call returns when the bytes are staged.
    bool (*submitting)(void *self, const GrComing *w);
    // Without the lock: the driver has taken it, or refused it.
    void (*submitted)(void *self, const GrComing *w);
    // Without the lock. A call of the program is about to wait for the device; it has.
    void (*waiting)(void *self, const GrWait *w);
    void (*waited)(void *self, const GrWait *w);
    // Without the lock.
    void (*ordered)(void *self, const GrOrdering *o);
    // Without the lock, as for launching: the program has one stream more, made with these flags (CU_STREAM_…).
    void (*stream_created)(void *self, unsigned flags);
    // The program has one stream less, which was made with these flags; its work goes on.
    void (*stream_destroyed)(void *self, unsigned flags);
    // The driver has taken a copy or a fill of the program, or of a node of a graph.
    void (*copied)(void *self, const GrCopy *c);
    void (*filled)(void *self, const GrFill *f);
    // Without the lock. In place of a launch: what is to run is run by run->submit, and the result is the program's.
    // A launch while its stream is being captured is not run, so it comes later, as a node of the graph.
    CUresult (*around_launch)(void *self, const GrLaunch *l, GrRun *run);
    // Without the lock. Around a launch that the driver is given at once, by the program or by around_launch. May ask
    // anything of the driver, and must not wait without an end.
    void (*launching)(void *self, const GrLaunch *l);
    void (*launched)(void *self, const GrLaunch *l, CUresult result);
    // Why these options cannot be, or GR_OK; called by commands that run a program, when its device is chosen.
    gr_status (*accepts)(const struct GrOptions *o, gr_error *err);
    void (*finish)(void *self); // without the lock: the program ends
} GrEngine;

// All engines of this program, terminated by NULL: CMake's gr_engine_list writes it.
extern const GrEngine *const gr_engines[];

// The engine of that name; NULL: there is none. "A+B" is two at once (compose.c), valid until the next such call.
const GrEngine *gr_engine_find(const char *name);

// The class with that number, of an engine or of the CPU device's misuses. NULL: this build has none.
const GrClass *gr_engine_class(uint32_t number);
// What reads such areas. NULL: no engine of this build.
const GrDecoder *gr_engine_decoder(const GrAreaTag *tag);
// Names of engines that can do all of `caps`: "collider, tracker". A static text.
const char *gr_engines_that(unsigned caps);
// Number `k` of two engines at once, as named; NULL: `e` is one engine.
const GrEngine *gr_engine_part(const GrEngine *e, unsigned k);
// Why "A+B" cannot be; NULL: it can, or it is not two names of engines.
const char *gr_engine_why_not(const char *name);
// "; did you mean exact?" for a name that is no engine's, "" where none is near. In `hint`.
const char *gr_engine_meant(const char *name, char hint[GR_NEAR_ROOM]);

// Sets the engine and its caps in the options: "auto" is causality on the CPU device, the collider elsewhere. NULL: no
// such engine; caps then say what an engine of another injection library may do: it checks, and runs anywhere.
const GrEngine *gr_engine_choose(struct GrOptions *o, bool elsewhere);

#endif
