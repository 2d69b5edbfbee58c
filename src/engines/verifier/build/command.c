// SPDX-License-Identifier: Apache-2.0
// command — from the words of a compiler's command to sources and what is made of them.
#include "engines/verifier/build/build.h"
#include "engines/verifier/build/compilers.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

// Options whose value is the next word, and may look like a file.
static const char *const with_value[] = {
    "-I",      "-D",           "-U",  "-include",   "-isystem", "-iquote", "-idirafter", "-imacros",
    "-MF",     "-MT",          "-MQ", "-Xcompiler", "-Xlinker", "-Xptxas", "-ccbin",     "--compiler-bindir",
    "-Xclang", "--pre-include"};
static const char *const compiles[] = {"-c",    "--compile", "-dc",     "--device-c", "-dw",      "-ptx",
                                       "--ptx", "-cubin",    "--cubin", "-fatbin",    "--fatbin", "-S"};
static const char *const makes_no_code[] = {"-E",        "--preprocess",  "-M",  "-MM", "-dryrun", "--dryrun",
                                            "--version", "-fsyntax-only", "-###"};

typedef struct Command {
    GrCompiler compiler;
    const char *folder, *output;
    GrWords words;            // of each source: all but files
    VEC(const char *) inputs; // sources
    bool cuda, c;             // as -x says
    bool compile_only, no_code, device_link;
    GrLink link;
} Command;

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "reading a command"); }

static bool is_in(const char *word, const char *const *list, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (!strcmp(word, list[k]))
            return true;
    return false;
}

static const char *ending(const char *file) {
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    return dot ? dot + 1 : "";
}

static bool is_source(const char *file) {
    static const char *const ends[] = {"cu", "c", "cc", "cpp", "cxx", "cp", "C", "c++"};
    return is_in(ending(file), ends, COUNT(ends));
}

static bool is_linked(const char *file) {
    static const char *const ends[] = {"o", "obj", "a", "so"};
    return is_in(ending(file), ends, COUNT(ends)) || strstr(file, ".so.");
}

// Translates a word of clang that nvcc has, too: *out is what nvcc calls it; NULL: the word is left out.
static gr_status translate(GrBuild *b, const char *word, const char **out, gr_error *err) {
    static const char *const same[] = {"-I", "-D", "-U", "-isystem", "-include", "-std=c++"};
    *out = NULL;
    for (size_t k = 0; k < COUNT(same); k++)
        if (!strncmp(word, same[k], strlen(same[k])))
            *out = word;
    if (!strcmp(word, "-fgpu-rdc") || !strcmp(word, "-fcuda-rdc"))
        *out = "-rdc=true";
    bool gnu = !strncmp(word, "-std=gnu++", 10), arch = !strncmp(word, "--cuda-gpu-arch=", 16),
         offload = !strncmp(word, "--offload-arch=", 15);
    if (gnu || arch || offload)
        *out = gr_arena_printf(&b->arena, "%s%s", gnu ? "-std=c++" : "-arch=",
                               word + (gnu    ? 10
                                       : arch ? 16
                                              : 15));
    return (gnu || arch || offload) && !*out ? no_memory(err) : GR_OK;
}

// Takes the word at *k, and its value, apart.
static bool take(Command *c, const char *const *words, size_t n, size_t *k) {
    const char *word = words[*k], *next = *k + 1 < n ? words[*k + 1] : NULL;
    c->compile_only |= is_in(word, compiles, COUNT(compiles));
    c->no_code |= is_in(word, makes_no_code, COUNT(makes_no_code));
    c->device_link |= !strcmp(word, "-dlink") || !strcmp(word, "--device-link");
    if (next && (!strcmp(word, "-o") || !strcmp(word, "--output-file"))) {
        c->output = next;
        ++*k;
        return true;
    }
    if (!strncmp(word, "-x", 2) && (word[2] || next)) {
        const char *language = word[2] ? word + 2 + (word[2] == '=') : next;
        c->cuda = !strcmp(language, "cu") || !strcmp(language, "cuda");
        c->c = !strcmp(language, "c");
    }
    if (!strncmp(word, "-L", 2) && (word[2] || next)) {
        *k += !word[2];
        return gr_vec_push(&c->link.places, word[2] ? word + 2 : next);
    }
    if (!strncmp(word, "-l", 2) && word[2] && strcmp(word, "-lineinfo") != 0)
        return gr_vec_push(&c->link.inputs, word);
    if (*word != '-' && is_source(word))
        return gr_vec_push(&c->inputs, word);
    if (*word != '-' && is_linked(word))
        return gr_vec_push(&c->link.inputs, word);
    bool ok = gr_vec_push(&c->words, word);
    if (ok && next && (is_in(word, with_value, COUNT(with_value)) || !strcmp(word, "-x")))
        ok = gr_vec_push(&c->words, words[++*k]);
    return ok;
}

