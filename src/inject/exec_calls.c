// SPDX-License-Identifier: Apache-2.0
// exec_calls — the C library's functions that start a program. In place of a ptxas they start gpurace-ptxas, and
// GPURACE_PTXAS tells it which ptxas it stands in for. So the machine code of a compiler that calls ptxas keeps its PTX
// (fatbin/cubin.h), by whatever way the compiler came to that ptxas: an option, a variable, a package of its own, the
// PATH.
//
// Any other program gets what carries gpurace (exec_carry.h).
//
// The functions run between fork and exec, in programs with many threads: nothing here allocates, locks or looks up a
// symbol. If gpurace-ptxas cannot stand in for a program, it starts as asked. Not seen: system calls of the program's
// own, and what the C library starts inside of other functions (wordexp).
#include "inject/exec_carry.h"
#include "inject/hooks.h"
#include "inject/inside_run.h"

#include "findings/results.h"
#include "options/options.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define TELLS  "GPURACE_PTXAS="

enum { MOST_WORDS = 1024, MOST_RESULTS = PATH_MAX + 32 };

extern char **environ;

static struct {
    int (*execve)(const char *, char *const[], char *const[]),
        (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
    int (*system)(const char *);
    FILE *(*popen)(const char *, const char *);
    int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const[], char *const[]);
    int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                        char *const[], char *const[]);
} libc;

// The path of gpurace-ptxas; "": this process is not to start it.
static char stand_in[PATH_MAX];
static struct stat own;
static char results[MOST_RESULTS]; // the variable that says that this is a run

static bool is_own(const char *path) {
    struct stat st;
    return !stat(path, &st) && st.st_ino == own.st_ino && st.st_dev == own.st_dev;
}

// Runs when this library is loaded. Constructors of other libraries may start a program before that.
static void look_up(void) {
#define FIND(name) *(void **)&libc.name = gr_real_dlsym(RTLD_NEXT, #name)
    FIND(execve);
    FIND(execvpe);
    FIND(posix_spawn);
    FIND(posix_spawnp);
    FIND(fexecve);
    FIND(execveat);
    FIND(system);
    FIND(popen);
#undef FIND
}

__attribute__((constructor)) static void prepare(void) {
    const char *path = getenv(GR_PTXAS_ENV), *file = getenv(GR_RESULTS_ENV);
    look_up();
    gr_run_begin();
    if (!path || !file || strlen(path) >= sizeof stand_in || stat(path, &own) || is_own("/proc/self/exe"))
        return;
    int n = snprintf(results, sizeof results, "%s=%s", GR_RESULTS_ENV, file);
    if (n > 0 && n < (int)sizeof results)
        memcpy(stand_in, path, strlen(path) + 1);
}

// ---- Which ptxas -----------------------------------------------------------------------------------------------

static bool may_stand_in(const char *file) {
    if (!stand_in[0] || !file)
        return false;
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    return !strcmp(base, "ptxas") || !strcmp(base, "ptxas-blackwell"); // Triton brings one of that name
}

static bool join(char *out, size_t room, const char *folder, size_t len, const char *file) {
    size_t n = strlen(file);
    if (len + n + 2 > room)
        return false;
    memcpy(out, folder, len);
    out[len] = '/';
    memcpy(out + len + (len > 0), file, n + 1);
    return true;
}

static bool is_program(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

// Finds the file as execvp does.
static bool find_on_path(const char *file, char *out, size_t room) {
    const char *p = getenv("PATH");
    for (p = p ? p : "/bin:/usr/bin"; *p;) {
        size_t n = strcspn(p, ":");
        if (join(out, room, p, n, file) && is_program(out))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

typedef struct Start {
    char *argv[MOST_WORDS];
    char *envp[GR_EXEC_VARIABLES];
    char tells[sizeof TELLS + PATH_MAX];
} Start;

static bool is_variable(const char *entry, const char *name) {
    size_t n = strlen(name);
    return !strncmp(entry, name, n) && entry[n] == '=';
}

// Without LD_PRELOAD: the assembler is no program to be checked.
static bool set_environment(Start *s, char *const envp[]) {
    size_t n = 0;
    for (char *const *e = envp; e && *e; e++) {
        if (is_variable(*e, "LD_PRELOAD") || is_variable(*e, "GPURACE_PTXAS") ||
            is_variable(*e, GR_RESULTS_ENV))
            continue;
        if (n + 3 >= GR_EXEC_VARIABLES)
            return false;
        s->envp[n++] = *e;
    }
    s->envp[n++] = s->tells;
    s->envp[n++] = results;
    s->envp[n] = NULL;
    return true;
}

// gpurace-ptxas is to be started: sets with what.
static bool stands_in(Start *s, const char *file, bool by_path, char *const argv[], char *const envp[]) {
    static char name[] = "gpurace-ptxas";
    size_t n = 0;
    if (!argv)
        return false;
    memcpy(s->tells, TELLS, sizeof TELLS);
    char *real = s->tells + sizeof TELLS - 1;
    if (by_path && !strchr(file, '/')) {
        if (!find_on_path(file, real, PATH_MAX))
            return false;
    } else if (!is_program(file) || strlen(file) >= PATH_MAX) {
        return false;
    } else {
        memcpy(real, file, strlen(file) + 1);
    }
    if (is_own(real)) // it is called already
        return false;
    for (; argv[n]; n++) {
        if (n + 1 >= MOST_WORDS)
            return false;
        s->argv[n] = argv[n];
    }
    s->argv[n] = NULL;
    s->argv[0] = name;
    return n > 0 && set_environment(s, envp);
}

// ---- The functions ---------------------------------------------------------------------------------------------

// A function of its own, for its size, as every program comes by. It returns if gpurace-ptxas is not started.
__attribute__((noinline)) static void exec_instead(const char *file, bool by_path, char *const argv[],
                                                   char *const envp[]) {
    Start s;
    if (stands_in(&s, file, by_path, argv, envp))
        (void)libc.execve(stand_in, s.argv, s.envp);
}

// The path of the program to start, in `out` if it is searched for; NULL: it is not there.
static const char *path_of(const char *file, bool by_path, char out[PATH_MAX]) {
    if (!by_path || !file || strchr(file, '/'))
        return file;
    return find_on_path(file, out, PATH_MAX) ? out : NULL;
}

static int start(const char *file, bool by_path, char *const argv[], char *const envp[]) {
    GrExecRoom room;
    char found[PATH_MAX];
    if (!libc.execve)
        look_up();
    int (*real)(const char *, char *const[], char *const[]) = by_path ? libc.execvpe : libc.execve;
    if (may_stand_in(file))
        exec_instead(file, by_path, argv, envp);
    if (real)
        return real(file, argv, gr_exec_carry(path_of(file, by_path, found), envp, &room));
    errno = ENOSYS;
    return -1;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[]) {
    return start(path, false, argv, envp);
}
EXPORT int execv(const char *path, char *const argv[]) { return start(path, false, argv, environ); }
EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]);
EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]) {
    return start(file, true, argv, envp);
}
EXPORT int execvp(const char *file, char *const argv[]) { return start(file, true, argv, environ); }

