// SPDX-License-Identifier: Apache-2.0
// compile — nvcc makes bitcode of the host code and PTX of the kernels, in one run for each file.
//
// PTX is of -O0 shape: one access of the source is one access there. The host compiler is clang, whose own passes do not run.
#include "engines/verifier/host/host.h"
#include "engines/verifier/host/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Job {
    Arena arena;
    GrTerms *t;
    const GrHostInput *in;
    GrHost *out;
    GrHostCode *code;
    const char *nvcc, *clang;
    const char *arch;       // "90"
    const char *shape[2];   // what makes PTX of -O0 shape; [1] may be NULL
    VEC(const char *) user; // the words that are passed on
    VEC(const char *) bitcode;
    char folder[512];
} Job;

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "compiling"); }

// ---- The user's words ----------------------------------------------------------------------------------------------------------

// What of the user's words is decided here: with a value in the next word, or without one.
static const char *const with_value[] = {"-o",
                                         "--output-file",
                                         "-ccbin",
                                         "--compiler-bindir",
                                         "-odir",
                                         "--output-directory",
                                         "-keep-dir",
                                         "--keep-dir",
                                         "-MF",
                                         "-dlto-dir",
                                         "-MT",
                                         "-Xptxas",
                                         "--ptxas-options",
                                         "-Xnvlink",
                                         "--nvlink-options",
                                         "-Xlinker",
                                         "--linker-options",
                                         "-t",
                                         "--threads"};
static const char *const alone[] = {"-c",
                                    "--compile",
                                    "-dc",
                                    "--device-c",
                                    "-dw",
                                    "-ptx",
                                    "--ptx",
                                    "-cubin",
                                    "--cubin",
                                    "-fatbin",
                                    "--fatbin",
                                    "-dlink",
                                    "--device-link",
                                    "-link",
                                    "--link",
                                    "-lib",
                                    "--lib",
                                    "-run",
                                    "--run",
                                    "-G",
                                    "--device-debug",
                                    "-lineinfo",
                                    "--generate-line-info",
                                    "-lto",
                                    "-dlto",
                                    "--dlink-time-opt",
                                    "-MMD",
                                    "-MD",
                                    "-keep",
                                    "--keep",
                                    "-E",
                                    "--preprocess",
                                    "-M",
                                    "-MM",
                                    "-dryrun",
                                    "--dryrun"};
static const char *const arches[] = {"-arch", "--gpu-architecture", "-gencode", "--generate-code",
                                     "-code", "--gpu-code"};
#define COUNT(a) (sizeof(a) / sizeof *(a))

// Whether the word is one of those, or begins with one and "=".
static bool is_one(const char *word, const char *const *of, size_t n) {
    for (size_t k = 0; k < n; k++) {
        size_t len = strlen(of[k]);
        if (!strncmp(word, of[k], len) && (!word[len] || word[len] == '='))
            return true;
    }
    return false;
}

// The newest architecture in "compute_80", "arch=compute_90a,code=sm_90a", "sm_75".
static gr_status see_arch(Job *j, const char *text, gr_error *err) {
    while ((text = strpbrk(text, "sc"))) {
        size_t skip = !strncmp(text, "sm_", 3) ? 3 : !strncmp(text, "compute_", 8) ? 8 : 0;
        if (!skip) {
            text++;
            continue;
        }
        text += skip;
        size_t digits = strspn(text, "0123456789"), len = digits + strspn(text + digits, "af");
        if (digits && (!j->arch || atoi(text) > atoi(j->arch)) &&
            !(j->arch = gr_arena_strndup(&j->arena, text, len)))
            return no_memory(err);
    }
    return GR_OK;
}

