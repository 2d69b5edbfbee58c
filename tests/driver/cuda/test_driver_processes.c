// SPDX-License-Identifier: Apache-2.0
// The CPU device in processes with settings of their own (seeds, a host that spins or idles, fork, faults, the end)
// and several host threads. docs/execution-model.md, "The API".
#include "driver_log.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Runs this program again: its output, and its exit status in *status.
static char *run_self(const char *mode, const char *settings, int *status) {
    static char out[LOG * 8];
    char command[512], self[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = 0;
    fflush(NULL);
    snprintf(command, sizeof command, "GPURACE_CPU_DEVICE='%s' timeout 60 '%s' %s", settings, self, mode);
    FILE *f = popen(command, "r"); // NOLINT(cert-env33-c): a test names itself
    assert_non_null(f);
    out[fread(out, 1, sizeof out - 1, f)] = 0;
    *status = WEXITSTATUS(pclose(f));
    return out;
}

// Two streams that append while a third copies: who wrote when.
static int mode_trace(void) {
    start();
    CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING),
             c = stream(CU_STREAM_NON_BLOCKING);
    for (unsigned i = 0; i < 5; i++) {
        append(a, 1, 40);
        append(b, 2, 40);
        OK(cuMemcpyDtoDAsync(entries_d + 8192, entries_d, 800, c));
        cuStreamQuery(c);
    }
    OK(cuCtxSynchronize());
    printf("%s\n", runs());
    for (unsigned i = 0; i < 200; i++)
        printf("%u", entries[2048 + i]);
    return *next == 400 ? 0 : 1;
}

static void test_seeds(void **state) { // [EM-107]
    (void)state;
    char first[5][LOG * 8];
    int status, different = 0;
    for (int seed = 0; seed < 5; seed++) {
        char settings[64];
        snprintf(settings, sizeof settings, "idle=0,seed=%d", seed);
        snprintf(first[seed], sizeof first[0], "%s", run_self("trace", settings, &status));
        assert_int_equal(status, 0);
        assert_string_equal(run_self("trace", settings, &status), first[seed]);
        different += strcmp(first[seed], first[0]) != 0;
    }
    assert_true(different >= 3);
}

static int mode_spin(void) {
    start();
    volatile unsigned *p;
    OK(cuMemHostAlloc((void **)&p, 8, 0));
    CUdeviceptr flag = (CUdeviceptr)(uintptr_t)p, out = flag + 4;
    p[0] = p[1] = 0;
    OK(driver_launch("spin", 1, 1, NULL, (void *[]){&flag, &out}));
    p[0] = 1;
    while (p[1] == 0) // no API call moves the device now
        ;
    return gr_cpu_device_unrepeatable() > 0 && n_notes > 0 && strstr(last_note, "repeatable") ? 0 : 1;
}

static void test_spinning_host(void **state) { // [EM-102]
    (void)state;
    int status;
    run_self("spin", "idle=20", &status);
    assert_int_equal(status, 0);
}

// With one stream and no memory that both sees, the device thread is nobody's business.
static int mode_quiet(void) {
    driver_start();
    void *own;
    OK(cuMemHostAlloc(&own, 64, 0));
    gr_cpu_device_tool_memory(own); // the tool's own does not count
    CUdeviceptr d;
    unsigned one = 1;
    OK(cuMemAlloc(&d, 4096));
    OK(driver_launch("fill", 8, 128, NULL, (void *[]){&d, &one}));
    uint64_t unfinished = 1;
    for (int i = 0; i < 10000 && unfinished; i++) {
        usleep(1000);
        gr_cpu_device_launches(&unfinished);
    }
    return unfinished == 0 && gr_cpu_device_unrepeatable() == 0 && n_notes == 0 ? 0 : 1;
}

static void test_idle_host(void **state) { // [EM-102]
    (void)state;
    int status;
    run_self("quiet", "idle=10", &status);
    assert_int_equal(status, 0);
}

static int mode_print(void) {
    driver_start();
    printf("before\n");
    OK(driver_launch("hello", 1, 2, NULL, NULL));
    printf("between\n");
    OK(cuCtxSynchronize());
    printf("after\n");
    return 0;
}

static void test_print(void **state) { // [EM-118]
    (void)state;
    int status;
    assert_string_equal(run_self("print", "", &status), "before\nbetween\nhello\nhello\nafter\n");
    assert_int_equal(status, 0);
}

