// SPDX-License-Identifier: Apache-2.0
// compile — nvcc makes bitcode of the host code and PTX of the kernels, in one run for each file.
//
// PTX is of -O0 shape: one access of the source is one access there. The host compiler is clang without its passes.
#include "base/own.h"
#include "engines/verifier/host/host.h"
#include "engines/verifier/host/tool.h"
#include "engines/verifier/host/words.h"

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
    const char *shape[2];      // what makes PTX of -O0 shape; [1] may be NULL
    VEC(const char *) bitcode; // of each source; NULL: there is none
    bool ndebug;
    char folder[PATH_MAX];
} Job;

#define COUNT(a) (sizeof(a) / sizeof *(a))

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "compiling"); }

// ---- nvcc -----------------------------------------------------------------------------------------------------------

static void push_words(ToolWords *w, const char *const *words, size_t n, bool *ok) {
    for (size_t k = 0; k < n; k++)
        *ok = *ok && words[k] && gr_vec_push(&w->words, words[k]);
}

static gr_status run(Job *j, ToolWords *w, bool ok, bool quiet, int *status, char **typed, gr_error *err) {
    gr_status st = ok ? gr_tool_run(w, quiet, status, err) : no_memory(err);
    if (st == GR_OK) {
        StrBuf text = {0};
        gr_tool_print(w, &text);
        *typed = text.oom ? NULL : gr_arena_strdup(&j->arena, text.data);
        gr_str_free(&text);
    }
    gr_vec_free(&w->words);
    return st;
}

// One run of nvcc. `bitcode`: with clang, for both; else PTX alone.
static gr_status run_nvcc(Job *j, const GrHostSource *s, const Words *words, const char *folder, bool bitcode,
                          bool quiet, int *status, char **typed, gr_error *err) {
    ToolWords w = {.folder = s->folder};
    bool ok = true;
    Arena *a = &j->arena;
    const char *gencode = gr_arena_printf(a, "arch=compute_%s,code=compute_%s", words->arch, words->arch);
    const char *out = gr_arena_printf(a, "%s/%s", folder, bitcode ? "host.bc" : "kernels.ptx");
    const char *const first[] = {j->nvcc, "-gencode", gencode, "-lineinfo"};
    push_words(&w, first, COUNT(first), &ok);
    push_words(&w, j->shape, j->shape[1] ? 2 : 1, &ok);
    push_words(&w, words->user.data, words->user.len, &ok);
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
    push_words(&w, (const char *const[]){s->file, "-o", out}, 3, &ok);
    return run(j, &w, ok, quiet, status, typed, err);
}

// *other: this nvcc does not take -Xcicc -O0, which its documentation lacks. Asked when a file does not compile.
static gr_status choose_shape(Job *j, const char *arch, bool *other, gr_error *err) {
    const char *probe = gr_arena_printf(&j->arena, "%s/probe.cu", j->folder);
    int status = 0;
    char *typed;
    GR_NEED_OR(probe, no_memory(err));
    *other = false;
    if (!j->shape[1])
        return GR_OK;
    gr_status st = gr_own_write(probe, GR_OWN_SCRATCH, "__global__ void k() {}\n", 23, err);
    if (st == GR_OK)
        st = run_nvcc(j, &(GrHostSource){.file = probe}, &(Words){.arch = arch}, j->folder, false, true,
                      &status, &typed, err);
    if (st == GR_OK && status) {
        *other = true;
        j->shape[0] = "--Ofast-compile=max";
        j->shape[1] = NULL;
    }
    return st;
}

