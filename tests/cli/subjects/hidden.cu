// SPDX-License-Identifier: Apache-2.0
// hidden WAY [FOLDER]: one child launches a kernel without races. Another one gives up what gpurace gets into it by, in WAY, and launches a racy one. For
// test_hidden.py. `hidden racy` and `hidden clean` launch one kernel.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <spawn.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__global__ void clean(int *p) { p[threadIdx.x] = 1; }
__global__ void racy(int *p) { p[0] = (int)threadIdx.x; } // RACE

static int launch(bool bad)
{
    int *p;
    if (cudaMalloc(&p, 4096) != cudaSuccess)
        return 3;
    if (bad)
        racy<<<1, 64>>>(p);
    else
        clean<<<1, 64>>>(p);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
}

static int wait_for(pid_t pid)
{
    int status;
    assert(waitpid(pid, &status, 0) == pid);
    return status;
}

static void become_nobody() { assert(setgroups(0, nullptr) == 0 && setgid(65534) == 0 && setuid(65534) == 0); }

static void close_all()
{
    for (int fd = 3; fd < 2048; fd++)
        close(fd);
}

static char self[4096];
static char *words[] = {self, (char *)"racy", nullptr};
static char *none[] = {nullptr};

static void spawn(char **environment)
{
    pid_t pid;
    assert(posix_spawn(&pid, self, nullptr, nullptr, words, environment) == 0);
    wait_for(pid);
}

// In the second child. What returns launches here.
static void hide(const std::string &way, const char *folder)
{
    std::string command = std::string(self) + " racy";
    if (way == "setuid" || way == "setuid_exec" || way == "setuid_closed_exec" || way == "setuid_closed")
        become_nobody();
    if (way == "clearenv" || way.rfind("cleared_", 0) == 0)
        clearenv();
    if (way == "closed" || way == "setuid_closed" || way == "setuid_closed_exec" || way == "closed_exec")
        close_all();
    if (way == "chroot" || way == "chroot_exec")
        assert(chroot(folder) == 0 && chdir("/") == 0);
    if (way == "late" || way == "daemon" || way == "detached")
        usleep(300000);
    if (way == "chroot_exec")
        _exit(execl("/hidden", "/hidden", "racy", (char *)nullptr));
    if (way == "execle")
        execle(self, self, "racy", (char *)nullptr, none);
    if (way == "fexecve")
        fexecve(open(self, O_RDONLY), words, none);
    if (way == "execveat")
        execveat(AT_FDCWD, self, words, none, 0);
    if (way == "cleared_execlp")
        execlp(self, self, "racy", (char *)nullptr);
    if (way == "cleared_execv")
        execv(self, words);
    if (way.size() > 5 && way.substr(way.size() - 5) == "_exec")
        execv(self, words);
    if (way == "other_preload") {
        setenv("LD_PRELOAD", "libm.so.6", 1);
        execl(self, self, "racy", (char *)nullptr);
    }
    if (way == "left_out") {
        setenv("GPURACE_RESULTS", "", 1);
        unsetenv("LD_PRELOAD");
        execl(self, self, "racy", (char *)nullptr);
    }
    if (way == "file" || way == "file_without_cuda")
        execl(folder, folder, "racy", (char *)nullptr);
    if (way == "effective") { // the loader drops LD_PRELOAD where the two users differ
        assert(seteuid(65534) == 0);
        execl(self, self, "racy", (char *)nullptr);
    }
    if (way == "spawn")
        spawn(none);
    else if (way == "cleared_system")
        assert(system(command.c_str()) == 0);
    else if (way == "cleared_popen")
        assert(pclose(popen(command.c_str(), "w")) == 0);
    else if (way == "env")
        assert(system(("env -i " + command).c_str()) == 0);
    else
        exit(launch(true));
    exit(0);
}

int main(int argc, char **argv)
{
    assert(argc > 1);
    std::string way = argv[1];
    const char *folder = argc > 2 ? argv[2] : nullptr;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert(n > 0);
    if (way == "racy" || way == "clean")
        return launch(way == "racy");
    pid_t pid = fork();
    if (pid == 0)
        exit(launch(false));
    assert(wait_for(pid) == 0);
    if (way == "after_cuda") { // the child of a process that uses CUDA has none
        assert(launch(false) == 0);
        pid = fork();
        if (pid == 0) {
            become_nobody();
            execv(self, words);
        }
        return wait_for(pid) ? 1 : 0;
    }
    pid = fork();
    if (pid == 0) {
        if (way == "daemon") {
            setsid();
            if (fork())
                _exit(0);
            close_all();
        }
        if (way == "detached")
            setsid();
        if (way == "forever") {
            setsid();
            close(0), close(1), close(2);
            for (;;)
                pause();
        }
        hide(way, folder);
    }
    if (way != "late" && way != "daemon" && way != "detached" && way != "forever")
        wait_for(pid);
    return 0;
}
