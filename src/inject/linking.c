// SPDX-License-Identifier: Apache-2.0
// The driver's linker links rewritten modules before they are loaded. From PTX alone the driver makes programs that
// stand on their own: it compiles a called function once for each kernel that calls it, and an engine's runtime may be
// longer than the kernels. It compiles the linker's inputs function by function, once.
#include "inject/session.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Linker {
    CUresult (*create)(unsigned, CUjit_option *, void **, CUlinkState *);
    CUresult (*add)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *,
                    void **);
    CUresult (*complete)(CUlinkState, void **, size_t *);
    CUresult (*destroy)(CUlinkState);
} Linker;

static bool find_linker(Linker *l) {
    *l = (Linker){
        (CUresult(*)(unsigned, CUjit_option *, void **, CUlinkState *))gr_driver_function("cuLinkCreate"),
        (CUresult(*)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *,
                     void **))gr_driver_function("cuLinkAddData"),
        (CUresult(*)(CUlinkState, void **, size_t *))gr_driver_function("cuLinkComplete"),
        (CUresult(*)(CUlinkState))gr_driver_function("cuLinkDestroy"),
    };
    return l->create && l->add && l->complete && l->destroy;
}

// ---- Where it can be -----------------------------------------------------------------------------------------

// How many registers all of them may take; 0: they are not to be linked.
static unsigned registers_of(const LoadedModule *list) {
    unsigned least = 0;
    for (const LoadedModule *m = list; m; m = m->next) {
        if (!m->pub.rewritten)
            continue;
        if (!m->pub.link_registers)
            return 0;
        if (!least || m->pub.link_registers < least)
            least = m->pub.link_registers;
    }
    return least;
}

// With one kernel nothing is compiled twice. The driver keeps what it compiles of PTX, and compiles no unused PTX.
static bool stands_alone(const LoadedModule *list) {
    return !list->next && (!list->pub.link_kernels || list->info.n_kernels < 2);
}

// The result is machine code for one device. A library may be loaded for all of them.
static bool devices_are_alike(void) {
    CUresult (*count)(int *) = (CUresult(*)(int *))gr_driver_function("cuDeviceGetCount");
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice) =
        (CUresult(*)(int *, CUdevice_attribute, CUdevice))gr_driver_function("cuDeviceGetAttribute");
    int n = 0, first[2] = {0};
    if (!count || !attribute || count(&n) != CUDA_SUCCESS)
        return false;
    for (int k = 0; k < n; k++) {
        int cc[2];
        if (attribute(&cc[0], CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, k) != CUDA_SUCCESS ||
            attribute(&cc[1], CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, k) != CUDA_SUCCESS)
            return false;
        if (!k)
            memcpy(first, cc, sizeof first);
        if (memcmp(first, cc, sizeof first))
            return false;
    }
    return true;
}

static void release_context(void) {
    CUresult (*release)(CUdevice) = (CUresult(*)(CUdevice))gr_driver_function("cuDevicePrimaryCtxRelease");
    if (release)
        release(0);
}

// The linker needs a context, and a library may be loaded without one: then it is the first device's.
static bool enter_context(void) {
    CUresult (*retain)(CUcontext *, CUdevice) =
        (CUresult(*)(CUcontext *, CUdevice))gr_driver_function("cuDevicePrimaryCtxRetain");
    CUresult (*push)(CUcontext) = (CUresult(*)(CUcontext))gr_driver_function("cuCtxPushCurrent");
    CUcontext context;
    if (!retain || !push || retain(&context, 0) != CUDA_SUCCESS)
        return false;
    if (push(context) == CUDA_SUCCESS)
        return true;
    release_context();
    return false;
}

static void leave_context(void) {
    CUresult (*pop)(CUcontext *) = (CUresult(*)(CUcontext *))gr_driver_function("cuCtxPopCurrent");
    CUcontext context;
    if (pop && pop(&context) == CUDA_SUCCESS)
        release_context();
}

// ---- Linking -------------------------------------------------------------------------------------------------

// Adds units; those that are not rewritten go as they are: the device's runtime, for one, which is machine code.
static CUresult add_all(const Linker *l, CUlinkState state, const LoadedModule *list) {
    CUresult rc = CUDA_SUCCESS;
    for (const LoadedModule *m = list; m && rc == CUDA_SUCCESS; m = m->next) {
        if (m->pub.rewritten)
            rc = l->add(state, CU_JIT_INPUT_PTX, m->text, m->text_len + 1, m->pub.name, 0, NULL, NULL);
        else if (m->container)
            rc = l->add(state, CU_JIT_INPUT_FATBINARY, (void *)(uintptr_t)m->container, m->container_len,
                        m->pub.name, 0, NULL, NULL);
        else
            rc = CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    return rc;
}

// The machine code, which the caller frees; NULL: there is none, and why is in `log`.
static void *link_all(const Linker *l, const LoadedModule *list, unsigned registers, size_t *size, char *log,
                      size_t log_size) {
    bool lines = false, split = false;
    for (const LoadedModule *m = list; m; m = m->next) {
        lines |= m->has_lines;
        split |= m->split;
    }
    CUjit_option options[5] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                               CU_JIT_GENERATE_LINE_INFO};
    void *values[5] = {log, (void *)log_size, (void *)(uintptr_t)lines};
    CUlinkState state;
    void *made, *copy = NULL;
    unsigned n = 3;
    if (registers) { // 0: as many as each function likes
        options[n] = CU_JIT_MAX_REGISTERS;
        values[n++] = (void *)(uintptr_t)registers;
    }
    if (split) { // 0: as many threads as there are processors
        options[n] = CU_JIT_SPLIT_COMPILE;
        values[n++] = 0;
    }
    CUresult rc = l->create(n, options, values, &state);
    if (rc == CUDA_SUCCESS) {
        rc = add_all(l, state, list);
        if (rc == CUDA_SUCCESS)
            rc = l->complete(state, &made, size);
        if (rc == CUDA_SUCCESS && (copy = malloc(*size)))
            memcpy(copy, made, *size); // which goes with the linker
        l->destroy(state);
    }
    if (rc != CUDA_SUCCESS && !log[0])
        snprintf(log, log_size, "CUDA error %d", (int)rc);
    return copy;
}

const void *gr_modules_link(LoadedModule *list) {
    Linker linker;
    char log[2048] = "";
    size_t size = 0;
    struct timespec begin, end;
    unsigned registers = registers_of(list);
    if (strcmp(gr_session.options.device, "gpu") || (!list->in_parts && (!registers || stands_alone(list))))
        return NULL;
    if (list->linked)
        return list->linked;
    if (!find_linker(&linker) || !devices_are_alike())
        return NULL;
    bool entered = !gr_current_context();
    if (entered && !enter_context())
        return NULL;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    list->linked = link_all(&linker, list, registers, &size, log, sizeof log);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (entered)
        leave_context();
    if (list->linked)
        gr_session_verbose("module %s: linked in %.2f s, with at most %u registers for each thread (0: any "
                           "number), %zu bytes",
                           list->pub.name,
                           (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
                           registers, size);
    else
        gr_session_verbose("module %s is not linked, but loaded as PTX: %s", list->pub.name, log);
    return list->linked;
}

void gr_modules_not_linked(LoadedModule *list, CUresult error) {
    gr_session_verbose("module %s is loaded as PTX: the driver refused %s (CUDA error %d)", list->pub.name,
                       list->linked ? "what it had linked" : "a container", (int)error);
    void **refused = list->linked ? &list->linked : &list->boxed;
    list->split = list->split && list->linked;
    free(*refused);
    *refused = NULL;
}