// Forks while kernels run and the device thread is at work.
static int mode_fork(void) {
    start();
    CUstream s = stream(CU_STREAM_NON_BLOCKING);
    append(s, 1, 4000);
    usleep(30000);
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            CUdeviceptr d;
            int n;
            _exit(cuMemAlloc(&d, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                          cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                          cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED
                      ? 7
                      : 8);
        }
        int status;
        waitpid(pid, &status, 0);
        if (WEXITSTATUS(status) != 7)
            return 1;
    }
    OK(cuStreamSynchronize(s));
    return *next == 4000 ? 0 : 2;
}

static void test_fork(void **state) { // [EM-119]
    (void)state;
    int status;
    run_self("fork", "idle=5", &status);
    assert_int_equal(status, 0);
}

// A child of a process that never used CUDA may use it.
static int mode_fork_before(void) {
    pid_t pid = fork();
    if (pid == 0)
        _exit(cuInit(0) == CUDA_SUCCESS ? 7 : 8);
    int status;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status) == 7 ? 0 : 1;
}

static void test_fork_before_init(void **state) { // [EM-119]
    (void)state;
    int status;
    run_self("fork-before", "", &status);
    assert_int_equal(status, 0);
}

// A fault drops what is queued behind it, and ends all waiting.
static int mode_fault(void) {
    start();
    CUstream s = stream(CU_STREAM_NON_BLOCKING), named = NULL;
    CUdeviceptr d = 64;
    CUevent e;
    OK(cuEventCreate(&e, 0));
    OK(driver_launch("poke", 1, 1, s, (void *[]){&d}));
    append(s, 1, 10);
    OK(cuStreamAddCallback(s, stream_callback, &named, 0));
    OK(cuEventRecord(e, s));
    if (cuEventSynchronize(e) != CUDA_ERROR_ILLEGAL_ADDRESS || *next != 0)
        return 1;
    OK(cuDevicePrimaryCtxReset(0)); // the callback is owed before that
    uint64_t unfinished;
    if (gr_cpu_device_launches(&unfinished) != 2 || unfinished != 0)
        return 2;
    return callback_status == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 3;
}

static void test_fault_drops_work(void **state) { // [EM-116]
    (void)state;
    int status;
    run_self("fault", "idle=0,step=0", &status); // only the synchronizing call moves the device
    assert_int_equal(status, 0);
}

static CUlibrary exit_library;
static void unload_at_exit(void) { cuLibraryUnload(exit_library); }

// A kernel that never ends does not keep the process from ending, one that ends soon is finished.
static int mode_exit(void) {
    atexit(unload_at_exit); // as nvcc's programs do, before they use CUDA
    start();
    OK(cuLibraryLoadData(&exit_library, driver_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CUstream s = stream(CU_STREAM_NON_BLOCKING);
    append(NULL, 1, 10);
    CUfunction f = driver_kernel("forever");
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    return 9;
}

static void test_exit(void **state) { // [EM-123]
    (void)state;
    int status;
    run_self("exit", "idle=0,watchdog=0", &status);
    assert_int_equal(status, 9);
}

// Threads that drain and threads that submit get their turns.
static void *hammer(void *arg) {
    OK(cuCtxSetCurrent(driver_context));
    CUstream s = stream(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < 20; i++) {
        append(s, *(unsigned *)arg, 10);
        OK(cuStreamSynchronize(s));
    }
    OK(cuStreamDestroy(s));
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    pthread_t t[4];
    unsigned ids[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, hammer, &ids[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(*next, 800);
}

static const struct {
    const char *name;
    int (*run)(void);
} modes[] = {
    {"trace", mode_trace}, {"spin", mode_spin}, {"quiet", mode_quiet},
    {"print", mode_print}, {"fork", mode_fork}, {"fork-before", mode_fork_before},
    {"fault", mode_fault}, {"exit", mode_exit},
};

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run();
    }
    setenv("GPURACE_CPU_DEVICE", "seed=5,idle=0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_threads, clear),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_spinning_host),
        cmocka_unit_test(test_idle_host),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fork_before_init),
        cmocka_unit_test(test_fault_drops_work),
        cmocka_unit_test(test_exit),
    };
    return cmocka_run_group_tests(tests, group_start, NULL);
}
