// SPDX-License-Identifier: Apache-2.0
// init — cuInit, the settings of the CPU device, the table of live handles, and the optional hooks of a tool.
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"

#include "base/log.h"
#include "device_api/hooks.h"
#include "vm/extension.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

Driver gr_cu;

// ---- Settings ----------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    size_t offset;
    uint64_t deflt;
} settings[] = {
#define CONFIG(type, name, deflt, help) {#name, offsetof(DriverConfig, name), deflt},
#include "driver/cuda/config.def"
#undef CONFIG
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

static uint64_t *setting(DriverConfig *c, size_t i) { return (uint64_t *)((char *)c + settings[i].offset); }

static void default_config(DriverConfig *c) {
    for (size_t i = 0; i < N_SETTINGS; i++)
        *setting(c, i) = settings[i].deflt;
}

static gr_status parse_config(const char *text, DriverConfig *config, gr_error *err) {
    DriverConfig c = *config;
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, ",");
        size_t key = strcspn(p, "=,");
        size_t i = 0;
        while (i < N_SETTINGS && (strlen(settings[i].name) != key || strncmp(settings[i].name, p, key) != 0))
            i++;
        if (i == N_SETTINGS)
            return gr_fail(err, GR_ERR_ARGUMENT, "unknown setting '%.*s' of the CPU device", (int)key, p);
        char *end = NULL;
        errno = 0;
        uint64_t value = key < len && isdigit((unsigned char)p[key + 1]) ? strtoull(p + key + 1, &end, 0) : 0;
        if (!end || end != p + len || errno)
            return gr_fail(err, GR_ERR_ARGUMENT, "setting '%s' of the CPU device takes a number, not '%.*s'",
                           settings[i].name, (int)(key < len ? len - key - 1 : 0), p + key + (key < len));
        *setting(&c, i) = value;
        p += len + (p[len] == ',');
    }
    if (c.devices < 1 || c.devices > GR_CU_MAX_DEVICES)
        return gr_fail(err, GR_ERR_ARGUMENT, "the CPU device comes 1 to %d times, not %llu times",
                       GR_CU_MAX_DEVICES, (unsigned long long)c.devices);
    if (c.jobs < 1 || c.jobs > GR_CU_MAX_JOBS)
        return gr_fail(err, GR_ERR_ARGUMENT, "the CPU device runs blocks on 1 to %d threads, not on %llu",
                       GR_CU_MAX_JOBS, (unsigned long long)c.jobs);
    if (c.schedule > VM_SCHEDULE_DIRECTED)
        return gr_fail(err, GR_ERR_ARGUMENT, "the CPU device has the schedules 0 to %d, not %llu",
                       VM_SCHEDULE_DIRECTED, (unsigned long long)c.schedule);
    if (c.pct_depth < 1 || c.pct_depth > 64 || c.pct_steps < 1 || c.pct_steps > UINT32_MAX)
        return gr_fail(err, GR_ERR_ARGUMENT, "pct_depth is 1 to 64, pct_steps 1 to 4294967295");
    *config = c;
    return GR_OK;
}

// What gr_cpu_device_config asked for, until cuInit.
static struct {
    bool set;
    char text[1024];
} asked;

__attribute__((visibility("default"))) int gr_cpu_device_config(const char *text, char *message,
                                                                unsigned message_size) {
    gr_error err = {0};
    DriverConfig c;
    default_config(&c);
    gr_cu_lock();
    gr_status st = gr_cu.initialized ? gr_fail(&err, GR_ERR_ARGUMENT, "the CPU device is in use already")
                                     : parse_config(text, &c, &err);
    if (st == GR_OK && strlen(text) >= sizeof asked.text)
        st = gr_fail(&err, GR_ERR_LIMIT, "the settings of the CPU device are too long");
    if (st == GR_OK) {
        asked.set = true;
        strcpy(asked.text, text);
    }
    gr_cu_unlock();
    if (st != GR_OK && message)
        snprintf(message, message_size, "%s", err.msg);
    return st == GR_OK ? 0 : -1;
}

// ---- Observers ---------------------------------------------------------------------------------------------

static VEC(VmObserver) observers;

__attribute__((visibility("default"))) int gr_cpu_device_observe(const struct VmObserver *observer) {
    gr_cu_lock();
    int failed = !gr_vec_push(&observers, *observer);
    for (int i = 0; i < gr_cu.n_devices && !failed; i++)
        failed = gr_vm_observe(gr_cu.devices[i].vm, observer, NULL) != GR_OK;
    gr_cu_unlock();
    return failed ? -1 : 0;
}

