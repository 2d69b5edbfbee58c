// SPDX-License-Identifier: Apache-2.0
// endings KERNEL MOMENT ENDING: launches one kernel (quiet, racy) and ends in one way at one moment: before that launch, during another one
// that is long, or after the last. What must be reported is in run.py. Ends with OWN where the ending leaves it to main.
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

enum { OWN = 3, THREADS = 64 };

__global__ void quiet(int *p) { p[threadIdx.x] = (int)threadIdx.x; }

__global__ void racy(int *p)
{
    for (int i = 0; i < 8; i++)
        p[0] = p[0] + (int)threadIdx.x; // RACE
}

#ifdef PLUGIN

extern "C" __attribute__((visibility("default"))) void plugin(int *p, bool races)
{
    if (races)
        racy<<<1, THREADS>>>(p);
    else
        quiet<<<1, THREADS>>>(p);
    cudaDeviceSynchronize();
}

#else

__global__ void long_one(int *p) // without a race, and not over soon
{
    int sum = 0;
    for (int i = 0; i < 1 << 15; i++)
        sum += i ^ (int)threadIdx.x;
    p[128 + threadIdx.x] = sum;
}

__global__ void endless(volatile int *p) // and not stuck: memory changes
{
    while (p[threadIdx.x] >= 0)
        p[threadIdx.x] = (p[threadIdx.x] + 1) & 0xffffff;
}

__global__ void traps(int *) { asm volatile("trap;"); }

__global__ void faults(int *p) { p[1 << 24] = 1; }

static int *memory;
static const char *kernel, *moment;

static bool is(const char *text, const char *word) { return !strcmp(text, word); }

static void launch_kernel()
{
    if (is(kernel, "racy"))
        racy<<<1, THREADS>>>(memory);
    else
        quiet<<<1, THREADS>>>(memory);
    cudaDeviceSynchronize();
}

static void launch_long() { long_one<<<1, THREADS>>>(memory); }

// ---- Signals -----------------------------------------------------------------------------------------------------------

static sigjmp_buf again;
static std::atomic<int> handled;

static void jump(int) { siglongjmp(again, 1); }
static void count(int) { handled++; }

static int number_of(const char *text) { return atoi(text); }

static void handle(int sig, void (*handler)(int))
{
    struct sigaction a = {};
    a.sa_handler = handler;
    sigaction(sig, &a, nullptr);
}

// ---- Endings -----------------------------------------------------------------------------------------------------------

