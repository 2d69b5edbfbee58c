// SPDX-License-Identifier: Apache-2.0
// registration — the code and variables that nvcc's constructors announce, and what the driver calls them.
//
// A translation unit (or, with -rdc=true, a whole device link) is one image: a fatbinary wrapper, functions
// and variables. Announcing only writes it down, since it happens before main. The driver gets an image, as
// the wrapper pointer itself, when one of its kernels or variables is first used (all of them at once with
// CUDA_MODULE_LOADING=EAGER). An image that the driver refuses is an error of the calls that need it, and of
// no other.
//
//   host stub address -> Function {image, name} -> CUkernel      symbol address -> Variable {image, name} ->
//   pointer
//
// Libraries and kernels of the driver belong to no context, so they outlive cudaDeviceReset.
#include "driver/cudart/registration.h"
#include "base/map.h"
#include "driver/cudart/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Function Function;
typedef struct Variable Variable;

typedef struct Image {
    const void *wrapper;
    CUlibrary library; // valid if state is LOADED
    enum { ANNOUNCED, LOADED, REFUSED } state;
    cudaError_t refusal;
    Function *functions;
    Variable *variables;
    struct Image *previous, *next;
} Image;

struct Function {
    Image *image;
    const void *host;
    const char *name; // in the program's own text, like all names here
    CUkernel kernel;  // NULL until asked for
    Function *next;
};

struct Variable {
    Image *image;
    const void *host; // the shadow variable, or the slot that holds a managed variable's address
    const char *name;
    size_t size;
    bool managed;
    Variable *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Image *images;
static Map functions; // host stub address -> Function
static Map handles;   // Function address -> Function: handles given out for kernels that could not be loaded
static Map variables; // symbol address -> Variable
static bool eager_done;

static uint64_t key(const void *p) { return (uint64_t)(uintptr_t)p; }

// ---- announcing

void **CUDARTAPI __cudaRegisterFatBinary(void *fatCubin) {
    Image *image = calloc(1, sizeof *image);
    if (image == NULL)
        return NULL; // every use of the image then fails as an unknown function or symbol
    image->wrapper = fatCubin;
    pthread_mutex_lock(&lock);
    image->next = images;
    if (images != NULL)
        images->previous = image;
    images = image;
    pthread_mutex_unlock(&lock);
    return (void **)image;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **fatCubinHandle) { (void)fatCubinHandle; }

void CUDARTAPI __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                                      const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                                      dim3 *bDim, dim3 *gDim, int *wSize) {
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    Image *image = (Image *)fatCubinHandle;
    Function *f = image == NULL ? NULL : calloc(1, sizeof *f);
    if (f == NULL)
        return;
    *f = (Function){.image = image, .host = hostFun, .name = deviceName};
    pthread_mutex_lock(&lock);
    f->next = image->functions;
    image->functions = f;
    // Several translation units may instantiate one template: the linker keeps one stub, and the first image
    // wins.
    if (gr_map_get_u64(&functions, key(hostFun)) == NULL)
        gr_map_put_u64(&functions, key(hostFun), f);
    pthread_mutex_unlock(&lock);
}

static void announce_variable(void **handle, const void *host, const char *name, size_t size, bool managed) {
    Image *image = (Image *)handle;
    Variable *v = image == NULL ? NULL : calloc(1, sizeof *v);
    if (v == NULL)
        return;
    *v = (Variable){.image = image, .host = host, .name = name, .size = size, .managed = managed};
    pthread_mutex_lock(&lock);
    v->next = image->variables;
    image->variables = v;
    if (gr_map_get_u64(&variables, key(host)) == NULL)
        gr_map_put_u64(&variables, key(host), v);
    pthread_mutex_unlock(&lock);
}

void CUDARTAPI __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                                 const char *deviceName, int ext, size_t size, int constant, int global) {
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    announce_variable(fatCubinHandle, hostVar, deviceName, size, false);
}

void CUDARTAPI __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                                        const char *deviceName, int ext, size_t size, int constant,
                                        int global) {
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    announce_variable(fatCubinHandle, hostVarPtrAddress, deviceName, size, true);
}

