// SPDX-License-Identifier: Apache-2.0
// dlsym and dlvsym, interposed: a program that looks up a driver entry point gets its wrapper.
//
// Exported unversioned, which the dynamic linker accepts for every version that a program was linked with. That also
// hides the C library's own from ourselves, dlvsym included: a walk over the C library's symbol table finds them. Both
// are caller-relative (RTLD_NEXT, namespaces): other look-ups go on by a jump, not by a call, so that the real function
// sees the program's return address.
//
// No function of string.h: a sanitizer's runtime in the program has its own, and calls dlsym before these work.
#include "inject/compilers.h"
#include "inject/hooks.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

typedef void *(*DlsymFn)(void *, const char *);
typedef void *(*DlvsymFn)(void *, const char *, const char *);

// Read by the assembly below.
__attribute__((visibility("hidden"))) DlsymFn gr_libc_dlsym;
__attribute__((visibility("hidden"))) DlvsymFn gr_libc_dlvsym;

static bool begins(const char *s, const char *prefix) {
    while (*prefix && *s == *prefix) {
        s++;
        prefix++;
    }
    return !*prefix;
}

static bool is_same(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

// The part of the path behind the last slash; NULL: there is none.
static const char *file_of(const char *path) {
    const char *file = NULL;
    for (; path && *path; path++)
        if (*path == '/')
            file = path + 1;
    return file;
}

// ---- the C library's own ---------------------------------------------------------------------------------

typedef struct Dynamic {
    const char *strings;
    const ElfW(Sym) * symbols;
    const uint32_t *gnu_hash;
} Dynamic;

static uint32_t gnu_hash(const char *s) {
    uint32_t h = 5381;
    for (; *s; s++)
        h = h * 33 + (unsigned char)*s;
    return h;
}

// The GNU hash table: {nbuckets, symoffset, bloom words, bloom shift}, bloom, buckets, chains.
static void *find_symbol(ElfW(Addr) base, const Dynamic *d, const char *name) {
    const uint32_t *t = d->gnu_hash;
    uint32_t nbuckets = t[0], offset = t[1], hash = gnu_hash(name);
    const uint32_t *buckets = t + 4 + t[2] * (sizeof(ElfW(Addr)) / sizeof *t), *chains = buckets + nbuckets;
    uint32_t i = nbuckets ? buckets[hash % nbuckets] : 0;
    for (; i >= offset && i; i++) {
        uint32_t h = chains[i - offset];
        const ElfW(Sym) *s = &d->symbols[i];
        if ((h | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF && is_same(d->strings + s->st_name, name))
            return (void *)(base + s->st_value);
        if (h & 1)
            break;
    }
    return NULL;
}

static ElfW(Addr) relocated(ElfW(Addr) base, ElfW(Addr) p) { return p < base ? base + p : p; }

static int look_into(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size, (void)user;
    const char *file = file_of(info->dlpi_name);
    if (!file || (!begins(file, "libc.so.") && !begins(file, "libdl.so.")))
        return 0;
    Dynamic d = {0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *dyn = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; dyn->d_tag != DT_NULL; dyn++) {
            ElfW(Addr) p = relocated(info->dlpi_addr, dyn->d_un.d_ptr);
            if (dyn->d_tag == DT_STRTAB)
                d.strings = (const char *)p;
            else if (dyn->d_tag == DT_SYMTAB)
                d.symbols = (const ElfW(Sym) *)p;
            else if (dyn->d_tag == DT_GNU_HASH)
                d.gnu_hash = (const uint32_t *)p;
        }
    }
    if (!d.strings || !d.symbols || !d.gnu_hash)
        return 0;
    if (!gr_libc_dlsym)
        *(void **)&gr_libc_dlsym = find_symbol(info->dlpi_addr, &d, "dlsym");
    if (!gr_libc_dlvsym)
        *(void **)&gr_libc_dlvsym = find_symbol(info->dlpi_addr, &d, "dlvsym");
    return gr_libc_dlsym && gr_libc_dlvsym;
}

// Threads may do this at once: they all find the same.
static void find_libc(void) {
    if (!__atomic_load_n((void **)&gr_libc_dlvsym, __ATOMIC_ACQUIRE))
        dl_iterate_phdr(look_into, NULL);
}

void *gr_real_dlsym(void *handle, const char *name) {
    find_libc();
    return gr_libc_dlsym ? gr_libc_dlsym(handle, name) : NULL;
}

void *gr_driver_library(void) {
    static void *library;
    void *l = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
    if (!l) {
        l = dlopen("libcuda.so.1",
                   RTLD_LAZY | RTLD_NOLOAD); // the driver never goes away: one reference is kept
        __atomic_store_n(&library, l, __ATOMIC_RELEASE);
    }
    return l;
}

void *gr_needed_library(const void *caller, const char *prefix) {
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_ld)
        return NULL;
    const char *strings = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr; // glibc has relocated it
    for (const ElfW(Dyn) *d = map->l_ld; strings && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && begins(strings + d->d_un.d_val, prefix))
            return dlopen(strings + d->d_un.d_val, RTLD_LAZY | RTLD_NOLOAD);
    return NULL;
}

