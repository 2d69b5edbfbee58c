// SPDX-License-Identifier: Apache-2.0
// conformance — runs every instruction of the rows on whatever device libcuda.so.1 brings, and compares with a
// reference in C, with golden results of a GPU, or both.
//
// On a GPU:            build/tests/conformance/conformance --dump sm_90.txt     (some minutes; the file is a few MB)
// On the CPU device:   LD_LIBRARY_PATH=build/cpu-device build/tests/conformance/conformance --golden
//                      tests/conformance/sm_90.golden
//
// A dump has a line per row: "E name<tab>cases<tab>hash of the results", "A name<tab>cases<tab>results of the first
// cases" for approximate instructions, "U name<tab>why" for rows that the driver rejects; and, for readers: "!" a
// result that C does not expect, "#" remarks. --golden reads E and A lines.
#include "driver.h"
#include "row.h"
#include "values.h"

#include "../vm/alu_ref.h"
#include "../vm/alu_soft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SHOWN = 96, SAMPLES = 128, MAX_GOLDEN = 16384, AGAIN = 3 };

typedef struct Golden {
    char *name, *result;
    char kind;
    bool seen;
} Golden;

// In memory that the processes share: an instruction that faults takes its process's context along, and the rows after
// it run in a new process.
typedef struct Check {
    const char *only;
    unsigned index, next; // of the row, and of the first row not yet tried
    bool list, print_ptx, reference, no_device;
    unsigned share, shares; // of every `shares` rows it takes number `share`; 0: all
    FILE *dump;
    Golden *golden;
    size_t n_golden;
    unsigned rows, rejected, failed, wrong, golden_wrong, golden_same;
    uint64_t *in, *out, *want;
} Check;

static uint64_t hash_words(const uint64_t *w, size_t n) {
    uint64_t h = 0x9e3779b97f4a7c15;
    for (size_t j = 0; j < n; j++)
        h = gr_mix64(h ^ w[j]) + j;
    return h;
}

static double number(const char *type, uint64_t code) {
    char t[16];
    snprintf(t, sizeof t, "%s", type);
    size_t n = strlen(t);
    if (n > 2 && !strcmp(t + n - 2, "x2"))
        t[n - 2] = 0;
    const Format *f = soft_format(t);
    Num x = soft_decode(f, f->bits == 64 ? code : code & (((uint64_t)1 << f->bits) - 1));
    double v = x.kind == NUM_NAN        ? NAN
               : x.kind == NUM_INFINITE ? INFINITY
               : x.kind == NUM_ZERO     ? 0
                                        : ldexp((double)(uint64_t)x.m, x.e);
    return x.negative ? -v : v;
}

static bool close_to(double got, double want, double error) {
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (error == 0)
        return got == want && !signbit(got) == !signbit(want);
    return fabs(got - want) <= error || got == want;
}

static void show(Check *c, const Row *r, uint32_t i, const uint64_t *want) {
    FILE *f = c->dump ? c->dump : stdout;
    fprintf(f, "! %s\t%u\t", r->name, i);
    for (unsigned j = 0; j < r->n_in; j++)
        fprintf(f, " %llx", (unsigned long long)c->in[(size_t)i * r->n_in + j]);
    fprintf(f, " ->");
    for (unsigned j = 0; j < r->n_out; j++)
        fprintf(f, " %llx", (unsigned long long)c->out[(size_t)i * r->n_out + j]);
    if (want) {
        fprintf(f, " not");
        for (unsigned j = 0; j < r->n_out; j++)
            fprintf(f, " %llx", (unsigned long long)want[(size_t)i * r->n_out + j]);
    }
}