static gr_status keep_ptx(Job *j, size_t source, bool relocatable, const char *folder, bool bitcode,
                          gr_error *err) {
    const char *file = j->in->sources[source].file;
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    const char *path = bitcode ? gr_arena_printf(&j->arena, "%s/%.*s.ptx", folder,
                                                 (int)(dot ? dot - name : (long)strlen(name)), name)
                               : gr_arena_printf(&j->arena, "%s/kernels.ptx", folder);
    GrHostPtx ptx = {
        .file = gr_arena_strdup(&j->out->arena, file), .source = source, .relocatable = relocatable};
    GR_NEED_OR(path && ptx.file, no_memory(err));
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

static gr_status nothing_known(Job *j, const char *file, gr_error *err) {
    return add_reason(
        j,
        gr_arena_printf(&j->out->arena,
                        "%s: clang does not compile its host code: nothing is known of its launches", file),
        err);
}

// Compiles a source without kernels. Its words need not be clang's: what clang refuses becomes a reason.
static gr_status compile_host(Job *j, const GrHostSource *s, const char *bc, gr_error *err) {
    static const char *const shape[] = {"-c",
                                        "-w",
                                        "-emit-llvm",
                                        "-g",
                                        "-O1",
                                        "-fwrapv",
                                        "-fno-discard-value-names",
                                        "-Xclang",
                                        "-disable-llvm-passes"};
    Words words = {0};
    ToolWords w = {.folder = s->folder};
    bool ok = true;
    int status = 1;
    char *typed;
    gr_status st = GR_OK;
    if (j->clang) {
        GR_TRY(gr_words_sort_host(s->words, s->n_words, &words, err));
        push_words(&w, (const char *const[]){j->clang}, 1, &ok);
        push_words(&w, words.user.data, words.user.len, &ok);
        push_words(&w, shape, COUNT(shape), &ok);
        if (s->c)
            push_words(&w, (const char *const[]){"-x", "c"}, 2, &ok);
        push_words(&w, (const char *const[]){s->file, "-o", bc}, 3, &ok);
        GR_TRY(run(j, &w, ok, false, &status, &typed, err));
        j->ndebug |= words.ndebug;
    }
    if (status == 0)
        j->bitcode.data[j->bitcode.len - 1] = bc;
    else if (j->clang)
        GR_TRY(nothing_known(j, s->file, err));
done:
    gr_words_free(&words);
    return st;
}

static gr_status compile_cuda(Job *j, size_t source, const char *folder, const char *bc, gr_error *err) {
    const GrHostSource *s = &j->in->sources[source];
    Words words;
    int status = 1;
    char *typed = NULL;
    gr_status st = GR_OK;
    GR_TRY(gr_words_sort(&j->arena, s->words, s->n_words, &words, err));
    j->ndebug |= words.ndebug;
    if (j->clang) {
        GR_TRY(run_nvcc(j, s, &words, folder, true, false, &status, &typed, err));
        if (status) {
            bool other;
            GR_TRY(choose_shape(j, words.arch, &other, err));
            if (other)
                GR_TRY(run_nvcc(j, s, &words, folder, true, false, &status, &typed, err));
        }
        if (!status)
            j->bitcode.data[j->bitcode.len - 1] = bc;
    }
    bool bitcode = status == 0;
    if (!bitcode) {
        // Quiet where it was tried with clang, which has said what is wrong.
        GR_TRY(run_nvcc(j, s, &words, folder, false, j->clang != NULL, &status, &typed, err));
        if (status) {
            const char *text = gr_arena_printf(
                &j->out->arena,
                "%s: nvcc does not compile it (status %d), and says why on standard error: nothing of "
                "it was checked; correct it, or name behind -- what nvcc lacks. What was tried: %s",
                s->file, status, typed ? typed : "");
            st = text && gr_vec_push(&j->out->unread, text) ? GR_OK : no_memory(err);
            goto done;
        }
        if (j->clang)
            GR_TRY(nothing_known(j, s->file, err));
    }
    st = keep_ptx(j, source, words.relocatable, folder, bitcode, err);
done:
    gr_words_free(&words);
    return st;
}

static gr_status compile(Job *j, size_t k, gr_error *err) {
    const GrHostSource *s = &j->in->sources[k];
    const char *folder = gr_arena_printf(&j->arena, "%s/%zu", j->folder, k);
    const char *bc = gr_arena_printf(&j->arena, "%s/%zu/host.bc", j->folder, k);
    GR_NEED_OR(folder && bc && gr_vec_push(&j->bitcode, NULL), no_memory(err));
    if (s->host_only && j->in->kernels_only)
        return GR_OK;
    if (mkdir(folder, 0700) != 0)
        return gr_fail(err, GR_ERR_IO, "%s: %s", folder, strerror(errno));
    return s->host_only ? compile_host(j, s, bc, err) : compile_cuda(j, k, folder, bc, err);
}

// ---- Programs -------------------------------------------------------------------------------------------------------

// Adds a program of sources[0..n), without those with `skip[k]`.
static gr_status add_program(Job *j, const size_t *sources, size_t n, const bool *skip, gr_error *err) {
    size_t *in = GR_NEW_ARRAY(&j->out->arena, size_t, n + 1), left = 0;
    GR_NEED_OR(in, no_memory(err));
    for (size_t k = 0; k < n; k++)
        if (!skip[k])
            in[left++] = sources[k];
    return gr_vec_push(&j->code->programs, ((GrHostProgram){in, left})) ? GR_OK : no_memory(err);
}

// Adds these sources as one program; or, if several have a main, each of these with all that have none.
static gr_status add_programs(Job *j, const size_t *sources, size_t n, gr_error *err) {
    gr_status st = GR_OK;
    bool *mains = GR_NEW_ARRAY(&j->arena, bool, n + 1);
    size_t n_mains = 0;
    GR_NEED_OR(mains, no_memory(err));
    for (size_t k = 0; k < n && st == GR_OK; k++) {
        const char *bc = j->bitcode.data[sources[k]];
        st = bc ? gr_host_has_main(bc, &mains[k], err) : GR_OK;
        st = st == GR_ERR_FORMAT ? GR_OK : st; // gr_host_read() will refuse the file, and a reason names it
        n_mains += mains[k];
    }
    if (st == GR_OK && n_mains <= 1) {
        memset(mains, 0, n * sizeof *mains);
        return add_program(j, sources, n, mains, err);
    }
    for (size_t k = 0, seen = 0; k < n && seen < n_mains && st == GR_OK; k++) {
        if (!mains[k])
            continue;
        mains[k] = false; // the others are left out
        st = add_program(j, sources, n, mains, err);
        mains[k] = true;
        seen++;
    }
    return st;
}

static gr_status find_programs(Job *j, gr_error *err) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < j->in->n_programs && st == GR_OK; k++)
        st = add_programs(j, j->in->programs[k].sources, j->in->programs[k].n, err);
    if (j->in->n_programs || st != GR_OK)
        return st;
    size_t *all = GR_NEW_ARRAY(&j->arena, size_t, j->in->n_sources + 1);
    GR_NEED_OR(all, no_memory(err));
    for (size_t k = 0; k < j->in->n_sources; k++)
        all[k] = k;
    return add_programs(j, all, j->in->n_sources, err);
}