void CUDARTAPI __cudaUnregisterFatBinary(void **fatCubinHandle) {
    Image *image = (Image *)fatCubinHandle;
    if (image == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (image->previous != NULL)
        image->previous->next = image->next;
    else
        images = image->next;
    if (image->next != NULL)
        image->next->previous = image->previous;
    for (Function *f = image->functions, *next; f != NULL; f = next) {
        next = f->next;
        if (gr_map_get_u64(&functions, key(f->host)) == f)
            gr_map_remove_u64(&functions, key(f->host));
        gr_map_remove_u64(&handles, key(f));
        free(f);
    }
    for (Variable *v = image->variables, *next; v != NULL; v = next) {
        next = v->next;
        if (gr_map_get_u64(&variables, key(v->host)) == v)
            gr_map_remove_u64(&variables, key(v->host));
        free(v);
    }
    if (images == NULL) {
        gr_map_free(&functions);
        gr_map_free(&handles);
        gr_map_free(&variables);
        memset(&functions, 0, sizeof functions);
        memset(&handles, 0, sizeof handles);
        memset(&variables, 0, sizeof variables);
    }
    pthread_mutex_unlock(&lock);
    // At process exit the driver may already be shutting down and refuse: there is no caller left to tell.
    if (image->state == LOADED)
        gr_rt_legacy.cuLibraryUnload(image->library);
    free(image);
}

// ---- loading; all with the lock held and a context current

static cudaError_t managed_address(Variable *v, CUdeviceptr *address, size_t *size) {
    return gr_rt_translate(gr_rt_legacy.cuLibraryGetManaged(address, size, v->image->library, v->name));
}

// Another try would fail, too. A context that has faulted, or memory that ran out, may recover.
static bool is_about_the_image(cudaError_t e) {
    return (e >= cudaErrorInvalidKernelImage && e < cudaErrorInvalidResourceHandle) ||
           e == cudaErrorNotSupported;
}

static cudaError_t load_image(Image *image) {
    if (image->state == LOADED)
        return cudaSuccess;
    if (image->state == REFUSED)
        return image->refusal;
    // The wrapper lives as long as the program's text.
    CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *value = (void *)1;
    cudaError_t e = gr_rt_translate(
        gr_rt_legacy.cuLibraryLoadData(&image->library, image->wrapper, NULL, NULL, 0, &option, &value, 1));
    if (e != cudaSuccess) {
        if (is_about_the_image(e)) {
            image->state = REFUSED;
            image->refusal = e;
        }
        return e;
    }
    image->state = LOADED;
    for (Variable *v = image->variables; v != NULL; v = v->next) {
        CUdeviceptr address = 0;
        size_t size = 0;
        // Host code reads managed variables through this slot.
        if (v->managed && managed_address(v, &address, &size) == cudaSuccess)
            *(void **)(uintptr_t)v->host = (void *)(uintptr_t)address;
    }
    return cudaSuccess;
}

static void load_eagerly(void) {
    if (eager_done)
        return;
    eager_done = true;
    const char *mode = getenv("CUDA_MODULE_LOADING");
    if (mode == NULL || strcmp(mode, "EAGER") != 0)
        return;
    for (Image *image = images; image != NULL; image = image->next)
        load_image(image); // a refusal is kept for the calls that need the image
}

char CUDARTAPI __cudaInitModule(void **fatCubinHandle) {
    cudaError_t e = fatCubinHandle == NULL ? cudaErrorMemoryAllocation : gr_rt_enter();
    if (e == cudaSuccess) {
        pthread_mutex_lock(&lock);
        e = load_image((Image *)fatCubinHandle);
        pthread_mutex_unlock(&lock);
    }
    gr_rt_leave(e);
    return 1; // the caller keeps it as "done": a second try would not do better
}

static cudaError_t load_function(Function *f) {
    if (f->kernel != NULL)
        return cudaSuccess;
    cudaError_t e = load_image(f->image);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuLibraryGetKernel(&f->kernel, f->image->library, f->name));
    if (e == cudaErrorSymbolNotFound)
        e = cudaErrorInvalidDeviceFunction;
    return e;
}

// ---- looking up

