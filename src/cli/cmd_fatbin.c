// SPDX-License-Identifier: Apache-2.0
// gpurace fatbin — what device code a file holds, and its PTX written out.
#include "base/own.h"
#include "base/str.h"
#include "cli/commands.h"
#include "fatbin/cubin.h"
#include "fatbin/elf.h"
#include "fatbin/file.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *kind_name(const FatbinEntry *e, char buf[16]) {
    if (e->kind == FATBIN_PTX)
        return "PTX";
    if (e->kind == FATBIN_CUBIN)
        return "cubin";
    snprintf(buf, 16, "kind %u", e->kind_raw);
    return buf;
}

static void print_entry(size_t number, const FatbinEntry *e) {
    char target[GR_FATBIN_TARGET_LEN], kind[16], version[16] = "-";
    if (e->kind == FATBIN_PTX)
        snprintf(version, sizeof version, "%u.%u", e->major, e->minor);
    printf("%4zu  %-6s %-8s %-5s %-7s %9zu %9zu ", number, kind_name(e, kind), gr_fatbin_target(e, target),
           version, gr_fatbin_packing_name(e->packing), e->size, e->packed_size);
    if (e->flags & FATBIN_F_DEBUG)
        fputs(" debug", stdout);
    if (gr_cubin_entry_keeps(e))
        fputs(" keeps PTX", stdout);
    if (e->source)
        printf(" %s", e->source);
    if (e->options) {
        size_t n = strlen(e->options);
        while (n && e->options[n - 1] == ' ')
            n--;
        printf(" [%.*s]", (int)n, e->options + strspn(e->options, " "));
    }
    putchar('\n');
}

// A program's first line says how it will meet gpurace run.
static void print_head(const char *path, ImageKind image) {
    ExeInfo x;
    if (image != IMAGE_ELF || gr_elf_classify(path, true, &x, NULL) != GR_OK || x.kind == EXE_FOREIGN) {
        printf("%s\n", path);
        return;
    }
    printf("%s: %s", path, gr_exe_kind_name(x.kind));
    if (x.kind == EXE_SHARED_RUNTIME)
        printf(" (%s)", x.runtime);
    if (strcmp(x.culprit, path) != 0)
        printf(", through %s", x.culprit);
    putchar('\n');
}

// Where a container was found, on a line of its own; nothing where the file is the container.
static void print_place(const FatbinPlace *p) {
    if (p->member)
        printf("%s: ", p->member);
    if (*p->section)
        puts(p->section);
}

// Returns how many entries are PTX, or machine code that keeps some.
static size_t list_file(const char *path, const FatbinFile *f) {
    size_t number = 0, ptx = 0;
    print_head(path, f->image);
    printf("%4s  %-6s %-8s %-5s %-7s %9s %9s  %s\n", "", "kind", "target", "ISA", "packing", "size", "stored",
           "source [options]");
    for (size_t i = 0; i < f->count; i++) {
        const Fatbin *fb = f->places[i].fatbin;
        print_place(&f->places[i]);
        for (size_t k = 0; k < fb->count; k++) {
            print_entry(++number, &fb->entries[k]);
            ptx += fb->entries[k].kind == FATBIN_PTX || gr_cubin_entry_keeps(&fb->entries[k]);
        }
    }
    return ptx;
}

static size_t count_entries(const FatbinFile *f) {
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++)
        n += f->places[i].fatbin->count;
    return n;
}

// `kept` is the number of PTX that machine code keeps, from 1; 0: the entry is PTX itself.
static gr_status write_ptx(const char *path, const char *dir, size_t number, size_t kept,
                           const FatbinEntry *e, gr_error *err) {
    gr_status st = GR_OK;
    char target[GR_FATBIN_TARGET_LEN], *text = NULL;
    StrBuf name = {0}, marked = {0};
    size_t len = 0;
    gr_str_addf(&name, "%s/%s.%zu.%s", dir, base_name(path), number, gr_fatbin_target(e, target));
    if (kept)
        gr_str_addf(&name, ".kept%zu", kept);
    gr_str_add(&name, ".ptx");
    GR_TRY(!name.oom ? GR_OK : gr_no_memory(err));
    GR_TRY(gr_fatbin_ptx(e, &text, &len, err));
    gr_str_addn(&marked, text, len);
    gr_str_addf(&marked, "%s" GR_OWN_PTX_LINE "taken from %s\n", len && text[len - 1] == '\n' ? "" : "\n",
                base_name(path));
    GR_TRY(marked.oom ? gr_no_memory(err)
                      : gr_own_write(name.data, GR_OWN_PTX, marked.data, marked.len, err));
    printf("wrote %s\n", name.data);
done:
    free(text);
    gr_str_free(&name);
    gr_str_free(&marked);
    return st;
}