// Largest errors of an approximate instruction; false when one is out of its bound.
static bool check_values(Check *c, const Row *r) {
    char t[16];
    snprintf(t, sizeof t, "%s", r->approx_type);
    bool packed = strlen(t) > 2 && !strcmp(t + strlen(t) - 2, "x2");
    if (packed)
        t[strlen(t) - 2] = 0;
    const Format *f = soft_format(t);
    double max_ulp = 0, max_abs = 0, at_ulp = 0, at_abs = 0, abs_pi = 0, abs_100pi = 0;
    unsigned bad = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        double v[2], e[2], x = number(t, c->in[(size_t)i * r->n_in]);
        r->value(r, c->in + (size_t)i * r->n_in, v, e);
        for (unsigned h = 0; h <= packed; h++) {
            double got = number(t, c->out[(size_t)i * r->n_out] >> (h ? f->bits : 0));
            if (isfinite(v[h]) && isfinite(got) && v[h] != 0) {
                int exponent = ilogb(v[h]) < f->min_exponent ? f->min_exponent : ilogb(v[h]);
                double error = fabs(got - v[h]), ulp = error / ldexp(1, exponent - f->fraction);
                if (got != 0 && ulp > max_ulp)
                    max_ulp = ulp, at_ulp = x;
                if (error > max_abs)
                    max_abs = error, at_abs = x;
                if (fabs(x) <= 3.1415927 && error > abs_pi)
                    abs_pi = error;
                if (fabs(x) <= 314.15927 && error > abs_100pi)
                    abs_100pi = error;
            }
            if (!close_to(got, v[h], e[h])) {
                if (bad++ < MAX_SHOWN) {
                    show(c, r, i, NULL);
                    fprintf(c->dump ? c->dump : stdout, " half %u: %.9g not %.9g +- %.3g\n", h, got, v[h],
                            e[h]);
                }
            }
        }
    }
    fprintf(c->dump ? c->dump : stdout,
            "# %s\tulp %.3f at %.9g, absolute %.4g at %.9g, within pi %.4g, within 100 pi %.4g, out of bound "
            "%u\n",
            r->name, max_ulp, at_ulp, max_abs, at_abs, abs_pi, abs_100pi, bad);
    return bad == 0;
}

static bool check_exact(Check *c, const Row *r) {
    if (!r->expect)
        return true;
    memset(c->want, 0xa5, (size_t)r->n * r->n_out * 8);
    r->expect(r, c->in, c->want);
    unsigned bad = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (memcmp(c->out + (size_t)i * r->n_out, c->want + (size_t)i * r->n_out, 8 * (size_t)r->n_out)) {
            if (bad++ < (c->dump ? MAX_SHOWN : 4)) {
                show(c, r, i, c->want);
                fprintf(c->dump ? c->dump : stdout, "\n");
            }
        }
    if (bad)
        fprintf(c->dump ? c->dump : stdout, "# %s\t%u of %u differ\n", r->name, bad, r->n);
    return bad == 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const Golden *)a)->name, ((const Golden *)b)->name);
}

static Golden *find_golden(Check *c, const char *name) {
    Golden key = {.name = (char *)(uintptr_t)name};
    return c->n_golden ? bsearch(&key, c->golden, c->n_golden, sizeof *c->golden, by_name) : NULL;
}

// The samples of an approximate row: corner cases. NaN, infinities, zeros and signs must be the GPU's; other values
// are within the sum of both errors.
static bool same_samples(Check *c, const Row *r, const char *p) {
    unsigned wrong = 0;
    bool packed = strstr(r->approx_type, "x2");
    for (uint32_t i = 0; i < SAMPLES && *p; i++) {
        char *end;
        uint64_t gpu = strtoull(p, &end, 16), own = c->out[(size_t)i * r->n_out];
        p = end;
        double v[2], e[2];
        r->value(r, c->in + (size_t)i * r->n_in, v, e);
        for (unsigned h = 0; h <= packed; h++) {
            double x = number(r->approx_type, own >> 16 * h), y = number(r->approx_type, gpu >> 16 * h);
            bool same = isnan(x) || isnan(y) ? isnan(x) && isnan(y)
                        : isinf(x) || isinf(y) || e[h] == 0
                            ? x == y && !signbit(x) == !signbit(y)
                            : fabs(x - y) <= 2 * e[h] && (x != 0 || y != 0 || !signbit(x) == !signbit(y));
            if (!same && wrong++ < 4)
                printf("%s case %u, input %llx: %.9g, the GPU has %.9g\n", r->name, i,
                       (unsigned long long)c->in[(size_t)i * r->n_in], x, y);
        }
    }
    return wrong == 0;
}

static void check_golden(Check *c, const Row *r, bool as_reference) {
    Golden *g = find_golden(c, r->name);
    if (!g)
        return;
    g->seen = true;
    char *end;
    bool same = strtoul(g->result, &end, 10) == r->n && *end == '\t';
    end++;
    if (same && r->approx_type)
        same = same_samples(c, r, end);
    else if (same)
        same = strtoull(end, NULL, 16) == hash_words(c->out, (size_t)r->n * r->n_out);
    c->golden_same += same;
    c->golden_wrong += !same;
    if (!same)
        printf("%s: not what the GPU answers%s\n", r->name,
               r->approx_type || !c->reference ? ""
               : as_reference                  ? ", but what C expects"
                                               : ", nor what C expects");
}