// execl, execlp and execle: the words stand in the call itself. More than MOST_WORDS are more than a source has.
#define LISTED(name, by_path, environment)                                                                   \
    EXPORT int name(const char *file, const char *word, ...) {                                               \
        char *argv[MOST_WORDS] = {(char *)word};                                                             \
        va_list words;                                                                                       \
        size_t n = 0;                                                                                        \
        va_start(words, word);                                                                               \
        while (argv[n] && n < MOST_WORDS - 1)                                                                \
            argv[++n] = va_arg(words, char *);                                                               \
        bool all = !argv[n];                                                                                 \
        char *const *envp = all ? (environment) : NULL;                                                      \
        va_end(words);                                                                                       \
        errno = E2BIG;                                                                                       \
        return all ? start(file, by_path, argv, envp) : -1;                                                  \
    }
LISTED(execl, false, environ)
LISTED(execlp, true, environ)
LISTED(execle, false, va_arg(words, char *const *))

EXPORT int fexecve(int fd, char *const argv[], char *const envp[]) {
    GrExecRoom room;
    char path[64];
    if (!libc.fexecve)
        look_up();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (libc.fexecve)
        return libc.fexecve(fd, argv, gr_exec_carry(path, envp, &room));
    errno = ENOSYS;
    return -1;
}

// Later than some C libraries: a program finds it here only where there is one.
EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags);
EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags) {
    GrExecRoom room;
    if (!libc.execveat)
        look_up();
    bool known = path[0] == '/' || folder == AT_FDCWD;
    if (libc.execveat)
        return libc.execveat(folder, path, argv, gr_exec_carry(known ? path : NULL, envp, &room), flags);
    errno = ENOSYS;
    return -1;
}

// The C library starts the shell with this process's environment.
EXPORT int system(const char *command) {
    if (!libc.system)
        look_up();
    gr_exec_carry_own();
    return libc.system ? libc.system(command) : -1;
}
EXPORT FILE *popen(const char *command, const char *mode) {
    if (!libc.popen)
        look_up();
    gr_exec_carry_own();
    return libc.popen ? libc.popen(command, mode) : NULL;
}

__attribute__((noinline)) static bool spawn_instead(pid_t *pid, const char *file, bool by_path,
                                                    const posix_spawn_file_actions_t *actions,
                                                    const posix_spawnattr_t *attributes, char *const argv[],
                                                    char *const envp[]) {
    Start s;
    return stands_in(&s, file, by_path, argv, envp) &&
           libc.posix_spawn(pid, stand_in, actions, attributes, s.argv, s.envp) == 0;
}

#define SPAWN(name, by_path)                                                                                 \
    EXPORT int name(pid_t *restrict pid, const char *restrict file,                                          \
                    const posix_spawn_file_actions_t *restrict actions,                                      \
                    const posix_spawnattr_t *restrict attributes, char *const argv[restrict],                \
                    char *const envp[restrict]) {                                                            \
        GrExecRoom room;                                                                                     \
        char found[PATH_MAX];                                                                                \
        if (!libc.name)                                                                                      \
            look_up();                                                                                       \
        if (may_stand_in(file) && spawn_instead(pid, file, by_path, actions, attributes, argv, envp))        \
            return 0;                                                                                        \
        return libc.name ? libc.name(pid, file, actions, attributes, argv,                                   \
                                     gr_exec_carry(path_of(file, by_path, found), envp, &room))              \
                         : ENOSYS;                                                                           \
    }
SPAWN(posix_spawn, false)
SPAWN(posix_spawnp, true)