// What machine code keeps.
static gr_status write_kept(const char *path, const char *dir, size_t number, const FatbinEntry *e,
                            gr_error *err) {
    gr_status st = GR_OK;
    char *code = NULL;
    size_t len, left, kept = 0;
    Arena arena;
    gr_arena_init(&arena);
    GR_TRY(gr_fatbin_unpack(e, &code, &len, err));
    const void *at = gr_cubin_kept(code, len, &left);
    for (Fatbin *fb; at && (fb = gr_cubin_next_kept(&at, &left, &arena));)
        for (size_t k = 0; k < fb->count; k++)
            if (fb->entries[k].kind == FATBIN_PTX)
                GR_TRY(write_ptx(path, dir, number, ++kept, &fb->entries[k], err));
done:
    free(code);
    gr_arena_free(&arena);
    return st;
}

static gr_status extract_file(const char *path, const char *dir, const FatbinFile *f, gr_error *err) {
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return gr_fail(err, GR_ERR_IO, "%s: %s", dir, strerror(errno));
    size_t number = 0;
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->places[i].fatbin->count; k++) {
            const FatbinEntry *e = &f->places[i].fatbin->entries[k];
            number++;
            gr_error why;
            gr_status st = e->kind == FATBIN_PTX     ? write_ptx(path, dir, number, 0, e, &why)
                           : e->kind == FATBIN_CUBIN ? write_kept(path, dir, number, e, &why)
                                                     : GR_OK;
            if (st != GR_OK)
                return gr_fail(err, st, "%s: entry %zu: %.380s", path, number, why.msg);
        }
    return GR_OK;
}

// The device code may sit in a library.
static gr_status fail_empty(const char *path, const FatbinFile *f, gr_error *err) {
    ExeInfo x;
    if (f->image == IMAGE_ELF && gr_elf_classify(path, true, &x, NULL) == GR_OK && x.has_device_code)
        return gr_fail(err, GR_ERR_NOT_FOUND,
                       "%s: no CUDA device code in it, but in libraries that it needs, such as %.300s", path,
                       x.culprit);
    return gr_fail(err, GR_ERR_NOT_FOUND, "%s: no CUDA device code in it", path);
}

static gr_status run(const char *path, const char *dir, gr_error *err) {
    gr_status st = GR_OK;
    Arena arena;
    FatbinFile f = {0};
    gr_arena_init(&arena);
    GR_TRY(gr_fatbin_open(path, &arena, &f, err));
    if (count_entries(&f) == 0)
        GR_TRY(fail_empty(path, &f, err));
    size_t ptx = list_file(path, &f);
    if (ptx == 0)
        puts("No PTX: gpurace cannot check this device code. Compile it with PTX, as nvcc does unless "
             "-gencode says"
             " code=sm_NN alone.");
    if (dir && ptx == 0)
        st = gr_fail(err, GR_ERR_NOT_FOUND, "%s: no PTX to extract, only compiled code (cubin)", path);
    else if (dir)
        st = extract_file(path, dir, &f, err);
done:
    gr_fatbin_close(&f);
    gr_arena_free(&arena);
    return st;
}

int gr_cmd_fatbin(int argc, char **argv) {
    static const struct option options[] = {
        {"extract-ptx", required_argument, NULL, 'x'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const char *dir = NULL;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case 'x': dir = optarg; break;
        case 'h': return gr_print_help("fatbin", stdout);
        default: return gr_print_help("fatbin", stderr);
        }
    }
    if (optind != argc - 1)
        return gr_print_help("fatbin", stderr);
    gr_error err = {0};
    if (run(argv[optind], dir, &err) == GR_OK)
        return 0;
    char text[1024];
    fflush(stdout);
    fprintf(stderr, "gpurace fatbin: %s\n", gr_error_text(&err, text, sizeof text));
    return EXIT_OURS;
}