static void check_row(const Row *r, void *arg) {
    Check *c = arg;
    if (c->only && !strstr(r->name, c->only))
        return;
    if (c->index++ < c->next)
        return;
    c->next++;
    if (c->shares && (c->next - 1) % c->shares != c->share)
        return;
    c->rows++;
    if (c->list) {
        printf("%s\n", r->name);
        return;
    }
    if (c->print_ptx) {
        printf("// %s\n%s", r->name, r->ptx);
        return;
    }
    if (!c->reference && !find_golden(c, r->name)) // nothing to compare with
        return;
    size_t words_in = (size_t)r->n * r->n_in, words_out = (size_t)r->n * r->n_out;
    r->fill(r, c->in);
    memset(c->out, 0xa5, words_out * 8);
    if (c->no_device) {
        if (!r->approx_type && r->expect) {
            r->expect(r, c->in, c->out);
            check_golden(c, r, true);
        }
        return;
    }
    bool rejected;
    alarm(120);
    const char *error =
        driver_run(r->ptx, row_param, c->in, words_in * 8, c->out, words_out * 8, r->n, ROW_BLOCK, &rejected);
    if (r->traps && !error) {
        printf("%s: the kernel ends well\n", r->name);
        c->wrong++;
        return;
    }
    if (r->traps && !rejected) { // as it must
        fflush(NULL);
        _exit(AGAIN);
    }
    if (error) {
        c->rejected += rejected;
        c->failed += !rejected;
        if (c->dump)
            fprintf(c->dump, "U %s\t%s\n", r->name, error);
        if (!c->dump || !rejected)
            printf("%s: %s\n", r->name, error);
        if (!rejected) {
            fflush(NULL);
            _exit(AGAIN);
        }
        return;
    }
    bool ok = true;
    if (c->reference) {
        ok = r->approx_type ? check_values(c, r) : check_exact(c, r);
        c->wrong += !ok;
    }
    if (c->dump && r->approx_type) {
        fprintf(c->dump, "A %s\t%u\t", r->name, r->n);
        for (unsigned i = 0; i < SAMPLES && i < r->n; i++)
            fprintf(c->dump, "%s%llx", i ? " " : "", (unsigned long long)c->out[(size_t)i * r->n_out]);
        fprintf(c->dump, "\n");
    } else if (c->dump) {
        fprintf(c->dump, "E %s\t%u\t%016llx\n", r->name, r->n,
                (unsigned long long)hash_words(c->out, words_out));
    }
    check_golden(c, r, ok);
}

static void *share(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool read_golden(Check *c, const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return false;
    }
    static char line[1 << 16];
    c->golden = share(MAX_GOLDEN * sizeof *c->golden);
    while (c->golden && fgets(line, sizeof line, f) && c->n_golden < MAX_GOLDEN) {
        char *tab = strchr(line, '\t');
        if ((line[0] != 'E' && line[0] != 'A') || line[1] != ' ' || !tab)
            continue;
        *tab = 0;
        line[strcspn(line, "\n")] = 0;
        tab[1 + strcspn(tab + 1, "\n")] = 0;
        Golden *g = &c->golden[c->n_golden++];
        g->kind = line[0];
        g->name = strdup(line + 2);
        g->result = strdup(tab + 1);
        if (!g->name || !g->result)
            return false;
    }
    fclose(f);
    qsort(c->golden, c->n_golden, sizeof *c->golden, by_name);
    return c->golden != NULL;
}

static void all_rows(Check *c) {
    c->index = 0;
    rows_alu(check_row, c);
    rows_video(check_row, c);
    rows_memory(check_row, c);
    rows_warp(check_row, c);
    rows_matrix(check_row, c);
}

// Exit status of the process that runs rows from c->next on.
static int run_rows(Check *c, const char *library) {
    size_t words = 1 << 20;
    c->in = malloc(words * 8);
    c->out = malloc(words * 8);
    c->want = malloc(words * 8);
    DriverInfo info;
    if (!c->in || !c->out || !c->want || (!c->no_device && !driver_open(library, &info)))
        return 77;
    if (c->next == 0 && !c->no_device) {
        printf("%s, sm_%d%d, driver %d\n", info.name, info.major, info.minor, info.version);
        if (c->dump)
            fprintf(c->dump, "# %s, sm_%d%d, driver %d\n", info.name, info.major, info.minor, info.version);
    }
    all_rows(c);
    fflush(NULL);
    return 0;
}

static int run_processes(Check *c, const char *library) {
    for (;;) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(run_rows(c, library));
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 77;
        if (WIFEXITED(status) && WEXITSTATUS(status) != AGAIN)
            return WEXITSTATUS(status);
        if (WIFSIGNALED(status)) {
            printf("row %u ended by signal %d\n", c->next - 1, WTERMSIG(status));
            c->failed++;
        }
    }
}