__attribute__((visibility("default"))) uint64_t gr_cpu_device_launches(uint64_t *unfinished) {
    bool mine = gr_cu_lock_is_mine(); // a handler of a fatal signal asks
    if (!mine)
        gr_cu_lock();
    uint64_t n = gr_queue_launches(unfinished);
    if (!mine)
        gr_cu_unlock();
    return n;
}

__attribute__((visibility("default"))) uint64_t gr_cpu_device_unrepeatable(void) {
    return gr_device_thread_unrepeatable();
}

// ---- Hooks of the tool -------------------------------------------------------------------------------------

void gr_cu_hook_absent(const char *name) {
    void (*hook)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "gr_api_absent");
    if (hook)
        hook(name);
}

void gr_cu_hook_note(const char *what) {
    void (*hook)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "gr_api_note");
    if (hook)
        hook(what);
}

// ---- Handles -----------------------------------------------------------------------------------------------

bool gr_cu_handle_add(void *object, HandleKind kind) {
    *(HandleKind *)object = kind;
    return gr_map_put_u64(&gr_cu.handles, (uint64_t)(uintptr_t)object, object);
}

void gr_cu_handle_remove(void *object) {
    gr_map_remove_u64(&gr_cu.handles, (uint64_t)(uintptr_t)object);
    *(HandleKind *)object = HANDLE_NONE;
}

void *gr_cu_handle(const void *handle, HandleKind kind) {
    HandleKind *object = gr_map_get_u64(&gr_cu.handles, (uint64_t)(uintptr_t)handle);
    return object && *object == kind ? object : NULL;
}

// ---- cuInit ------------------------------------------------------------------------------------------------

CUresult gr_cu_status(gr_status st) {
    switch (st) {
    case GR_OK: return CUDA_SUCCESS;
    case GR_ERR_NOMEM: return CUDA_ERROR_OUT_OF_MEMORY;
    case GR_ERR_IO: return CUDA_ERROR_FILE_NOT_FOUND;
    case GR_ERR_SYNTAX: return CUDA_ERROR_INVALID_PTX;
    case GR_ERR_FORMAT: return CUDA_ERROR_INVALID_IMAGE;
    case GR_ERR_UNSUPPORTED: return CUDA_ERROR_NOT_SUPPORTED;
    case GR_ERR_ARGUMENT: return CUDA_ERROR_INVALID_VALUE;
    case GR_ERR_NOT_FOUND: return CUDA_ERROR_NOT_FOUND;
    case GR_ERR_LIMIT: return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case GR_ERR_INTERNAL: break;
    }
    return CUDA_ERROR_UNKNOWN;
}

Dev *gr_cu_device(CUdevice ordinal) {
    return ordinal >= 0 && ordinal < gr_cu.n_devices ? &gr_cu.devices[ordinal] : NULL;
}

static gr_status make_device(int i, gr_error *err) {
    const DriverConfig *c = &gr_cu.config;
    VmConfig vm = {
        .seed = c->seed,
        .index = i,
        .mem = gr_cu.mem,
        .watchdog_ns = c->watchdog,
        .split_one_in = (uint32_t)c->split,
        .quantum = (uint32_t)c->quantum,
        .jobs = (uint32_t)c->jobs,
        .shuffle_blocks = c->shuffle != 0,
        .pass_strays = c->strays != 0,
        .weak = c->weak != 0,
        .every_window = c->windows != 0,
        .schedule = (VmSchedule)c->schedule,
        .pct_depth = (uint32_t)c->pct_depth,
        .pct_steps = (uint32_t)c->pct_steps,
        .sm_count = (uint32_t)c->sms,
        .arch = (uint32_t)c->arch,
        .heap_bytes = c->heap,
        .extensions = gr_vm_extensions,
    };
    Dev *d = &gr_cu.devices[i];
    GR_MUST(gr_vm_create(&vm, &d->vm, err));
    d->ordinal = i;
    d->props = gr_vm_props(d->vm);
    gr_cu.n_devices = i + 1;
    gr_print_attach(d);
    for (size_t k = 0; k < observers.len; k++)
        GR_MUST(gr_vm_observe(d->vm, &observers.data[k], err));
    d->default_pool = d->pool = gr_pool_new(d);
    return d->pool ? GR_OK : gr_no_memory(err);
}

// The variable's value when the process started: a program may clear its environment before it uses CUDA.
static char *at_start;

