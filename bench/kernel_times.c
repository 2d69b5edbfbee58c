// SPDX-License-Identifier: Apache-2.0
// kernel_times — how long the kernels of an unchanged program ran on a GPU, by CUPTI's activity records.
//
// The driver loads this library where CUDA_INJECTION64_PATH names it, and calls InitializeInjection. As the process
// ends, one line is added to the file $KERNEL_TIMES: kernels, their nanoseconds on the device, copies and memsets,
// their nanoseconds, records that CUPTI had to drop, and how many bytes of the device's memory are in use then, by all
// programs (0: the driver does not say). kernel_times_mark() adds a line at once: "run", kernels, their nanoseconds, so
// far; tests/engines/collider/repeat.c calls it behind each run. A process that is killed adds no other line. Kernels
// that run side by side each count in full.
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 1 << 20 };

static unsigned long long kernels, kernel_ns, copies, copy_ns, lost;

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most) {
    *buffer = aligned_alloc(8, BUFFER_BYTES); // NULL: CUPTI drops records, and counts them
    *size = *buffer ? BUFFER_BYTES : 0;
    *most = 0;
}

static void add(const CUpti_Activity *record) {
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)record;
        kernels++;
        kernel_ns += k->end - k->start;
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const CUpti_ActivityMemcpy6 *m = (const CUpti_ActivityMemcpy6 *)record;
        copies++;
        copy_ns += m->end - m->start;
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const CUpti_ActivityMemset4 *m = (const CUpti_ActivityMemset4 *)record;
        copies++;
        copy_ns += m->end - m->start;
        break;
    }
    default: break;
    }
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid) {
    CUpti_Activity *record = NULL;
    size_t dropped = 0;
    (void)size;
    while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        add(record);
    if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
        lost += dropped;
    free(buffer);
}

static size_t in_use(void) {
    CUresult (*info)(size_t *, size_t *);
    size_t left = 0, all = 0;
    *(void **)&info = dlsym(RTLD_DEFAULT, "cuMemGetInfo_v2");
    return info && info(&left, &all) == CUDA_SUCCESS ? all - left : 0;
}

__attribute__((visibility("default"))) void kernel_times_mark(void);
void kernel_times_mark(void) {
    const char *path = getenv("KERNEL_TIMES");
    FILE *out = path ? fopen(path, "a") : NULL;
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (!out)
        return;
    fprintf(out, "run %llu %llu\n", kernels, kernel_ns);
    fclose(out);
}

static void write_line(void) {
    const char *path = getenv("KERNEL_TIMES");
    FILE *out = path ? fopen(path, "a") : NULL;
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (!out)
        return;
    fprintf(out, "%llu %llu %llu %llu %llu %zu\n", kernels, kernel_ns, copies, copy_ns, lost, in_use());
    fclose(out);
}

__attribute__((visibility("default"))) int InitializeInjection(void); // what the driver looks up
int InitializeInjection(void) {
    static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                               CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
    bool ok = cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        ok = ok && cuptiActivityEnable(kinds[k]) == CUPTI_SUCCESS;
    if (!ok || atexit(write_line) != 0)
        fputs("kernel_times: CUPTI does not record activities here\n", stderr);
    return ok;
}
