// SPDX-License-Identifier: Apache-2.0
// Several threads of the host that give the device work: ./threads CASE race|fixed. cases.py says what the labels mean.
//
// RACE together: write-write race; no stream order, event or synchronization
// RACE call_under_way: write-write race; no stream order, event or synchronization
// REMARK atomic_flag: different host threads
// REMARK openmp: different host threads
// EITHER own_streams: different host threads
// CLEAN own_memory
// CLEAN events
// SEEDS 1
// CLEAN join
// CLEAN c11_join
// CLEAN mutex
// CLEAN std_mutex
// CLEAN timed_mutex
// CLEAN spin
// CLEAN c11_mutex
// CLEAN condition
// CLEAN c11_condition
// CLEAN write_lock
// CLEAN reader_before_writer
// CLEAN semaphore
// CLEAN barrier
// CLEAN once
// CLEAN c11_once
// CLEAN std_once
// CLEAN chain
// CLEAN late_thread
// CLEAN generations
// REMARK other_mutex: different host threads
// REMARK readers: different host threads
// REMARK failed_trylock: different host threads
// REMARK after_barrier: different host threads
// REMARK new_object: different host threads
// ONLY lock_without_wait: write-write race; no stream order, event or synchronization
#include "../../../check.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <thread>
#include <threads.h>

static bool fixed;
enum { N = 256 };
static int *memory;

__global__ void bump(int *p) { p[threadIdx.x]++; }

__global__ void set(int *p, int to) { p[threadIdx.x] = to; }

__global__ void slow(int *p, int n) {
    int v = 0;
    for (int k = 0; k < n; k++)
        v = v * 5 + k;
    p[threadIdx.x] = v;
}

static cudaStream_t stream(void) {
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
}

static void work(int *p) {
    cudaStream_t s = stream();
    bump<<<1, N, 0, s>>>(p);
    CHECK(cudaStreamSynchronize(s));
}

// Both submit before either waits.
static void together(void) {
    std::atomic<int> submitted{0};
    auto run = [&](int *p, int to) {
        cudaStream_t s = stream();
        set<<<1, N, 0, s>>>(p, to);
        for (submitted++; submitted < 2;)
            ;
        CHECK(cudaStreamSynchronize(s));
    };
    std::thread a(run, memory, 1), b(run, fixed ? memory + N : memory, 2);
    a.join();
    b.join();
}

// One begins its call while the other waits, and is let in only when that is over, or before.
static void call_under_way(void) {
    std::atomic<bool> waits{false};
    std::thread a([&] {
        cudaStream_t s = stream();
        slow<<<1, N, 0, s>>>(memory, 300000);
        waits = true;
        CHECK(cudaStreamSynchronize(s));
    });
    std::thread b([&] {
        cudaStream_t s = stream();
        while (!waits)
            ;
        slow<<<1, N, 0, s>>>(fixed ? memory + N : memory, 10);
        CHECK(cudaStreamSynchronize(s));
    });
    a.join();
    b.join();
}

// Ordered, by what is not seen.
static void atomic_flag(void) {
    std::atomic<bool> done{false};
    std::thread a([&] {
        work(memory);
        done = true;
    });
    std::thread b([&] {
        while (!done)
            ;
        work(memory);
    });
    a.join();
    b.join();
}

static void openmp(void) {
    work(memory);
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        work(memory);
    }
    work(memory);
}

// Four that begin together, each in a stream of its own.
static void own_streams(void) {
    std::atomic<int> here{0};
    std::thread t[4];
    for (auto &one : t)
        one = std::thread([&] {
            cudaStream_t s = stream();
            for (here++; here < 4;)
                ;
            for (int k = 0; k < 20; k++)
                bump<<<1, 32, 0, s>>>(memory);
            CHECK(cudaStreamSynchronize(s));
        });
    for (auto &one : t)
        one.join();
}

static void own_memory(void) {
    std::thread a(work, memory), b(work, memory + N);
    a.join();
    b.join();
}

// What one thread records the other's stream waits for.
static void events(void) {
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    std::atomic<bool> recorded{false};
    std::thread a([&] {
        cudaStream_t s = stream();
        bump<<<1, N, 0, s>>>(memory);
        CHECK(cudaEventRecord(e, s));
        recorded = true;
    });
    std::thread b([&] {
        cudaStream_t s = stream();
        while (!recorded)
            ;
        CHECK(cudaStreamWaitEvent(s, e, 0));
        bump<<<1, N, 0, s>>>(memory);
        CHECK(cudaStreamSynchronize(s));
    });
    a.join();
    b.join();
}

// ---- Threads that order each other in a way that is seen -------------------------------------------------------------

