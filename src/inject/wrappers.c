// SPDX-License-Identifier: Apache-2.0
// Fatbin wrappers, rewritten in memory before NVIDIA's runtime sees them: the way in for programs with that runtime.
//
// nvcc puts a wrapper {magic, version, pointer to the container, …} into the writable section .nvFatBinSegment and
// hands it to __cudaRegisterFatBinary before main. Its pointer gets a container of ours with the rewritten PTX,
// whatever way the runtime then takes to the driver. Constructors run in this order: needed libraries, this one, the
// executable: so this one finds the executable's wrappers in time. It finds those of libraries when they call their
// shared runtime's __cudaRegisterFatBinary, which is interposed. Only for a real GPU: the CPU device's runtime loads
// through the driver API.
#include "inject/inside_run.h"
#include "inject/session.h"

#include "fatbin/fatbin.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

// For wrappers that are there when the program starts: so much PTX at most is compiled at once.
enum { EARLY_BYTES = 1 << 20 };
static bool others; // there are libraries of NVIDIA's, too

// ---- one wrapper -----------------------------------------------------------------------------------------

static void rewrite_wrapper(FatbinWrapper *w) {
    if (w->magic != GR_FATBIN_WRAPPER_MAGIC || !w->data)
        return;
    const char *library = gr_library_left_alone(w);
    others = others || library;
    if (library) {
        if (gr_modules_have_ptx(w))
            gr_session_remarkf("kernels of %s, a library of NVIDIA's, are not checked: --libraries yes "
                               "checks those that have PTX for this GPU",
                               library);
        return;
    }
    gr_session_lock();
    gr_modules_rewrite_wrapper(w);
    gr_session_unlock();
}

// ---- those of loaded files -------------------------------------------------------------------------------

// The section's place in memory, from the file's section headers; 0 when it has none, or is not a file we can read.
static uintptr_t find_segment(const char *path, uintptr_t base, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    struct stat st;
    uintptr_t found = 0;
    const unsigned char *file = MAP_FAILED;
    if (!fstat(fd, &st) && st.st_size > (off_t)sizeof(ElfW(Ehdr)))
        file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return 0;
    size_t len = (size_t)st.st_size;
    const ElfW(Ehdr) *eh = (const ElfW(Ehdr) *)file;
    uint64_t table = (uint64_t)eh->e_shnum * sizeof(ElfW(Shdr));
    if (memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_shentsize != sizeof(ElfW(Shdr)) || eh->e_shoff > len ||
        table > len - eh->e_shoff || eh->e_shstrndx >= eh->e_shnum)
        goto done;
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + eh->e_shoff);
    const ElfW(Shdr) *names = &sections[eh->e_shstrndx];
    static const char wanted[] = ".nvFatBinSegment";
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        const ElfW(Shdr) *s = &sections[i];
        if (s->sh_name > names->sh_size || names->sh_offset > len ||
            names->sh_size > len - names->sh_offset || names->sh_size - s->sh_name < sizeof wanted)
            continue;
        if (!memcmp(file + names->sh_offset + s->sh_name, wanted, sizeof wanted)) {
            found = base + s->sh_addr;
            *size = s->sh_size;
        }
    }
done:
    munmap((void *)(uintptr_t)file, len);
    return found;
}

static bool is_readable_data(const struct dl_phdr_info *info, uintptr_t at, size_t size) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W) && at >= start && size <= p->p_memsz &&
            at - start <= p->p_memsz - size)
            return true;
    }
    return false;
}

typedef struct Segments {
    struct {
        uintptr_t at;
        size_t size;
    } found[64];
    unsigned n;
} Segments;

static int look_into(struct dl_phdr_info *info, size_t info_size, void *user) {
    (void)info_size;
    Segments *s = user;
    size_t size = 0;
    const char *path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    uintptr_t at = path[0] == '/' ? find_segment(path, info->dlpi_addr, &size) : 0;
    if (at && is_readable_data(info, at, size) && s->n < sizeof s->found / sizeof s->found[0]) {
        s->found[s->n].at = at;
        s->found[s->n++].size = size;
    }
    return 0;
}

// The runtime has the driver load a module when it is first needed, and a driver loads nothing while a kernel runs. An
// engine that wants kernels to run beside other work the first time, too, needs them before. The program's own setting
// counts.
static void load_early(void) {
    const Session *s = &gr_session;
    size_t bytes = 0;
    for (size_t i = 0; i < s->modules.len; i++)
        bytes += s->modules.data[i]->original_len;
    if (others || bytes > EARLY_BYTES || !s->engine->loads_early || !s->engine->loads_early(s->engine_self))
        return;
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    gr_session_verbose("%zu bytes of PTX are loaded when the program begins", bytes);
}

static bool wanted(void) {
    const char *options = gr_run_variable(GR_OPTIONS_ENV);
    return gr_run_variable(GR_RESULTS_ENV) && options && strstr(options, "device=gpu");
}

__attribute__((constructor)) static void rewrite_wrappers(void) {
    if (!wanted())
        return;
    static Segments segments;
    dl_iterate_phdr(look_into, &segments);
    if (!segments.n || !gr_session_enter()) // no CUDA in it: left alone
        return;
    for (unsigned i = 0; i < segments.n; i++) {
        FatbinWrapper *w = (FatbinWrapper *)segments.found[i].at;
        for (size_t k = 0; k < segments.found[i].size / sizeof *w; k++)
            rewrite_wrapper(&w[k]);
    }
    load_early();
    gr_session_leave();
}

// ---- those that register later ---------------------------------------------------------------------------

typedef void **(*RegisterFn)(void *);

void **__cudaRegisterFatBinary(void *wrapper);

EXPORT void **__cudaRegisterFatBinary(void *wrapper) {
    // A process may hold several runtimes, each with registrations of its own.
    void *runtime = gr_needed_library(__builtin_return_address(0), "libcudart.so.");
    RegisterFn real = (RegisterFn)gr_real_dlsym(runtime ? runtime : RTLD_NEXT, "__cudaRegisterFatBinary");
    if (wanted() && wrapper && gr_session_enter()) {
        rewrite_wrapper(wrapper);
        gr_session_leave();
    }
    return real ? real(wrapper) : NULL;
}

// ---- meeting them again ----------------------------------------------------------------------------------

LoadedModule *gr_wrapped_module(const char *kernel, CUmodule module) {
    Session *s = &gr_session;
    for (size_t i = 0; i < s->modules.len; i++) {
        LoadedModule *m = s->modules.data[i];
        if (!m->wrapped || m->module || m->library)
            continue;
        for (uint32_t k = 0; k < m->info.n_kernels; k++)
            if (!strcmp(m->info.kernels[k], kernel)) {
                m->module = module;
                gr_modules_known_as(m, module);
                return m;
            }
    }
    return NULL;
}