static gr_status sort_words(Job *j, gr_error *err) {
    gr_status st = GR_OK;
    bool ndebug = false;
    for (size_t k = 0; k < j->in->n_words && st == GR_OK; k++) {
        const char *word = j->in->words[k], *next = k + 1 < j->in->n_words ? j->in->words[k + 1] : "";
        bool joined = strchr(word, '=') != NULL;
        if (is_one(word, arches, COUNT(arches))) {
            st = see_arch(j, joined ? word : next, err);
            k += !joined;
            continue;
        }
        if (is_one(word, with_value, COUNT(with_value))) {
            k += !joined;
            continue;
        }
        if (is_one(word, alone, COUNT(alone)) || !strncmp(word, "-l", 2) || !strncmp(word, "-L", 2) ||
            !strncmp(word, "--Ofast-compile", 15) || !strncmp(word, "-Ofc", 4))
            continue;
        ndebug |= !strcmp(word, "-DNDEBUG") || !strncmp(word, "-DNDEBUG=", 9) ||
                  (!strcmp(word, "-D") && (!strcmp(next, "NDEBUG") || !strncmp(next, "NDEBUG=", 7)));
        if (!gr_vec_push(&j->user, word))
            st = no_memory(err);
    }
    if (st == GR_OK && !j->arch)
        j->arch = "90"; // what the CPU device has: code for older architectures alone is not looked at
    if (st == GR_OK && ndebug &&
        !gr_vec_push(&j->out->remarks, "compiled with -DNDEBUG: what the program asserts is not known"))
        st = no_memory(err);
    return st;
}

// ---- nvcc ------------------------------------------------------------------------------------------------------------------------

static void push_words(ToolWords *w, const char *const *words, size_t n, bool *ok) {
    for (size_t k = 0; k < n; k++)
        *ok = *ok && words[k] && gr_vec_push(&w->words, words[k]);
}

// One run of nvcc. `bitcode`: with clang, for both; else PTX alone.
static gr_status run_nvcc(Job *j, const char *file, const char *folder, bool bitcode, bool quiet, int *status,
                          char **typed, gr_error *err) {
    ToolWords w = {0};
    bool ok = true;
    Arena *a = &j->arena;
    const char *gencode = gr_arena_printf(a, "arch=compute_%s,code=compute_%s", j->arch, j->arch);
    const char *out = gr_arena_printf(a, "%s/%s", folder, bitcode ? "host.bc" : "kernels.ptx");
    const char *const first[] = {j->nvcc, "-gencode", gencode, "-lineinfo"};
    push_words(&w, first, COUNT(first), &ok);
    push_words(&w, j->shape, j->shape[1] ? 2 : 1, &ok);
    push_words(&w, j->user.data, j->user.len, &ok);
    if (bitcode) {
        const char *const host[] = {
            "-ccbin",
            j->clang,
            "--keep",
            "--keep-dir",
            folder,
            "-c",
            "-Xcompiler=-emit-llvm,-g,-O1,-fwrapv,-fno-discard-value-names,-Xclang,-disable-llvm-passes"};
        push_words(&w, host, COUNT(host), &ok);
    } else {
        push_words(&w, (const char *const[]){"-ptx"}, 1, &ok);
    }
    push_words(&w, (const char *const[]){file, "-o", out}, 3, &ok);
    gr_status st = ok ? gr_tool_run(&w, quiet, status, err) : no_memory(err);
    if (st == GR_OK) {
        StrBuf text = {0};
        gr_tool_print(&w, &text);
        *typed = text.oom ? NULL : gr_arena_strdup(a, text.data);
        gr_str_free(&text);
    }
    gr_vec_free(&w.words);
    return st;
}

// Whether this nvcc takes -Xcicc -O0, which its documentation does not have. Asked when a file does not compile.
static gr_status choose_shape(Job *j, bool *other, gr_error *err) {
    const char *probe = gr_arena_printf(&j->arena, "%s/probe.cu", j->folder);
    int status = 0;
    char *typed;
    if (!probe)
        return no_memory(err);
    *other = false;
    if (!j->shape[1])
        return GR_OK;
    gr_status st = gr_file_write(probe, "__global__ void k() {}\n", 23, err);
    if (st == GR_OK)
        st = run_nvcc(j, probe, j->folder, false, true, &status, &typed, err);
    if (st == GR_OK && status) {
        *other = true;
        j->shape[0] = "--Ofast-compile=max";
        j->shape[1] = NULL;
    }
    return st;
}

static gr_status keep_ptx(Job *j, const char *file, const char *folder, bool bitcode, gr_error *err) {
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    const char *path = bitcode ? gr_arena_printf(&j->arena, "%s/%.*s.ptx", folder,
                                                 (int)(dot ? dot - name : (long)strlen(name)), name)
                               : gr_arena_printf(&j->arena, "%s/kernels.ptx", folder);
    GrHostPtx ptx = {.file = gr_arena_strdup(&j->out->arena, file)};
    if (!path || !ptx.file)
        return no_memory(err);
    if (access(path, F_OK) != 0) // host code alone
        return GR_OK;
    gr_status st = gr_file_read(path, &ptx.text, &ptx.len, err);
    if (st == GR_OK && !gr_vec_push(&j->code->ptx, ptx)) {
        free(ptx.text);
        st = no_memory(err);
    }
    return st;
}