// The second does its part when the first has done its own, which nobody sees.
static void in_turn(const std::function<void()> &first, const std::function<void()> &second) {
    std::atomic<bool> done{false};
    std::thread a([&] {
        first();
        done = true;
    });
    std::thread b([&] {
        while (!done)
            ;
        second();
    });
    a.join();
    b.join();
}

static void join(void) {
    std::thread a(work, memory);
    a.join();
    std::thread b(work, memory);
    b.join();
    work(memory);
}

static int work_c11(void *p) {
    work((int *)p);
    return 0;
}

static void c11_join(void) {
    for (int k = 0; k < 2; k++) {
        thrd_t t;
        CHECK(thrd_create(&t, work_c11, memory) == thrd_success ? cudaSuccess : cudaErrorUnknown);
        thrd_join(t, nullptr);
    }
    work(memory);
}

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void locked(pthread_mutex_t *m) {
    pthread_mutex_lock(m);
    work(memory);
    pthread_mutex_unlock(m);
}

static void mutex(void) {
    in_turn([] { locked(&plain); }, [] { locked(&plain); });
}

static void other_mutex(void) {
    in_turn([] { locked(&plain); }, [] { locked(&other); });
}

static void std_mutex(void) {
    std::mutex m;
    auto part = [&] {
        std::lock_guard<std::mutex> hold(m);
        work(memory);
    };
    in_turn(part, part);
}

static void timed_mutex(void) {
    auto part = [] {
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 10;
        if (pthread_mutex_timedlock(&plain, &until) == 0) {
            work(memory);
            pthread_mutex_unlock(&plain);
        }
    };
    in_turn(part, [] {
        while (pthread_mutex_trylock(&plain))
            ;
        work(memory);
        pthread_mutex_unlock(&plain);
    });
}

static void spin(void) {
    pthread_spinlock_t l;
    pthread_spin_init(&l, PTHREAD_PROCESS_PRIVATE);
    auto part = [&] {
        pthread_spin_lock(&l);
        work(memory);
        pthread_spin_unlock(&l);
    };
    in_turn(part, part);
    pthread_spin_destroy(&l);
}

static void c11_mutex(void) {
    mtx_t m;
    mtx_init(&m, mtx_plain);
    auto part = [&] {
        mtx_lock(&m);
        work(memory);
        mtx_unlock(&m);
    };
    in_turn(part, part);
    mtx_destroy(&m);
}

// The one who waits has begun before the other.
static void condition(void) {
    std::mutex m;
    std::condition_variable c;
    bool ready = false;
    std::thread b([&] {
        std::unique_lock<std::mutex> hold(m);
        c.wait(hold, [&] { return ready; });
        work(memory);
    });
    std::thread a([&] {
        work(memory);
        std::lock_guard<std::mutex> hold(m);
        ready = true;
        c.notify_one();
    });
    a.join();
    b.join();
}

static void c11_condition(void) {
    mtx_t m;
    cnd_t c;
    bool ready = false;
    mtx_init(&m, mtx_plain);
    cnd_init(&c);
    std::thread b([&] {
        mtx_lock(&m);
        while (!ready)
            cnd_wait(&c, &m);
        mtx_unlock(&m);
        work(memory);
    });
    std::thread a([&] {
        work(memory);
        mtx_lock(&m);
        ready = true;
        cnd_signal(&c);
        mtx_unlock(&m);
    });
    a.join();
    b.join();
}

static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;

static void write_locked(void) {
    pthread_rwlock_wrlock(&shared);
    work(memory);
    pthread_rwlock_unlock(&shared);
}

static void read_locked(void) {
    pthread_rwlock_rdlock(&shared);
    work(memory);
    pthread_rwlock_unlock(&shared);
}

static void write_lock(void) { in_turn(write_locked, read_locked); }
static void reader_before_writer(void) { in_turn(read_locked, write_locked); }
static void readers(void) { in_turn(read_locked, read_locked); }

static void semaphore(void) {
    sem_t s;
    sem_init(&s, 0, 0);
    std::thread b([&] {
        sem_wait(&s);
        work(memory);
    });
    std::thread a([&] {
        work(memory);
        sem_post(&s);
    });
    a.join();
    b.join();
    sem_destroy(&s);
}

static void barrier(void) {
    pthread_barrier_t m;
    pthread_barrier_init(&m, nullptr, 2);
    auto part = [&](int first) {
        for (int k = 0; k < 5; k++) {
            if (k % 2 == first)
                work(memory);
            pthread_barrier_wait(&m);
        }
    };
    std::thread a(part, 0), b(part, 1);
    a.join();
    b.join();
    pthread_barrier_destroy(&m);
}

