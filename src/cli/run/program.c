// SPDX-License-Identifier: Apache-2.0
#include "cli/run/program.h"

#include "base/log.h"
#include "fatbin/cubin.h"
#include "fatbin/elf.h"
#include "fatbin/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

gr_status gr_program_find(const char *name, char path[PATH_MAX], gr_error *err) {
    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        if (!is_file(path))
            return gr_fail(err, GR_ERR_NOT_FOUND, "%s: %s", name,
                           access(path, F_OK) ? strerror(errno) : "not a file");
        return access(path, X_OK) ? gr_fail(err, GR_ERR_ARGUMENT, "%s: %s", name, strerror(errno)) : GR_OK;
    }
    const char *p = getenv("PATH");
    for (p = p ? p : "/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        int len = snprintf(path, PATH_MAX, "%.*s/%s", (int)n, n ? p : ".", name);
        if (len > 0 && len < PATH_MAX && is_file(path) && access(path, X_OK) == 0)
            return GR_OK;
        p += n + (p[n] == ':');
    }
    return gr_fail(err, GR_ERR_NOT_FOUND, "%s: not found on PATH; a program in this folder is ./%s", name,
                   name);
}

static bool is_carrier(const char *path) {
    static const char *const names[] = {
#define CARRIER(name) name,
#include "cli/run/carriers.def"
#undef CARRIER
    };
    char real[PATH_MAX];
    const char *resolved = realpath(path, real) ? real : path;
    for (int i = 0; i < 2; i++) { // as it is called, and as it is called in full
        const char *p = i ? resolved : path, *base = strrchr(p, '/') ? strrchr(p, '/') + 1 : p;
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            size_t n = strlen(names[k]);
            if (names[k][n - 1] == '*' ? !strncmp(base, names[k], n - 1) : !strcmp(base, names[k]))
                return true;
        }
    }
    return false;
}

bool gr_program_may_use_cuda(const char *path, bool alone) {
    ExeInfo x;
    if (gr_elf_classify(path, false, &x, NULL) != GR_OK)
        return true;
    switch (x.kind) {
    case EXE_NOT_EXECUTABLE:
    case EXE_FOREIGN: return false;
    case EXE_STATIC_LIBC: return x.has_device_code || x.embeds[0] || (!alone && is_carrier(path));
    case EXE_NO_CUDA: return !alone && is_carrier(path);
    case EXE_SCRIPT:
    case EXE_SHARED_RUNTIME:
    case EXE_STATIC_RUNTIME:
    case EXE_DRIVER_API: break;
    }
    return true;
}

// The loader drops LD_PRELOAD where a program runs with other rights than its user's (ld.so(8), "secure execution").
static const char *other_rights(const char *path) {
    struct stat st;
    char capability[64];
    if (stat(path, &st) != 0)
        return NULL;
    if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
        return "set-user-ID";
    if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
        return "set-group-ID";
    if (getuid() && getxattr(path, "security.capability", capability, sizeof capability) > 0)
        return "given capabilities";
    return NULL;
}

void gr_program_unreached(const char *path, char *out, size_t size) {
    const char *rights = other_rights(path);
    if (rights)
        snprintf(out, size,
                 "%s is %s, so the loader ignores LD_PRELOAD, and gpurace cannot get into the program: run a "
                 "copy without these rights",
                 path, rights);
    else
        snprintf(
            out, size,
            "if CUDA was used after all, gpurace could not get into the process: LD_PRELOAD does not reach a "
            "program that is set-user-ID, is linked with -static or is started by a system call of the "
            "program's own");
}

// Says what to do when the program itself holds machine code and no PTX. Its libraries may still have some.
static void warn_without_ptx(const char *path, const ExeInfo *x) {
    Arena arena;
    FatbinFile file;
    gr_arena_init(&arena);
    size_t ptx = 0, cubins = 0;
    char target[GR_FATBIN_TARGET_LEN] = "";
    if (x->has_device_code && gr_fatbin_open(path, &arena, &file, NULL) == GR_OK) {
        for (size_t i = 0; i < file.count; i++)
            for (size_t k = 0; k < file.places[i].fatbin->count; k++) {
                const FatbinEntry *e = &file.places[i].fatbin->entries[k];
                ptx += e->kind == FATBIN_PTX || gr_cubin_entry_keeps(e);
                cubins += e->kind == FATBIN_CUBIN;
                if (e->kind == FATBIN_CUBIN)
                    gr_fatbin_target(e, target);
            }
        gr_fatbin_close(&file);
    }
    if (cubins && !ptx)
        gr_log(LOG_WARN,
               "%s holds machine code for %s only and no PTX, so there is nothing to check in it: compile it "
               "with PTX "
               "(nvcc -arch=%s, or -gencode arch=compute_NN,code=compute_NN)",
               path, target, target);
    gr_arena_free(&arena);
}

// The CUDA runtimes of the CPU device.
static const char *const all_runtimes[] = {"libcudart.so.13", "libcudart.so.12", NULL};

static const char *const *find_runtime(const char *name) {
    static const char *found[2];
    for (size_t i = 0; all_runtimes[i]; i++)
        if (strcmp(all_runtimes[i], name) == 0)
            found[0] = all_runtimes[i];
    return found[0] ? found : NULL;
}

gr_status gr_program_check(const char *path, bool on_gpu, const char *const **runtimes, gr_error *err) {
    ExeInfo x;
    *runtimes = all_runtimes; // unless it is known which
    GR_MUST(gr_elf_classify(path, !on_gpu, &x, err));
    switch (x.kind) {
    case EXE_NOT_EXECUTABLE:
        return gr_fail(err, GR_ERR_ARGUMENT, "%s is not an executable: neither an ELF program nor a script",
                       path);
    case EXE_FOREIGN: return gr_fail(err, GR_ERR_ARGUMENT, "%s is not an executable for this machine", path);
    case EXE_STATIC_LIBC:
        return gr_fail(
            err, GR_ERR_UNSUPPORTED,
            "%s is linked with -static: gpurace cannot get into it. Link the C library dynamically", path);
    case EXE_NO_CUDA:
        if (is_carrier(path))
            break;
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "%s is not a CUDA program: it holds no device code and needs no CUDA library. If it "
                       "loads a CUDA library or starts a CUDA program, use: gpurace run -- env %s",
                       path, path);
    case EXE_STATIC_RUNTIME:
        if (!on_gpu)
            return gr_fail(
                err, GR_ERR_UNSUPPORTED,
                "%s%s%s has NVIDIA's static CUDA runtime in it, which works above NVIDIA's driver only. For "
                "the CPU device, relink with: nvcc -cudart shared",
                path, strcmp(x.culprit, path) ? ", through " : "", strcmp(x.culprit, path) ? x.culprit : "");
        break;
    case EXE_SHARED_RUNTIME:
        *runtimes = find_runtime(x.runtime);
        if (!on_gpu && !*runtimes)
            return gr_fail(err, GR_ERR_UNSUPPORTED,
                           "%s needs %s; the CPU device has libcudart.so.13 and libcudart.so.12: build the "
                           "program with CUDA 13 or 12",
                           path, x.runtime);
        if (!on_gpu && x.embeds[0])
            gr_log(LOG_WARN,
                   "%s has NVIDIA's static CUDA runtime in it: its CUDA calls will fail on the CPU device",
                   x.embeds);
        break;
    case EXE_SCRIPT:
    case EXE_DRIVER_API: break;
    }
    warn_without_ptx(path, &x);
    return GR_OK;
}