// Translates the words of a CUDA source that clang compiles for nvcc.
static gr_status translate_words(GrBuild *b, Command *c, gr_error *err) {
    GrWords old = c->words;
    gr_status st = GR_OK;
    c->words = (GrWords){0};
    for (size_t k = 0; k < old.len && st == GR_OK; k++) {
        const char *word;
        st = translate(b, old.data[k], &word, err);
        bool value = k + 1 < old.len && is_in(old.data[k], with_value, COUNT(with_value));
        if (word && !gr_vec_push(&c->words, word))
            st = no_memory(err);
        if (value && ++k && word && !gr_vec_push(&c->words, old.data[k]))
            st = no_memory(err);
    }
    if (st == GR_OK && c->cuda && !(gr_vec_push(&c->words, "-x") && gr_vec_push(&c->words, "cu")))
        st = no_memory(err);
    gr_vec_free(&old);
    return st;
}

static gr_status add_source(GrBuild *b, const Command *c, const char *input, bool cuda, size_t *number,
                            gr_error *err) {
    size_t n = c->words.len, more = c->compiler == GR_COMPILER_NVCC || cuda ? b->n_words : 0;
    const char **words = gr_arena_array(&b->arena, n + more + 1, sizeof *words);
    GrHostSource s = {.file = gr_build_path(&b->arena, c->folder, input),
                      .folder = gr_arena_strdup(&b->arena, c->folder),
                      .words = words,
                      .n_words = n + more,
                      .host_only = !cuda && c->compiler != GR_COMPILER_NVCC};
    s.c = s.host_only && (c->c || !strcmp(ending(input), "c"));
    GR_NEED_OR(words && s.file && s.folder, no_memory(err));
    for (size_t k = 0; k < n + more; k++)
        words[k] = k < n ? c->words.data[k] : b->words[k - n];
    *number = b->sources.len;
    return gr_vec_push(&b->sources, s) ? GR_OK : no_memory(err);
}

static gr_status add_object(GrBuild *b, const Command *c, const char *input, size_t number, gr_error *err) {
    const char *name = gr_base_name(input);
    GrLink made = {.folder = c->folder, .output = c->output};
    if (!made.output)
        made.output =
            gr_arena_printf(&b->arena, "%.*s.o", (int)(strlen(name) - strlen(ending(name)) - 1), name);
    GR_NEED_OR(made.output && gr_vec_push(&made.sources, number), no_memory(err));
    gr_status st = gr_build_add_link(b, &made, err);
    gr_vec_free(&made.sources);
    return st;
}

// ar KEYS ARCHIVE FILE...
static gr_status add_archive(GrBuild *b, const char *folder, const char *const *words, size_t n,
                             gr_error *err) {
    GrLink made = {.folder = folder};
    gr_status st = GR_OK;
    for (size_t k = 2; k < n && st == GR_OK; k++) {
        if (!made.output && !strcmp(ending(words[k]), "a"))
            made.output = words[k];
        else if (made.output && !gr_vec_push(&made.inputs, words[k]))
            st = no_memory(err);
    }
    if (st == GR_OK && made.output && made.inputs.len)
        st = gr_build_add_link(b, &made, err);
    gr_vec_free(&made.inputs);
    return st;
}

static gr_status add(GrBuild *b, Command *c, gr_error *err) {
    bool cuda_words = false;
    for (size_t k = 0; k < c->inputs.len; k++) {
        const char *input = c->inputs.data[k];
        bool cuda = c->cuda || !strcmp(ending(input), "cu");
        size_t number = 0;
        if (cuda && c->compiler == GR_COMPILER_HOST)
            continue; // only nvcc and clang compile CUDA: the name of a file that is something else
        if (cuda && c->compiler == GR_COMPILER_CLANG && !cuda_words)
            GR_MUST(translate_words(b, c, err));
        cuda_words |= cuda;
        GR_MUST(add_source(b, c, input, cuda, &number, err));
        if (c->compile_only)
            GR_MUST(add_object(b, c, input, number, err));
        else if (!gr_vec_push(&c->link.sources, number))
            GR_MUST(no_memory(err));
    }
    if (c->compile_only || (!c->link.inputs.len && !c->inputs.len))
        return GR_OK;
    c->link.folder = c->folder;
    c->link.output = c->output ? c->output : c->device_link ? "a_dlink.o" : "a.out";
    c->link.program = !c->device_link;
    if (c->device_link)
        c->link.inputs.len = 0; // device code alone: no host code of the objects is in it
    return gr_build_add_link(b, &c->link, err);
}

gr_status gr_build_add_command(GrBuild *b, const char *folder, const char *const *words, size_t n,
                               gr_error *err) {
    while (n && gr_is_compiler_launcher(words[0])) {
        words++;
        n--;
    }
    Command c = {.compiler = n ? gr_compiler_of(words[0]) : GR_COMPILER_NONE, .folder = folder};
    if (c.compiler == GR_COMPILER_NONE)
        return GR_OK;
    if (c.compiler == GR_COMPILER_AR)
        return add_archive(b, folder, words, n, err);
    bool ok = true;
    for (size_t k = 1; k < n && ok; k++)
        ok = take(&c, words, n, &k);
    gr_status st = !ok ? no_memory(err) : c.no_code ? GR_OK : add(b, &c, err);
    gr_vec_free(&c.words);
    gr_vec_free(&c.inputs);
    gr_vec_free(&c.link.sources);
    gr_vec_free(&c.link.inputs);
    gr_vec_free(&c.link.places);
    return st;
}