__attribute__((constructor)) static void keep_settings(void) {
    const char *env = getenv("GPURACE_CPU_DEVICE");
    at_start = env ? strdup(env) : NULL;
}

static gr_status initialize(gr_error *err) {
    default_config(&gr_cu.config);
    const char *env = getenv("GPURACE_CPU_DEVICE");
    env = env ? env : at_start;
    if (env)
        GR_MUST(parse_config(env, &gr_cu.config, err));
    if (asked.set)
        GR_MUST(parse_config(asked.text, &gr_cu.config, err));
    gr_queue_seed(gr_cu.config.seed);
    GR_MUST(gr_vm_mem_create(&gr_cu.mem, err));
    if (gr_vm_mem_moved(gr_cu.mem))
        gr_note_unrepeatable("something else of the process is where device memory usually is, so that its "
                             "addresses are others: the run may "
                             "not be repeatable");
    gr_vm_mem_allow_pageable(gr_cu.mem, gr_cu.config.pageable != 0);
    for (int i = 0; i < (int)gr_cu.config.devices; i++)
        GR_MUST(make_device(i, err));
    return GR_OK;
}

// A program ends with work queued: does what a GPU would most likely have done by then, for a number of instructions,
// not for a time. Waits for nothing else, however often libraries are still unloaded.
static void at_exit(void) {
    if (gr_cu_lock_is_mine())
        return;
    gr_cu_lock();
    if (!gr_cu.forked) {
        gr_queue_exit(UINT64_MAX);
        gr_retire_end();
    }
    if (gr_cu.config.times && !gr_cu.forked)
        gr_queue_print_times();
    gr_cu.exiting = true;
    gr_cu_unlock();
}

// Tells that something of the program cannot work here. Not with the lock held: the tool may ask the device in turn.
static void tell_unusable(const char *what) {
    void (*hook)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "gr_api_unusable");
    if (hook)
        hook(what);
}

CUresult cuInit(unsigned int flags) {
    char why[sizeof(gr_error) + 64] = "";
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    gr_cu_lock();
    CUresult r = CUDA_SUCCESS;
    if (gr_cu.forked)
        r = CUDA_ERROR_NOT_INITIALIZED;
    else if (!gr_cu.initialized && gr_cu.init_result != CUDA_SUCCESS)
        r = gr_cu.init_result;
    else if (!gr_cu.initialized) {
        gr_error err = {0};
        gr_status st = initialize(&err);
        gr_cu.init_result = r = gr_cu_status(st);
        gr_cu.initialized = st == GR_OK;
        if (st == GR_OK)
            atexit(
                at_exit); // runs before what was registered earlier, as nvcc's unloading of a program's modules
        if (st != GR_OK) {
            gr_log(LOG_ERROR, "the CPU device: %s", err.msg);
            snprintf(why, sizeof why, "the CPU device could not begin: %s", err.msg);
        }
    }
    gr_cu_unlock();
    if (why[0])
        tell_unusable(why);
    return r;
}

CUresult cuDriverGetVersion(int *version) {
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = GR_CU_VERSION;
    return CUDA_SUCCESS;
}

// NVIDIA's compilers have its runtime inside, and do their work without it.
static bool is_compiler(const char *name) {
    static const char *const compilers[] = {"libnvrtc.so", "libnvJitLink.so", "libnvvm.so"};
    for (size_t k = 0; k < sizeof compilers / sizeof *compilers; k++)
        if (!strncmp(name, compilers[k], strlen(compilers[k])))
            return true;
    return false;
}

// A library or a program that asks for these tables has NVIDIA's runtime inside, as cuBLAS has. All that the runtime
// does with CUDA fails, and the user sees a status that says nothing.
static void tell_of_runtime(const void *caller) {
    Dl_info in;
    char text[512];
    if (!dladdr(caller, &in) || !in.dli_fname)
        return;
    const char *slash = strrchr(in.dli_fname, '/');
    if (is_compiler(slash ? slash + 1 : in.dli_fname))
        return;
    snprintf(text, sizeof text,
             "%s uses its own CUDA runtime, which does not work over the CPU device: its calls fail",
             slash ? slash + 1 : in.dli_fname);
    tell_unusable(text);
}

// NVIDIA's runtime authenticates the driver beneath it through these tables. That check is not answered here: see
// docs/design.md, "Runtime library".
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    (void)id;
    tell_of_runtime(__builtin_return_address(0));
    if (table)
        *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