static gr_status add_reason(Job *j, char *text, gr_error *err) {
    return text && gr_vec_push(&j->out->reasons, text) ? GR_OK : no_memory(err);
}

static gr_status compile(Job *j, size_t k, gr_error *err) {
    const char *file = j->in->files[k];
    const char *folder = gr_arena_printf(&j->arena, "%s/%zu", j->folder, k);
    int status = 1;
    char *typed = NULL;
    gr_status st = GR_OK;
    if (!folder)
        return no_memory(err);
    const char *bc = gr_arena_printf(&j->arena, "%s/host.bc", folder);
    if (!bc)
        return no_memory(err);
    if (mkdir(folder, 0700) != 0)
        return gr_fail(err, GR_ERR_IO, "%s: %s", folder, strerror(errno));
    if (j->clang) {
        GR_TRY(run_nvcc(j, file, folder, true, false, &status, &typed, err));
        if (status) {
            bool other;
            GR_TRY(choose_shape(j, &other, err));
            if (other)
                GR_TRY(run_nvcc(j, file, folder, true, false, &status, &typed, err));
        }
        if (!status && !gr_vec_push(&j->bitcode, bc))
            return no_memory(err);
    }
    bool bitcode = status == 0;
    if (!bitcode) {
        // Quiet where it was tried with clang, which has said what is wrong.
        GR_TRY(run_nvcc(j, file, folder, false, j->clang != NULL, &status, &typed, err));
        if (status)
            return gr_fail(err, GR_ERR_ARGUMENT, "%s: nvcc failed with status %d: %s", file, status,
                           typed ? typed : "");
        if (j->clang)
            GR_TRY(add_reason(
                j,
                gr_arena_printf(&j->out->arena,
                                "%s: clang does not compile its host code: nothing is known of its launches",
                                file),
                err));
    }
    st = keep_ptx(j, file, folder, bitcode, err);
done:
    return st;
}

static gr_status read_host_code(Job *j, gr_error *err) {
    gr_status st = gr_host_read(j->t, j->bitcode.data, j->bitcode.len, j->in->classes, j->out, err);
    if (st != GR_ERR_UNSUPPORTED && st != GR_ERR_FORMAT)
        return st;
    return add_reason(j,
                      gr_arena_printf(&j->out->arena, "%s: nothing is known of launches",
                                      err ? err->msg : gr_status_name(st)),
                      err);
}

gr_status gr_host_facts(GrTerms *t, const GrHostInput *in, GrHost *out, GrHostCode *code, gr_error *err) {
    gr_status st = GR_OK;
    gr_error why = {0};
    Job j = {.t = t, .in = in, .out = out, .code = code, .shape = {"-Xcicc", "-O0"}};
    gr_host_init(out);
    *code = (GrHostCode){0};
    gr_arena_init(&j.arena);
    GR_TRY(gr_tool_folder(j.folder, sizeof j.folder, err));
    if (!(j.nvcc = gr_tool_nvcc(&j.arena))) {
        st = gr_fail(err, GR_ERR_NOT_FOUND,
                     "nvcc was not found in $CUDA_HOME, on PATH and in /usr/local/cuda");
        goto done;
    }
    if (!in->kernels_only && !(j.clang = gr_tool_clang(&j.arena)))
        GR_TRY(add_reason(
            &j,
            gr_arena_strdup(
                &out->arena,
                "clang++-19 was not found (Debian package clang-19): nothing is known of launches"),
            err));
    GR_TRY(sort_words(&j, err));
    for (size_t k = 0; k < in->n_files; k++)
        GR_TRY(compile(&j, k, err));
    if (!in->kernels_only)
        GR_TRY(read_host_code(&j, &why));
done:
    if (st != GR_OK && why.msg[0] && err)
        *err = why;
    if (*j.folder)
        gr_tool_remove(j.folder);
    gr_vec_free(&j.user);
    gr_vec_free(&j.bitcode);
    gr_arena_free(&j.arena);
    return st;
}
