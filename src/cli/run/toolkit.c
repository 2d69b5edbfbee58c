// SPDX-License-Identifier: Apache-2.0
#include "cli/run/toolkit.h"

#include "base/log.h"
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// An executable file, and not this program by another name.
static bool is_program(const char *path) {
    struct stat st, own;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK) &&
           (stat("/proc/self/exe", &own) || st.st_ino != own.st_ino || st.st_dev != own.st_dev);
}

static bool try(char path[PATH_MAX], const char *folder, const char *below, const char *name) {
    int n = snprintf(path, PATH_MAX, "%s%s/%s", folder, below, name);
    return n > 0 && n < PATH_MAX && is_program(path);
}

static bool find_on_path(char path[PATH_MAX], const char *name) {
    const char *p = getenv("PATH");
    for (p = p ? p : "/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        int len = snprintf(path, PATH_MAX, "%.*s/%s", (int)n, n ? p : ".", name);
        if (len > 0 && len < PATH_MAX && is_program(path))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static bool find_beside_nvcc(char path[PATH_MAX], const char *name) {
    char nvcc[PATH_MAX], real[PATH_MAX];
    if (!find_on_path(nvcc, "nvcc") || !realpath(nvcc, real))
        return false;
    *strrchr(real, '/') = 0;
    return try(path, real, "", name);
}

// Triton brings the ptxas that it was tested with, and a newer one: the process that calls us has its library loaded.
// The newer one knows all GPUs that the checks can be compiled for.
static bool find_of_caller(char path[PATH_MAX], const char *name) {
    static const char library[] = "/_C/libtriton.so";
    char maps[64], line[PATH_MAX + 128];
    bool found = false;
    snprintf(maps, sizeof maps, "/proc/%ld/maps", (long)getppid());
    FILE *f = fopen(maps, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *file = strchr(line, '/'), *end = file ? strstr(file, library) : NULL;
        if (!end)
            continue;
        *end = 0;
        found = try(path, file, "/backends/nvidia/bin", "ptxas-blackwell") ||
                try(path, file, "/backends/nvidia/bin", name);
    }
    if (f)
        fclose(f);
    return found;
}

static bool find(char path[PATH_MAX], const char *name) {
    const char *home = getenv("CUDA_HOME");
    char self[PATH_MAX];
    if (!strcmp(name, "ptxas") && find_of_caller(path, name))
        return true;
    if (home && *home && try(path, home, "/bin", name))
        return true;
    if (find_beside_nvcc(path, name) || find_on_path(path, name) ||
        try(path, "/usr/local/cuda", "/bin", name))
        return true;
    if (gr_process_self(self, NULL) != GR_OK)
        return false;
    *strrchr(self, '/') = 0;
    return try(path, self, "/cuda/bin", name);
}

gr_status gr_toolkit_find(const char *name, char path[PATH_MAX], gr_error *err) {
    char variable[32], found[PATH_MAX];
    snprintf(variable, sizeof variable, "GPURACE_%s", name);
    for (char *c = variable; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    const char *named = getenv(variable);
    if (named && *named && !is_program(named))
        return gr_fail(err, GR_ERR_NOT_FOUND, "%s=%s: %s", variable, named,
                       access(named, F_OK) ? strerror(errno) : "not a program, or gpurace itself");
    if (named && *named)
        snprintf(found, sizeof found, "%s", named);
    else if (!find(found, name))
        return gr_fail(err, GR_ERR_NOT_FOUND,
                       "there is no %s: neither in $CUDA_HOME/bin, nor beside the nvcc on the PATH, nor on "
                       "the PATH, nor in "
                       "/usr/local/cuda/bin. %s=FILE names one",
                       name, variable);
    if (!realpath(found, path))
        return gr_fail(err, GR_ERR_IO, "%s: %s", found, strerror(errno));
    return GR_OK;
}

// Signals of a terminal reach the program as well: it is in our group. We stay for its status, and to clean up.
int gr_toolkit_call(const char *path, char *const *argv, int errors) {
    enum { NOT_RUN = 127 };
    int status = 0;
    void (*on_int)(int) = signal(SIGINT, SIG_IGN), (*on_quit)(int) = signal(SIGQUIT, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, on_int);
        signal(SIGQUIT, on_quit);
        if (errors >= 0)
            dup2(errors, STDERR_FILENO);
        execv(path, argv);
    }
    if (pid <= 0)
        gr_log(LOG_ERROR, "cannot run %s: %s", path, strerror(errno));
    if (pid == 0)
        _exit(NOT_RUN);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    signal(SIGINT, on_int);
    signal(SIGQUIT, on_quit);
    return pid < 0 ? NOT_RUN : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
