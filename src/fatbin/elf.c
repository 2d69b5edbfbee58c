// SPDX-License-Identifier: Apache-2.0
// elf — classification of programs. A breadth-first walk over the program and the libraries that it needs. It gathers
// three facts of each file (struct Facts), and the first file that shows a way of using CUDA decides.
#include "fatbin/elf.h"

#include "fatbin/elfscan.h"
#include "fatbin/libpath.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 128 }; // looked at per program; the rest is left unseen

typedef struct Facts {
    bool device_code;  // fatbin sections
    bool runtime_in;   // NVIDIA's CUDA runtime is linked in
    bool needs_driver; // DT_NEEDED libcuda.so.1, or its name where dlopen would be given it
    bool is_runtime;   // it is a libcudart.so itself
    char runtime[64];  // DT_NEEDED libcudart.so.N
} Facts;

typedef struct Walk {
    char *paths[MAX_FILES];
    size_t count;
} Walk;

static bool starts_with(const char *s, const char *prefix) { return strncmp(s, prefix, strlen(prefix)) == 0; }

static bool has_text(const void *data, size_t len, const char *text) {
    return data && memmem(data, len, text, strlen(text)) != NULL;
}

// Whether symbol table `s` has `name`, and whether it is defined there.
static bool find_symbol(Elf *elf, Elf_Scn *s, const char *name, bool *defined) {
    GElf_Shdr sh;
    Elf_Data *d = elf_getdata(s, NULL);
    if (!d || !gelf_getshdr(s, &sh) || sh.sh_entsize == 0)
        return false;
    GElf_Sym sym;
    for (int i = 0; gelf_getsym(d, i, &sym); i++) {
        const char *n = elf_strptr(elf, sh.sh_link, sym.st_name);
        if (n && strcmp(n, name) == 0) {
            *defined = sym.st_shndx != SHN_UNDEF;
            return true;
        }
    }
    return false;
}

// The runtime inside of a program: its registration function is defined there; where symbols were stripped, the names
// of errors that only a runtime's table holds, together with the driver's entry point it looks up, give it away.
static bool embeds_runtime(Elf *elf) {
    bool defined = false, names = false, lookup = false;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr sh;
        if (!gelf_getshdr(s, &sh))
            continue;
        if ((sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
            find_symbol(elf, s, "__cudaRegisterFatBinary", &defined))
            return defined;
        if (strcmp(gr_elf_section_name(elf, s), ".rodata") == 0) {
            size_t len;
            const void *data = gr_elf_bytes(s, &len);
            names |= has_text(data, len, "cudaErrorCudartUnloading");
            lookup |= has_text(data, len, "cuGetProcAddress_v2");
        }
    }
    return names && lookup;
}

static bool opens_driver(Elf *elf) {
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        size_t len;
        if (strcmp(gr_elf_section_name(elf, s), ".rodata") != 0)
            continue;
        const void *data = gr_elf_bytes(s, &len);
        if (has_text(data, len, "libcuda.so"))
            return true;
    }
    return false;
}

