// SPDX-License-Identifier: Apache-2.0
// A program that handles SIGSEGV and SIGTRAP itself, blocks them, forks and uses threads, while its accesses to memory that it shares
// with the device are watched: nothing of that may come out differently. Prints PASS. With the argument `die` it ends by
// a fault of its own, as it would otherwise.
#include "../../../check.h"

#include <csetjmp>
#include <csignal>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int *v) { v[threadIdx.x] += 1; }

static sigjmp_buf back;
static volatile int faults, traps, others;
static void *volatile where;
static volatile int *other; // beside what the device is at work on
static void *mine;          // a page that is the program's to open

static void on_fault(int, siginfo_t *info, void *)
{
    faults = faults + 1;
    where = info->si_addr;
    other[1] = other[1] + 1; // watched too, within the handler
    if (info->si_addr == mine)
        mprotect(mine, 4096, PROT_READ | PROT_WRITE);
    else
        siglongjmp(back, 1);
}
static void on_trap(int) { traps = traps + 1; }
static void on_user(int)
{
    others = others + 1;
    other[2] = other[2] + 1;
}

static void *in_thread(void *)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (int i = 0; i < 50; i++)
        other[64] = other[64] + 1;
    return nullptr;
}

int main(int argc, char **argv)
{
    int *v;
    CHECK(cudaMallocManaged(&v, 1024 * sizeof *v));
    CHECK(cudaMallocManaged((int **)&other, 1024 * sizeof *v));
    mine = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction a = {}, old = {};
    a.sa_sigaction = on_fault;
    a.sa_flags = SA_SIGINFO;
    sigfillset(&a.sa_mask);
    EXPECT(!sigaction(SIGSEGV, &a, &old) && old.sa_handler == SIG_DFL); // before the device is there
    add<<<1, 32>>>(v);
    CHECK(cudaGetLastError());
    other[0] = 1; // a fault of ours
    EXPECT(faults == 0);
    *(volatile int *)mine = 3; // and one of theirs
    EXPECT(faults == 1 && where == mine && *(int *)mine == 3);
    if (!sigsetjmp(back, 1))
        *(volatile int *)16 = 1;
    EXPECT(faults == 2 && where == (void *)16);
    if (!sigsetjmp(back, 1)) // not any more than beyond the end of what is shared
        ((volatile char *)other)[100 << 20] = 1;
    EXPECT(faults == 3 && other[1] == 3);

    EXPECT(!sigaction(SIGSEGV, nullptr, &old) && old.sa_sigaction == on_fault);
    EXPECT(signal(SIGTRAP, on_trap) == SIG_DFL && signal(SIGTRAP, on_trap) == on_trap);
    raise(SIGTRAP);
    EXPECT(traps == 1);
#ifdef __x86_64__
    asm volatile("int3");
    EXPECT(traps == 2);
#endif
    struct sigaction user = {};
    user.sa_handler = on_user;
    sigfillset(&user.sa_mask);
    EXPECT(!sigaction(SIGUSR1, &user, nullptr));
    raise(SIGUSR1);
    EXPECT(others == 1 && other[2] == 1);

    pthread_t threads[4];
    for (auto &t : threads)
        EXPECT(!pthread_create(&t, nullptr, in_thread, nullptr));
    for (auto &t : threads)
        pthread_join(t, nullptr);
    EXPECT(other[64] > 0);

    pid_t child = fork();
    if (child == 0) {
        other[5] = 7;
        _exit(other[5] == 7 && write(1, (const void *)(other + 6), 0) == 0 ? 9 : 8);
    }
    int status;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9);

    signal(SIGSEGV, SIG_DFL);
    other[3] = 1;
    if (argc > 1 && !strcmp(argv[1], "die"))
        *(volatile int *)16 = 1;
    CHECK(cudaDeviceSynchronize());
    EXPECT(v[31] == 1);
    return finish();
}