// The host code of a program.
static gr_status read_program(Job *j, const GrHostProgram *p, gr_error *err) {
    VEC(const char *) files = {0};
    gr_status st = GR_OK;
    gr_error why = {0};
    for (size_t k = 0; k < p->n && st == GR_OK; k++) {
        const char *bc = j->bitcode.data[p->sources[k]];
        if (bc && !gr_vec_push(&files, bc))
            st = no_memory(err);
    }
    if (st == GR_OK)
        st = gr_host_read(j->t, files.data, files.len, j->in->classes, j->out, &why);
    if (st == GR_ERR_UNSUPPORTED || st == GR_ERR_FORMAT)
        st = add_reason(j, gr_arena_printf(&j->out->arena, "%s: nothing is known of launches", why.msg), err);
    else if (st != GR_OK && why.msg[0] && err)
        *err = why;
    gr_vec_free(&files);
    return st;
}

static gr_status read_host_code(Job *j, gr_error *err) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < j->code->programs.len && st == GR_OK; k++) {
        j->out->program = k;
        st = read_program(j, &j->code->programs.data[k], err);
    }
    return st;
}

gr_status gr_host_facts(GrTerms *t, const GrHostInput *in, GrHost *out, GrHostCode *code, gr_error *err) {
    gr_status st = GR_OK;
    Job j = {.t = t, .in = in, .out = out, .code = code, .shape = {"-Xcicc", "-O0"}};
    gr_host_init(out);
    *code = (GrHostCode){0};
    gr_arena_init(&j.arena);
    GR_TRY(gr_own_folder(j.folder, "check", err));
    if (!(j.nvcc = gr_tool_nvcc(&j.arena)))
        GR_TRY(gr_fail(err, GR_ERR_NOT_FOUND,
                       "nvcc was not found in $CUDA_HOME, on PATH and in /usr/local/cuda"));
    if (!in->kernels_only && !(j.clang = gr_tool_clang(&j.arena)))
        GR_TRY(add_reason(
            &j,
            gr_arena_strdup(
                &out->arena,
                "clang++-19 was not found (Debian package clang-19): nothing is known of launches"),
            err));
    for (size_t k = 0; k < in->n_sources; k++)
        GR_TRY(compile(&j, k, err));
    if (j.ndebug &&
        !gr_vec_push(&out->remarks, "compiled with -DNDEBUG: what the program asserts is not known"))
        GR_TRY(no_memory(err));
    GR_TRY(find_programs(&j, err));
    if (!in->kernels_only)
        GR_TRY(read_host_code(&j, err));
done:
    if (*j.folder)
        (void)gr_own_remove_folder(j.folder, NULL);
    gr_vec_free(&j.bitcode);
    gr_arena_free(&j.arena);
    return st;
}
