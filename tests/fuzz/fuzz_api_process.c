// SPDX-License-Identifier: Apache-2.0
#include "fuzz_api.h"

#include "findings/results.h"
#include "options/options.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool fuzz_says_calls;

// No thread of the device's own, so that an input does the same each time; kernels that go on for ever are stopped
// soon; and none reaches the memory of this process that was not given to it.
static const char device[] = "devices=2,pageable=0,watchdog=20000,heap=65536,idle=0";

// Asked by AddressSanitizer: libgpurace.so comes before its runtime, and what the driver and libgpurace.so keep to the
// end is no leak. Its own strstr measures all of a text each time, half a megabyte where an engine has rewritten a
// module.
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "verify_asan_link_order=0:detect_leaks=0:intercept_strstr=0";
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void make_results(void) {
    gr_error err = {0};
    char path[64];
    int fd = memfd_create("results", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || gr_results_create(path, &err) != GR_OK)
        fail(err.msg);
    setenv(GR_RESULTS_ENV, path, 1);
}

// libgpurace.so lies in the build's folder as this program does.
static void preload(const char *self) {
    char folder[PATH_MAX], path[PATH_MAX + 64];
    if (!realpath(self, folder))
        fail(self);
    *strrchr(folder, '/') = 0;
    snprintf(path, sizeof path, "%s/../../lib/libgpurace.so", folder);
    if (access(path, R_OK))
        fail(path);
    setenv("LD_PRELOAD", path, 1);
}

// The words of the command line as the system has them: a dynamic linker may have been called to start this.
static void start_again(void) {
    static char text[1 << 16];
    char *argv[256];
    unsigned n = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    for (char *p = text; len > 0 && p < text + len && n < 255; p += strlen(p) + 1)
        argv[n++] = p;
    argv[n] = NULL;
    execv("/proc/self/exe", argv);
    fail("/proc/self/exe");
}

void fuzz_attach(const char *self) {
    const char *options = getenv("GPURACE_OPTIONS");
    char merged[512];
    fuzz_says_calls = getenv("FUZZ_CALLS") != NULL;
    if (getenv(GR_RESULTS_ENV)) {
        int none = open("/dev/null", O_WRONLY); // what kernels print
        dup2(none, STDOUT_FILENO);
        unsetenv("LD_PRELOAD"); // a symbolizer needs no gpurace
        return;
    }
    make_results();
    snprintf(merged, sizeof merged, "device=cpu %s", options ? options : "engine=exact");
    setenv(GR_OPTIONS_ENV, merged, 1);
    if (strstr(merged, "exact"))
        setenv(GR_HOST_WATCH_ENV, "1", 1);
    setenv("GPURACE_CPU_DEVICE", device, 0);
    preload(self);
    start_again();
}

size_t fuzz_size(uint64_t number) {
    if (number < 32)
        return (size_t)number * 64;
    return number > FUZZ_PAGES && number < 1ull << 40 ? FUZZ_PAGES : (size_t)number;
}
