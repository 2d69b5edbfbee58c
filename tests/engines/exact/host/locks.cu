// SPDX-License-Identifier: Apache-2.0
// What synchronizes threads of the host works as without the tool: results, errno, cancellation, exceptions, fork, and memory. Prints PASS.
// `locks time` prints what an uncontended lock costs.
#include "../../../check.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static int *memory;

__global__ void bump(int *p) { p[threadIdx.x]++; }

static void work(void) {
    bump<<<1, 32>>>(memory);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
}

static timespec soon(void) {
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

static void results(void) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t m;
    EXPECT(pthread_mutex_init(&m, &a) == 0);
    errno = 77;
    EXPECT(pthread_mutex_lock(&m) == 0);
    EXPECT(pthread_mutex_lock(&m) == EDEADLK);
    EXPECT(pthread_mutex_trylock(&m) == EBUSY);
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    timespec until = soon();
    EXPECT(pthread_cond_timedwait(&c, &m, &until) == ETIMEDOUT);
    EXPECT(pthread_mutex_unlock(&m) == 0);
    EXPECT(pthread_mutex_unlock(&m) == EPERM);
    EXPECT(pthread_mutex_destroy(&m) == 0);
    EXPECT(errno == 77);
    sem_t s;
    EXPECT(sem_init(&s, 0, 1) == 0);
    EXPECT(sem_wait(&s) == 0);
    EXPECT(sem_trywait(&s) == -1 && errno == EAGAIN);
    until = soon();
    EXPECT(sem_timedwait(&s, &until) == -1 && errno == ETIMEDOUT);
    EXPECT(sem_post(&s) == 0 && sem_destroy(&s) == 0);
    pthread_barrier_t b;
    EXPECT(pthread_barrier_init(&b, nullptr, 1) == 0);
    for (int k = 0; k < 3; k++)
        EXPECT(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
    EXPECT(pthread_barrier_destroy(&b) == 0);
}

static void *wait_for_ever(void *s) {
    for (;;)
        sem_wait((sem_t *)s);
}

struct Meeting {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    std::atomic<bool> there{false};
};

static void *wait_in_vain(void *p) {
    Meeting *m = (Meeting *)p;
    pthread_mutex_lock(&m->mutex);
    m->there = true;
    pthread_cleanup_push([](void *q) { pthread_mutex_unlock((pthread_mutex_t *)q); }, &m->mutex);
    for (;;)
        pthread_cond_wait(&m->condition, &m->mutex);
    pthread_cleanup_pop(1);
    return nullptr;
}

static void cancellation(void) {
    void *out = nullptr;
    pthread_t t;
    sem_t s;
    sem_init(&s, 0, 0);
    pthread_create(&t, nullptr, wait_for_ever, &s);
    EXPECT(pthread_cancel(t) == 0 && pthread_join(t, &out) == 0 && out == PTHREAD_CANCELED);
    Meeting m;
    pthread_create(&t, nullptr, wait_in_vain, &m);
    while (!m.there)
        ;
    EXPECT(pthread_cancel(t) == 0 && pthread_join(t, &out) == 0 && out == PTHREAD_CANCELED);
    EXPECT(pthread_mutex_trylock(&m.mutex) == 0);
    pthread_create(
        &t, nullptr, [](void *) -> void * { pthread_exit((void *)5); }, nullptr);
    EXPECT(pthread_join(t, &out) == 0 && out == (void *)5);
}

static void exceptions(void) {
    std::once_flag flag;
    int tries = 0;
    for (int k = 0; k < 4; k++)
        try {
            std::call_once(flag, [&] {
                if (++tries < 3)
                    throw 1;
            });
        } catch (int) {
        }
    EXPECT(tries == 3);
}

static void forks(void) {
    std::atomic<bool> stop{false};
    std::mutex m;
    std::thread busy([&] {
        while (!stop) {
            work();
            std::lock_guard<std::mutex> hold(m);
        }
    });
    for (int k = 0; k < 20; k++) {
        pid_t child = fork();
        if (child == 0) {
            std::mutex mine;
            mine.lock();
            mine.unlock();
            std::thread([] {}).join();
            _exit(0);
        }
        int status = 1;
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
    stop = true;
    busy.join();
}

static long resident(void) {
    long pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

// Each with a lock of its own that another thread has had; few are destroyed, as std::mutex is not.
static void many(int n) {
    std::vector<std::unique_ptr<std::mutex>> kept;
    for (int k = 0; k < n; k++) {
        kept.emplace_back(new std::mutex);
        kept.back()->lock();
        kept.back()->unlock();
        if (k % 5000 == 0) {
            work();
            std::thread([m = new std::mutex] {
                std::unique_ptr<std::mutex> mine(m);
                mine->lock();
                work();
                mine->unlock();
            }).detach();
        }
        if (kept.size() == 1000)
            kept.clear();
        pthread_mutex_t m;
        pthread_mutex_init(&m, nullptr);
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        pthread_mutex_destroy(&m);
    }
    usleep(100000);
}

static void time_one(const char *what) {
    enum { N = 20000000 };
    static std::mutex m;
    auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < N; k++) {
        m.lock();
        m.unlock();
    }
    printf("%s: %.1f ns\n", what,
           std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / N);
}

int main(int argc, char **argv) {
    bool timing = argc > 1 && !strcmp(argv[1], "time");
    std::thread([] {}).join(); // from now on locks are taken for real
    if (timing)
        time_one("before the device is used");
    EXPECT(cudaMalloc(&memory, 4096) == cudaSuccess);
    work();
    if (timing) {
        time_one("after a wait");
        static std::shared_mutex reads;
        auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < 20000000; k++) {
            reads.lock_shared();
            reads.unlock_shared();
        }
        printf("shared: %.1f ns\n",
               std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
                   20000000);
        return 0;
    }
    results();
    cancellation();
    exceptions();
    forks();
    many(100000);
    long before = resident();
    many(500000);
    EXPECT(resident() - before < 2048);
    return finish();
}
