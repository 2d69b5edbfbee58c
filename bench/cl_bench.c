// SPDX-License-Identifier: Apache-2.0
// cl_bench — the same kernels under whatever OpenCL is there: PoCL through its ICD, Oclgrind when it is preloaded.
//
//     cl_bench KERNELS.cl kernel [--repeat N] [--output FILE] [--platform NAME]
//
// Prints the platform and, per repetition, the milliseconds that the kernel's launches took on the wall: no build, no
// copies. With --platform, exits with 77 when there is none whose name contains NAME.
#define CL_TARGET_OPENCL_VERSION 120
#include "workload.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SKIPPED = 77 };

static void must(cl_int code, const char *what) {
    if (code != CL_SUCCESS) {
        fprintf(stderr, "cl_bench: %s: OpenCL error %d\n", what, code);
        exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!f || !text || fread(text, 1, (1 << 20) - 1, f) == 0) {
        fprintf(stderr, "cl_bench: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return text;
}

static bool find_device(const char *wanted, cl_device_id *device) {
    cl_platform_id all[16];
    cl_uint n = 0;
    if (clGetPlatformIDs(16, all, &n) != CL_SUCCESS)
        return false;
    for (cl_uint k = 0; k < n && k < 16; k++) {
        char name[200] = "";
        clGetPlatformInfo(all[k], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if ((!wanted || strstr(name, wanted)) &&
            clGetDeviceIDs(all[k], CL_DEVICE_TYPE_ALL, 1, device, NULL) == CL_SUCCESS) {
            char version[200] = "";
            clGetPlatformInfo(all[k], CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
            printf("platform: %s, %s\n", name, version);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv) {
    const Work *w = NULL;
    const char *output = NULL, *platform = NULL;
    int repeat = 3;
    for (size_t k = 0; argc > 2 && k < gr_n_work; k++)
        if (!strcmp(argv[2], gr_work[k].name))
            w = &gr_work[k];
    for (int k = 3; k + 1 < argc; k += 2)
        if (!strcmp(argv[k], "--repeat"))
            repeat = atoi(argv[k + 1]);
        else if (!strcmp(argv[k], "--output"))
            output = argv[k + 1];
        else if (!strcmp(argv[k], "--platform"))
            platform = argv[k + 1];
    if (!w) {
        fprintf(stderr, "usage: cl_bench KERNELS.cl kernel [--repeat N] [--output FILE] [--platform NAME]\n");
        return 2;
    }
    cl_device_id device;
    if (!find_device(platform, &device))
        return SKIPPED;
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    must(code, "clCreateCommandQueue");
    char *text = read_text(argv[1]);
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &code);
    must(code, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, w->name, &code);
    must(code, "clCreateKernel");

    cl_mem buf[WORK_BUFFERS] = {0};
    void *host[WORK_BUFFERS] = {0};
    for (unsigned k = 0; k < WORK_BUFFERS; k++)
        if (w->bytes[k]) {
            host[k] = calloc(1, w->bytes[k]);
            buf[k] = clCreateBuffer(context, CL_MEM_READ_WRITE, w->bytes[k], NULL, &code);
            must(host[k] ? code : CL_OUT_OF_HOST_MEMORY, "clCreateBuffer");
        }
    for (cl_uint k = 0; k < WORK_ARGS && w->arg[k].kind; k++)
        if (w->arg[k].kind == WORK_BUFFER)
            must(clSetKernelArg(kernel, k, sizeof(cl_mem), &buf[w->arg[k].value]), "clSetKernelArg");
        else
            must(clSetKernelArg(kernel, k, 4, &w->arg[k].value), "clSetKernelArg");

    size_t local = w->block, global = (size_t)w->grid * w->block;
    for (int n = 0; n < repeat; n++) {
        for (unsigned k = 0; k < WORK_BUFFERS; k++)
            if (buf[k]) {
                w->fill(w, k, host[k]);
                must(clEnqueueWriteBuffer(queue, buf[k], CL_TRUE, 0, w->bytes[k], host[k], 0, NULL, NULL),
                     "clEnqueueWriteBuffer");
            }
        double t = 0;
        cl_uint again = 0;
        for (cl_uint level = 0; level == 0 || again; level++) {
            again = 0;
            for (cl_uint k = 0; k < WORK_ARGS && w->arg[k].kind; k++)
                if (w->arg[k].kind == WORK_LEVEL)
                    must(clSetKernelArg(kernel, k, 4, &level), "clSetKernelArg");
            if (w->again >= 0)
                must(clEnqueueWriteBuffer(queue, buf[w->again], CL_TRUE, 0, 4, &again, 0, NULL, NULL),
                     "clEnqueueWriteBuffer");
            must(clFinish(queue), "clFinish");
            double from = now();
            must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
                 "clEnqueueNDRangeKernel");
            must(clFinish(queue), "clFinish");
            t += now() - from;
            if (w->again >= 0)
                must(clEnqueueReadBuffer(queue, buf[w->again], CL_TRUE, 0, 4, &again, 0, NULL, NULL),
                     "clEnqueueReadBuffer");
        }
        printf("%.6f ms\n", t * 1e3);
    }
    for (unsigned k = 0; k < WORK_BUFFERS; k++)
        if (buf[k])
            must(clEnqueueReadBuffer(queue, buf[k], CL_TRUE, 0, w->bytes[k], host[k], 0, NULL, NULL),
                 "clEnqueueReadBuffer");
    bool right = w->check(w, host);
    printf("%s\n", right ? "right" : "WRONG");
    if (output) {
        FILE *f = fopen(output, "wb");
        size_t bytes = (size_t)w->out_words * 4;
        if (!f || fwrite(host[w->output], 1, bytes, f) != bytes || fclose(f))
            right = false;
    }
    return !right;
}