// Adds the libraries that `path` needs to the walk, and notes those that say how it uses CUDA.
static void read_dynamic(Elf *elf, const char *path, Walk *w, Facts *f) {
    const char *needed[256], *rpath = NULL, *runpath = NULL;
    size_t n = 0;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr sh;
        if (!gelf_getshdr(s, &sh) || sh.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *d = elf_getdata(s, NULL);
        GElf_Dyn dyn;
        for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
            if (dyn.d_tag != DT_NEEDED && dyn.d_tag != DT_RPATH && dyn.d_tag != DT_RUNPATH &&
                dyn.d_tag != DT_SONAME)
                continue;
            const char *text = elf_strptr(elf, sh.sh_link, dyn.d_un.d_val);
            if (!text)
                continue;
            switch (dyn.d_tag) {
            case DT_RPATH: rpath = text; break;
            case DT_RUNPATH: runpath = text; break;
            case DT_SONAME: f->is_runtime |= starts_with(text, "libcudart.so"); break;
            default:
                if (n < sizeof needed / sizeof needed[0])
                    needed[n++] = text;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        char found[PATH_MAX];
        if (starts_with(needed[i], "libcudart.so"))
            snprintf(f->runtime, sizeof f->runtime, "%s", needed[i]);
        else if (strcmp(needed[i], "libcuda.so.1") == 0)
            f->needs_driver = true;
        else if (w->count < MAX_FILES && gr_libpath_find(needed[i], path, rpath, runpath, found)) {
            bool seen = false;
            for (size_t k = 0; k < w->count; k++)
                seen |= strcmp(w->paths[k], found) == 0;
            if (!seen && (w->paths[w->count] = strdup(found)))
                w->count++;
        }
    }
}

static void gather(Elf *elf, const char *path, Walk *w, Facts *f) {
    *f = (Facts){0};
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        f->device_code |= gr_elf_is_fatbin_section(gr_elf_section_name(elf, s));
    read_dynamic(elf, path, w, f);
    if (f->is_runtime) // what a runtime itself holds says nothing of the program
        return;
    f->runtime_in = embeds_runtime(elf);
    if (!f->runtime_in && !f->runtime[0] && !f->needs_driver)
        f->needs_driver = opens_driver(elf);
}

static ExeKind kind_of(const Facts *f) {
    if (f->runtime_in)
        return EXE_STATIC_RUNTIME;
    if (f->runtime[0])
        return EXE_SHARED_RUNTIME;
    return f->needs_driver ? EXE_DRIVER_API : EXE_NO_CUDA;
}

static void merge(ExeInfo *out, const char *path, const Facts *f) {
    out->has_device_code |= f->device_code;
    if (f->runtime_in && !out->embeds[0])
        snprintf(out->embeds, sizeof out->embeds, "%s", path);
    ExeKind k = kind_of(f);
    // A library that merely opens the driver (a profiler, hwloc) does not outrank one that holds kernels.
    bool better =
        out->kind == EXE_NO_CUDA || (out->kind == EXE_DRIVER_API && f->device_code && !out->has_device_code);
    if (k == EXE_NO_CUDA || !better)
        return;
    out->kind = k;
    snprintf(out->culprit, sizeof out->culprit, "%s", path);
    snprintf(out->runtime, sizeof out->runtime, "%s", f->runtime);
}

static bool has_runtime(const ExeInfo *x) {
    return x->kind == EXE_SHARED_RUNTIME || x->kind == EXE_STATIC_RUNTIME;
}

// Follows the program's needed libraries. Libraries that cannot be opened are the dynamic linker's to complain about.
static void walk_libraries(Walk *w, bool whole, ExeInfo *out) {
    for (size_t i = 1; i < w->count && (whole || !has_runtime(out)); i++) {
        ElfFile f;
        Facts facts;
        if (gr_elf_open(w->paths[i], &f, NULL) != GR_OK)
            continue;
        if (elf_kind(f.elf) == ELF_K_ELF) {
            gather(f.elf, w->paths[i], w, &facts);
            merge(out, w->paths[i], &facts);
        }
        gr_elf_close(&f);
    }
}

static bool has_interpreter(Elf *elf) {
    size_t n;
    GElf_Phdr ph;
    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_INTERP)
            return true;
    return false;
}

static uint16_t host_machine(void) {
#if defined __x86_64__
    return EM_X86_64;
#elif defined __aarch64__
    return EM_AARCH64;
#else
    return EM_NONE;
#endif
}

static void read_script(Elf *elf, ExeInfo *out) {
    size_t len;
    const char *s = elf_rawfile(elf, &len);
    out->kind = EXE_NOT_EXECUTABLE;
    if (!s || len < 3 || s[0] != '#' || s[1] != '!')
        return;
    size_t i = 2, n = 0;
    while (i < len && (s[i] == ' ' || s[i] == '\t'))
        i++;
    while (i < len && s[i] != ' ' && s[i] != '\t' && s[i] != '\n' && n + 1 < sizeof out->interpreter)
        out->interpreter[n++] = s[i++];
    out->kind = n ? EXE_SCRIPT : EXE_NOT_EXECUTABLE;
}

gr_status gr_elf_classify(const char *path, bool whole, ExeInfo *out, gr_error *err) {
    gr_status st = GR_OK;
    ElfFile f;
    GElf_Ehdr eh;
    Facts facts;
    Walk w = {0};
    *out = (ExeInfo){.kind = EXE_NO_CUDA};
    snprintf(out->culprit, sizeof out->culprit, "%s", path);
    st = gr_elf_open(path, &f, err);
    if (st != GR_OK)
        return st;
    if (elf_kind(f.elf) != ELF_K_ELF) {
        read_script(f.elf, out);
        goto done;
    }
    if (!gelf_getehdr(f.elf, &eh))
        GR_TRY(gr_fail(err, GR_ERR_FORMAT, "%s: truncated ELF file", path));
    out->machine = eh.e_machine;
    out->shared_object = eh.e_type == ET_DYN;
    if (eh.e_machine != host_machine() || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)) {
        out->kind = EXE_FOREIGN;
        goto done;
    }
    w.paths[0] = strdup(path);
    w.count = w.paths[0] ? 1 : 0;
    gather(f.elf, path, &w, &facts);
    merge(out, path, &facts);
    walk_libraries(&w, whole, out);
    if (eh.e_type == ET_EXEC && !has_interpreter(f.elf))
        out->kind = EXE_STATIC_LIBC;
done:
    for (size_t i = 0; i < w.count; i++)
        free(w.paths[i]);
    gr_elf_close(&f);
    return st;
}

const char *gr_exe_kind_name(ExeKind k) {
    switch (k) {
    case EXE_NOT_EXECUTABLE: return "not an executable";
    case EXE_SCRIPT: return "script";
    case EXE_FOREIGN: return "not a program for this machine";
    case EXE_STATIC_LIBC: return "statically linked program";
    case EXE_NO_CUDA: return "no CUDA";
    case EXE_SHARED_RUNTIME: return "shared CUDA runtime";
    case EXE_STATIC_RUNTIME: return "static CUDA runtime";
    case EXE_DRIVER_API: return "CUDA driver API";
    }
    return "?";
}