// ---- the interposed ones ---------------------------------------------------------------------------------

static bool is_compilers(const char *name) {
    return begins(name, "nvrtc") || begins(name, "nvJitLink") || begins(name, "__nvJitLink");
}

// What dlsym or dlvsym shall return, or NULL: the real one decides.
static void *choose(void *handle, const char *name, const char *version) {
    find_libc();
    GrHook *h = name && name[0] == 'c' && name[1] == 'u' ? gr_hook_by_symbol(name) : NULL;
    bool compiles = name && is_compilers(name);
    if ((!h && !compiles) || handle == RTLD_NEXT || !gr_libc_dlsym || !gr_libc_dlvsym)
        return NULL;
    // The wrapper itself is what the global scope finds first.
    if (handle == RTLD_DEFAULT)
        return NULL;
    void *p = version ? gr_libc_dlvsym(handle, name, version) : gr_libc_dlsym(handle, name);
    if (compiles)
        return p ? gr_compiler_wrapper(name, p) : NULL;
    if (!p || p == (void *)h->wrapper)
        return NULL;
    gr_hook_learn(h, (GrFn)p);
    return (void *)h->wrapper;
}

void *gr_dlsym_choose(void *handle, const char *name);
void *gr_dlvsym_choose(void *handle, const char *name, const char *version);

__attribute__((visibility("hidden"), used)) void *gr_dlsym_choose(void *handle, const char *name) {
    return choose(handle, name, NULL);
}

__attribute__((visibility("hidden"), used)) void *gr_dlvsym_choose(void *handle, const char *name,
                                                                   const char *version) {
    return choose(handle, name, version);
}

#if defined(__x86_64__)
// The three arguments are kept on the stack around the call; 8 bytes more align it.
#define TRAMPOLINE(name, choose_fn, real)                                                                    \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                                 \
            "  endbr64\n"                                                                                    \
            "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n"                                                     \
            "  call " choose_fn "\n"                                                                         \
            "  popq %rdx\n  popq %rsi\n  popq %rdi\n"                                                        \
            "  testq %rax, %rax\n  je 1f\n  ret\n"                                                           \
            "1: jmpq *" real "(%rip)\n"                                                                      \
            ".size " name ", .-" name "\n")
TRAMPOLINE("dlsym", "gr_dlsym_choose", "gr_libc_dlsym");
TRAMPOLINE("dlvsym", "gr_dlvsym_choose", "gr_libc_dlvsym");
#elif defined(__aarch64__)
#define TRAMPOLINE(name, choose_fn, real)                                                                    \
    __asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n"                                 \
            "  stp x29, x30, [sp, #-48]!\n  stp x0, x1, [sp, #16]\n  str x2, [sp, #32]\n"                    \
            "  bl " choose_fn "\n"                                                                           \
            "  mov x9, x0\n  ldp x0, x1, [sp, #16]\n  ldr x2, [sp, #32]\n  ldp x29, x30, [sp], #48\n"        \
            "  cbz x9, 1f\n  mov x0, x9\n  ret\n"                                                            \
            "1: adrp x9, " real "\n  ldr x9, [x9, :lo12:" real "]\n  br x9\n"                                \
            ".size " name ", .-" name "\n")
TRAMPOLINE("dlsym", "gr_dlsym_choose", "gr_libc_dlsym");
TRAMPOLINE("dlvsym", "gr_dlvsym_choose", "gr_libc_dlvsym");
#else
#error "dl.c: no trampoline for this machine"
#endif