static void end_return(const char *) {}
static void end_exit(const char *) { exit(OWN); }
static void end__exit(const char *) { _exit(OWN); }
static void end__Exit(const char *) { _Exit(OWN); }
static void end_quick_exit(const char *) { quick_exit(OWN); }
static void end_abort(const char *) { abort(); }
static void end_at_exit(const char *)
{
    atexit([] { launch_kernel(); });
    exit(OWN);
}
static void end_exit_in_thread(const char *)
{
    std::thread([] { exit(OWN); }).join();
}
static void end__exit_in_thread(const char *)
{
    std::thread([] { _exit(OWN); }).join();
}
static void end_main_thread(const char *) // the last thread of a process gives it status 0
{
    std::thread([] { usleep(20000); }).detach();
    pthread_exit(nullptr);
}
static void end_threads(const char *) // one that has launched goes before the others
{
    pthread_t t;
    pthread_create(&t, nullptr, [](void *) -> void * {
        launch_long();
        pthread_exit(nullptr);
    }, nullptr);
    pthread_join(t, nullptr);
}
static void end_cancel(const char *) // in the middle of launches and waits
{
    static std::atomic<int> rounds;
    pthread_t t;
    pthread_create(&t, nullptr, [](void *) -> void * {
        for (;; rounds++) {
            long_one<<<1, THREADS>>>(memory);
            cudaDeviceSynchronize();
            pthread_testcancel(); // CUDA's calls need not look
        }
    }, nullptr);
    while (rounds < 1)
        usleep(1000);
    usleep(3000);
    pthread_cancel(t);
    std::thread([] { // what comes next must not wait for the thread that is gone
        cudaDeviceSynchronize();
        launch_kernel();
    }).join();
    void *gone;
    pthread_join(t, &gone);
    printf("%s\n", gone == PTHREAD_CANCELED ? "canceled" : "?");
}
static void end_host_function_exits(const char *)
{
    cudaLaunchHostFunc(nullptr, [](void *) { exit(OWN); }, nullptr);
    cudaDeviceSynchronize();
}
static void end_host_function_leaves(const char *) // its thread is not the program's to end, but it can
{
    cudaLaunchHostFunc(nullptr, [](void *) { pthread_exit(nullptr); }, nullptr);
    cudaDeviceSynchronize();
    cudaLaunchHostFunc(nullptr, [](void *) { handled++; }, nullptr);
    cudaDeviceSynchronize();
    if (handled != 1)
        _exit(99);
}
static void end_exec(const char *)
{
    execl("/bin/sh", "sh", "-c", "exit 3", nullptr);
}
static void end_fork_child(const char *)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        exit(5);
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != 5)
        _exit(99);
}
static void end_fork_parent(const char *) // the child is the one that goes on, for a while
{
    if (fork() == 0) {
        usleep(50000);
        exit(0);
    }
}
static void end_vfork(const char *)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    waitpid(child, nullptr, 0);
}
static void end_raise(const char *which) { raise(number_of(which)); }
static void end_killed(const char *which) { kill(getpid(), number_of(which)); pause(); }
static void end_handled(const char *which)
{
    handle(number_of(which), count);
    raise(number_of(which));
    if (handled != 1)
        _exit(99);
}
static void end_ignored(const char *which)
{
    signal(number_of(which), SIG_IGN);
    raise(number_of(which));
}
static void end_blocked(const char *) // all that can be, while kernels run
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    launch_kernel();
    raise(SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
}
static void end_jump_from_handler(const char *which)
{
    handle(number_of(which), jump);
    if (!sigsetjmp(again, 1))
        raise(number_of(which));
}
static void end_jump_from_fault(const char *)
{
    handle(SIGSEGV, jump);
    if (!sigsetjmp(again, 1))
        *(volatile int *)nullptr = 1;
}
static void end_jump_from_wait(const char *) // a timer's handler leaves the middle of a call of CUDA, for good
{
    handle(SIGALRM, jump);
    if (!sigsetjmp(again, 1)) {
        struct itimerval soon = {{0, 0}, {0, 2000}};
        setitimer(ITIMER_REAL, &soon, nullptr);
        for (;;) {
            launch_long();
            cudaDeviceSynchronize();
        }
    }
}
static void end_launch_in_handler(const char *)
{
    handle(SIGUSR1, [](int) { launch_kernel(); });
    raise(SIGUSR1);
}
static void end_exit_in_handler(const char *)
{
    handle(SIGALRM, [](int) { exit(OWN); });
    struct itimerval soon = {{0, 0}, {0, 2000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    for (;;) {
        launch_long();
        cudaDeviceSynchronize();
    }
}
static void end_stop(const char *) // and go on
{
    pid_t me = getpid();
    if (fork() == 0) {
        usleep(50000);
        kill(me, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    wait(nullptr);
}
static void end_null(const char *) { *(volatile int *)nullptr = 1; }
static void end_device_pointer(const char *) { *(volatile int *)memory = 1; }
static void end_division(const char *)
{
#if defined(__x86_64__)
    asm volatile("xorl %%ecx, %%ecx\n movl $1, %%eax\n cltd\n idivl %%ecx" ::: "eax", "ecx", "edx");
#else
    raise(SIGFPE); // a division by zero is none
#endif
}
static void end_illegal(const char *) { __builtin_trap(); }
static void end_bus(const char *)
{
    int fd = memfd_create("short", 0);
    *(volatile int *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) = 1;
}
__attribute__((noinline)) static int deep(int n)
{
    volatile char here[4096];
    here[0] = (char)n;
    return n < 0 ? 0 : deep(n + 1) + here[0];
}
static void end_stack(const char *) { deep(0); }
static void end_throw(const char *) { throw std::runtime_error("nobody catches this"); }
static void end_throw_in_thread(const char *)
{
    std::thread([] { throw std::runtime_error("nor this"); }).join();
}
static void end_trap(const char *)
{
    traps<<<1, 1>>>(memory);
    cudaDeviceSynchronize();
}
static void end_fault(const char *)
{
    faults<<<1, 1>>>(memory);
    cudaDeviceSynchronize();
}
static void end_endless(const char *)
{
    endless<<<1, THREADS>>>(memory);
    cudaDeviceSynchronize();
}
static void end_reset(const char *) { cudaDeviceReset(); }
static void end_dlclose(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    void (*run)(int *, bool) = library ? (void (*)(int *, bool))dlsym(library, "plugin") : nullptr;
    if (!run)
        _exit(99);
    run(memory, is(kernel, "racy"));
    dlclose(library);
    launch_kernel();
}
static void end_close_all(const char *) // descriptors, also those of others
{
    int *more = nullptr;
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    while (open("/dev/null", O_RDWR | O_CLOEXEC) < 32) { // which have their numbers now
    }
    if (cudaMallocManaged(&more, 1 << 20) != cudaSuccess)
        _exit(99);
    *more = 1;
    launch_kernel();
}
static void end_eat_all(const char *)
{
    struct rlimit few = {64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {
    }
    launch_kernel();
}
static void end_pause(const char *) // until the test does something
{
    for (;;)
        pause();
}

static const struct {
    const char *name;
    void (*end)(const char *);
} endings[] = {
#define E(name) {#name, end_##name}
    E(return), E(exit), E(_exit), E(_Exit), E(quick_exit), E(abort), E(at_exit), E(exit_in_thread), E(_exit_in_thread), E(main_thread), E(threads),
    E(cancel), E(host_function_exits), E(host_function_leaves), E(exec), E(fork_child), E(fork_parent), E(vfork), E(raise), E(killed), E(handled), E(ignored), E(blocked),
    E(jump_from_handler), E(jump_from_fault), E(jump_from_wait), E(launch_in_handler), E(exit_in_handler), E(stop), E(null), E(device_pointer),
    E(division), E(illegal), E(bus), E(stack), E(throw), E(throw_in_thread), E(trap), E(fault), E(endless), E(reset), E(dlclose), E(close_all),
    E(eat_all), E(pause),
};

static void end_now(const std::string &ending)
{
    size_t colon = ending.find(':'); // NAME:WORD
    std::string name = ending.substr(0, colon), word = colon == std::string::npos ? "" : ending.substr(colon + 1);
    printf("ends\n");
    fflush(stdout);
    for (auto &e : endings)
        if (name == e.name) {
            e.end(word.c_str());
            return;
        }
    _exit(98);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 97;
    kernel = argv[1];
    moment = argv[2];
    if (is(moment, "before"))
        end_now(argv[3]);
    if (cudaMalloc(&memory, 2048) != cudaSuccess || cudaMemset(memory, 0, 2048) != cudaSuccess) {
        printf("no memory\n");
        return 11;
    }
    launch_kernel();
    if (is(moment, "during"))
        launch_long();
    if (!is(moment, "before"))
        end_now(argv[3]);
    return OWN;
}

#endif