// Whether every spelling in the file, one a line, has a row, but wgmma, textures, surfaces, and wmma: rows of wmma.mma
// load and store, but are not named so.
static char *wanted[4096];
static size_t n_wanted;

static void cross_out(const Row *r, void *arg) {
    (void)arg;
    size_t n = strcspn(r->name, " ");
    for (size_t j = 0; j < n_wanted; j++)
        if (wanted[j] && strlen(wanted[j]) == n && !memcmp(wanted[j], r->name, n)) {
            free(wanted[j]);
            wanted[j] = NULL;
        }
}

static int covers(const char *path) {
    static const char *const elsewhere[] = {"wmma.", "wgmma.", "tex.",   "tld4.", "txq.",
                                            "suld.", "sust.",  "sured.", "suq."};
    FILE *f = fopen(path, "r");
    char line[256];
    unsigned missing = 0;
    if (!f) {
        perror(path);
        return 2;
    }
    while (fgets(line, sizeof line, f) && n_wanted < sizeof wanted / sizeof *wanted) {
        line[strcspn(line, "\n")] = 0;
        bool skip = !line[0] || line[0] == '#';
        for (size_t j = 0; j < sizeof elsewhere / sizeof *elsewhere; j++)
            skip = skip || !strncmp(line, elsewhere[j], strlen(elsewhere[j]));
        if (!skip)
            wanted[n_wanted++] = strdup(line);
    }
    fclose(f);
    rows_alu(cross_out, NULL);
    rows_video(cross_out, NULL);
    rows_memory(cross_out, NULL);
    rows_warp(cross_out, NULL);
    rows_matrix(cross_out, NULL);
    for (size_t j = 0; j < n_wanted; j++)
        if (wanted[j]) {
            printf("%s has no row\n", wanted[j]);
            free(wanted[j]);
            missing++;
        }
    printf("%zu spellings, %u without a row\n", n_wanted, missing);
    return missing || !n_wanted;
}

int main(int argc, char **argv) {
    Check *c = share(sizeof *c);
    const char *library = "libcuda.so.1";
    if (!c)
        return 2;
    c->reference = true;
    for (int j = 1; j < argc; j++) {
        const char *next = j + 1 < argc ? argv[j + 1] : "";
        if (!strcmp(argv[j], "--list"))
            c->list = true;
        else if (!strcmp(argv[j], "--ptx"))
            c->print_ptx = true;
        else if (!strcmp(argv[j], "--no-device")) // C against the golden results
            c->no_device = true;
        else if (!strcmp(argv[j], "--golden-only"))
            c->reference = false;
        else if (!strcmp(argv[j], "--covers"))
            return covers(next);
        else if (!strcmp(argv[j], "--only"))
            c->only = next, j++;
        else if (!strcmp(argv[j], "--share") && sscanf(next, "%u/%u", &c->share, &c->shares) == 2 &&
                 c->share < c->shares)
            j++;
        else if (!strcmp(argv[j], "--library"))
            library = next, j++;
        else if (!strcmp(argv[j], "--dump")) {
            c->dump = fopen(next, "w");
            if (!c->dump) {
                perror(next);
                return 2;
            }
            j++;
        } else if (!strcmp(argv[j], "--golden")) {
            if (!read_golden(c, next))
                return 2;
            j++;
        } else {
            fprintf(stderr,
                    "usage: conformance [--library LIBCUDA] [--dump FILE] [--golden FILE [--golden-only]] "
                    "[--only TEXT] [--share K/N] [--list] [--ptx]\n");
            return 2;
        }
    }
    if (c->list || c->print_ptx) {
        all_rows(c);
        return 0;
    }
    int status = run_processes(c, library);
    if (status)
        return status;
    unsigned unseen = 0;
    for (size_t j = 0; j < c->n_golden && !c->only && !c->shares; j++)
        unseen += !c->golden[j].seen;
    printf("%u rows, %u rejected by the driver, %u did not run, %u not as C expects; of the GPU's answers %u "
           "same, %u "
           "different, %u without a row\n",
           c->rows, c->rejected, c->failed, c->wrong, c->golden_same, c->golden_wrong, unseen);
    if (c->dump)
        fclose(c->dump);
    if (c->n_golden)
        return c->golden_wrong || c->failed || c->wrong || unseen ? 1 : 0;
    return c->failed || c->wrong ? 1 : 0;
}