static void after_barrier(void) {
    pthread_barrier_t m;
    pthread_barrier_init(&m, nullptr, 2);
    in_turn(
        [&] {
            std::thread partner([&] { pthread_barrier_wait(&m); });
            pthread_barrier_wait(&m);
            work(memory);
            partner.join();
            pthread_barrier_destroy(&m);
        },
        [&] { work(memory); });
}

static void work_once(void) { work(memory); }

static void once(void) {
    static pthread_once_t flag = PTHREAD_ONCE_INIT;
    auto part = [] { pthread_once(&flag, work_once); };
    in_turn(part, [&] {
        part();
        work(memory);
    });
}

static void c11_once(void) {
    static ::once_flag flag = ONCE_FLAG_INIT;
    auto part = [] { ::call_once(&flag, work_once); };
    in_turn(part, [&] {
        part();
        work(memory);
    });
}

// The first to try gives up by an exception.
static void std_once(void) {
    std::once_flag flag;
    auto part = [&](bool fails) {
        try {
            std::call_once(flag, [&] {
                work(memory);
                if (fails)
                    throw 1;
            });
        } catch (int) {
        }
    };
    part(true);
    in_turn([&] { part(false); },
            [&] {
                part(false);
                work(memory);
            });
}

// From hand to hand, one of which gives the device nothing.
static void chain(void) {
    sem_t s[2];
    sem_init(&s[0], 0, 0);
    sem_init(&s[1], 0, 0);
    std::thread c([&] {
        sem_wait(&s[1]);
        work(memory);
    });
    std::thread b([&] {
        sem_wait(&s[0]);
        locked(&other);
        sem_post(&s[1]);
    });
    std::thread a([&] {
        work(memory);
        sem_post(&s[0]);
    });
    a.join();
    b.join();
    c.join();
}

// It was told of one of the first of many waits.
static void late_thread(void) {
    sem_t go;
    sem_init(&go, 0, 0);
    std::thread(work, memory + N).join(); // there are several
    work(memory);
    std::thread b([&] {
        while (sem_trywait(&go))
            ;
        work(memory);
    });
    for (int k = 0; k < 100; k++)
        work(memory + N);
    std::thread a([&] { sem_post(&go); });
    a.join();
    b.join();
}

// More threads, one after the other, than are counted at once.
static void generations(void) {
    for (int k = 0; k < 300; k++)
        std::thread(work, memory).join();
}

static void failed_trylock(void) {
    in_turn(
        [] {
            locked(&plain);
            pthread_mutex_lock(&plain);
        },
        [] {
            if (pthread_mutex_trylock(&plain))
                work(memory);
        });
}

// At the place of the old one.
static void new_object(void) {
    pthread_mutex_t m;
    pthread_mutex_init(&m, nullptr);
    in_turn(
        [&] {
            locked(&m);
            pthread_mutex_destroy(&m);
        },
        [&] {
            pthread_mutex_init(&m, nullptr);
            locked(&m);
        });
}

static void lock_without_wait(void) {
    auto part = [](int n) {
        cudaStream_t s = stream();
        pthread_mutex_lock(&plain);
        slow<<<1, N, 0, s>>>(memory, n);
        pthread_mutex_unlock(&plain);
    };
    in_turn([&] { part(1000); }, [&] { part(1001); });
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
#define CASE(name) {#name, name}
        CASE(together),
        CASE(call_under_way),
        CASE(atomic_flag),
        CASE(openmp),
        CASE(own_memory),
        CASE(events),
        CASE(own_streams),
        CASE(join),
        CASE(c11_join),
        CASE(mutex),
        CASE(std_mutex),
        CASE(timed_mutex),
        CASE(spin),
        CASE(c11_mutex),
        CASE(condition),
        CASE(c11_condition),
        CASE(write_lock),
        CASE(semaphore),
        CASE(reader_before_writer),
        CASE(barrier),
        CASE(once),
        CASE(c11_once),
        CASE(std_once),
        CASE(chain),
        CASE(late_thread),
        CASE(generations),
        CASE(other_mutex),
        CASE(readers),
        CASE(after_barrier),
        CASE(failed_trylock),
        CASE(new_object),
        CASE(lock_without_wait),
    };
    fixed = argc > 2 && !strcmp(argv[2], "fixed");
    CHECK(cudaMalloc(&memory, 2 * N * sizeof *memory));
    CHECK(cudaDeviceSynchronize());
    for (const auto &c : all)
        if (argc > 1 && !strcmp(c.name, argv[1])) {
            c.run();
            CHECK(cudaDeviceSynchronize());
            return 0;
        }
    return 2;
}