cudaError_t gr_rt_kernel(const void *host_function, CUkernel *kernel) {
    if (host_function == NULL)
        return cudaErrorInvalidDeviceFunction;
    cudaError_t e = cudaSuccess;
    pthread_mutex_lock(&lock);
    load_eagerly();
    Function *f = gr_map_get_u64(&functions, key(host_function));
    if (f != NULL) {
        e = load_function(f);
        *kernel = f->kernel;
    } else {
        *kernel = (CUkernel)(uintptr_t)host_function;
    }
    pthread_mutex_unlock(&lock);
    return e;
}

const void *gr_rt_host_function(CUkernel kernel) {
    const void *host = kernel;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < functions.len; i++) {
        const Function *f = functions.entries[i].live ? functions.entries[i].value : NULL;
        if (f != NULL && f->kernel == kernel)
            host = f->host;
    }
    pthread_mutex_unlock(&lock);
    return host;
}

cudaError_t gr_rt_kernel_of_handle(cudaKernel_t handle, CUkernel *kernel) {
    if (handle == NULL)
        return cudaErrorInvalidDeviceFunction;
    cudaError_t e = cudaSuccess;
    *kernel = (CUkernel)handle;
    pthread_mutex_lock(&lock);
    if (handles.live != 0) {
        Function *f = gr_map_get_u64(&handles, key(handle));
        if (f != NULL) {
            e = load_function(f);
            *kernel = f->kernel;
        }
    }
    pthread_mutex_unlock(&lock);
    return e;
}

// The launch stub asks once and keeps the answer for ever. When the kernel cannot be loaded it still gets a
// handle, ours, so that every launch through it can return the reason.
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr) {
    GR_RT_REQUIRE(kernelPtr != NULL && entryFuncAddr != NULL, cudaErrorInvalidValue);
    CUkernel kernel = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_kernel(entryFuncAddr, &kernel);
    *kernelPtr = (cudaKernel_t)kernel;
    if (e != cudaSuccess) {
        pthread_mutex_lock(&lock);
        Function *f = gr_map_get_u64(&functions, key(entryFuncAddr));
        if (f != NULL && gr_map_put_u64(&handles, key(f), f))
            *kernelPtr = (cudaKernel_t)f;
        pthread_mutex_unlock(&lock);
    }
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr) {
    GR_RT_REQUIRE(kernelPtr != NULL, cudaErrorInvalidValue);
    CUkernel kernel = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_kernel(entryFuncAddr, &kernel);
    if (e == cudaSuccess)
        *kernelPtr = (cudaKernel_t)kernel;
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr) {
    GR_RT_REQUIRE(functionPtr != NULL, cudaErrorInvalidValue);
    CUkernel kernel = NULL;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_kernel(symbolPtr, &kernel);
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuKernelGetFunction((CUfunction *)functionPtr, kernel));
    if (e == cudaErrorInvalidResourceHandle)
        e = cudaErrorInvalidDeviceFunction;
    return gr_rt_leave(e);
}

// A managed variable is known by its slot, but a program usually passes the variable, which is the slot's content.
static Variable *find_managed(const void *address) {
    for (Image *image = images; image != NULL; image = image->next)
        for (Variable *v = image->variables; v != NULL; v = v->next)
            if (v->managed && *(void *const *)v->host == address)
                return v;
    return NULL;
}

cudaError_t gr_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *size) {
    cudaError_t e = cudaErrorInvalidSymbol;
    if (symbol == NULL)
        return e;
    pthread_mutex_lock(&lock);
    load_eagerly();
    Variable *v = gr_map_get_u64(&variables, key(symbol));
    if (v == NULL)
        v = find_managed(symbol);
    if (v != NULL) {
        e = load_image(v->image);
        if (e == cudaSuccess)
            e = v->managed ? managed_address(v, address, size)
                           : gr_rt_translate(
                                 gr_rt_legacy.cuLibraryGetGlobal(address, size, v->image->library, v->name));
        if (e == cudaErrorSymbolNotFound)
            e = cudaErrorInvalidSymbol;
    }
    pthread_mutex_unlock(&lock);
    return e;
}
