// SPDX-License-Identifier: Apache-2.0
// proof_kernels — random kernels (kernel.h), and those that lost some synchronization, for the verifier: one file of
// PTX with all of them, the launch of each, and between which lines exact saw races in some executions of it. proofs.py
// compares the verifier with that.
//
// Kernels with what the verifier does not follow at all are left out: clusters, mbarriers, bulk copies.
//
// With --addresses 1 the kernels are those of addresses.h: their addresses are hashes, which wrap.
//
//     proof_kernels FOLDER [--first N] [--count N] [--seeds N] [--addresses 1]     writes kernels.ptx, launches.jsonl
//                                                                                  and races.jsonl there, and prints
//                                                                                  how many kernels it left out
#include "../engines/exact/peek.h"
#include "addresses.h"
#include "ears.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1024 }; // of the memory of kernels with plain addresses

// A kernel as it is written and run.
typedef struct Job {
    const Kernel *k;
    const char *name, *text;
    uint64_t number, seeds;
    uint32_t bytes;           // of its memory
    const AddressKernel *own; // NULL: its addresses are plain
} Job;

typedef struct Files {
    FILE *ptx, *launches, *races;
    unsigned line; // of kernels.ptx, the last that is written
} Files;

static bool is_followed(const Kernel *k) {
    for (uint32_t n = 0; n < k->n; n++)
        switch (k->s[n].op) {
        case OP_MBAR_INIT:
        case OP_MBAR_ARRIVE:
        case OP_MBAR_EXPECT:
        case OP_MBAR_WAIT:
        case OP_CP_ARRIVE:
        case OP_BULK_LOAD:
        case OP_BULK_STORE:
        case OP_BULK_REDUCE:
        case OP_BULK_COMMIT:
        case OP_BULK_WAIT:
        case OP_CLUSTER_ARRIVE:
        case OP_CLUSTER_WAIT: return false;
        default: break;
        }
    return !k->cluster;
}

// ---- Executions -----------------------------------------------------------------------------------------------------

// Adds what races in one execution. True: it came to its end.
static bool run(const Job *j, const PtxModule *ptx, uint64_t seed, RaceSet *races) {
    gr_error err = {0};
    VmMem *mem;
    VmDevice *d;
    VmModule *m;
    VmRange *range;
    Exact *x;
    bool faulted = false;
    VmConfig c = ears_config(seed);
    ExactOptions o = {.occurred = ears_occurred, .user = races};
    if (gr_vm_mem_create(&mem, &err) != GR_OK)
        ears_die("memory", &err);
    c.mem = mem;
    if (gr_vm_create(&c, &d, &err) != GR_OK || gr_exact_create(&o, &x, &err) != GR_OK ||
        gr_vm_module_load(d, &(PtxModule *){(PtxModule *)ptx}, 1, NULL, NULL, &m, &err) != GR_OK ||
        gr_vm_mem_alloc(mem, VM_MEM_DEVICE, 0, j->bytes, 256, &range, &err) != GR_OK)
        ears_die("setup", &err);
    VmObserver observer = gr_exact_observer(x);
    if (gr_vm_observe(d, &observer, &err) != GR_OK)
        ears_die("observe", &err);
    ears_launch(d, m, j->k, range->addr, &faulted);
    if (races->nomem || gr_exact_incomplete(x) || peek_doubts(x))
        ears_die("exact is in doubt, or out of memory", NULL);
    gr_vm_module_unload(m);
    gr_vm_destroy(d);
    gr_exact_free(x);
    gr_vm_mem_destroy(mem);
    return !faulted;
}

// ---- Files ----------------------------------------------------------------------------------------------------------

static const char *after_lines(const char *text, unsigned n) {
    while (n--)
        text = strchr(text, '\n') + 1;
    return text;
}

// Pairs of lines that could race, had they no addresses; and whether an address wraps.
static void write_addresses(const AddressKernel *k, unsigned before, FILE *out) {
    bool any = false;
    fprintf(out, "\"wraps\": %s, \"pairs\": [", k->wraps ? "true" : "false");
    for (unsigned a = 0; a < k->n; a++)
        for (unsigned b = a; b < k->n; b++) {
            if (!k->access[a].writes && !k->access[b].writes)
                continue;
            fprintf(out, "%s[%u, %u]", any ? ", " : "", before + k->access[a].line,
                    before + k->access[b].line);
            any = true;
        }
    fprintf(out, "], ");
}

static void write_races(const Job *j, const PtxModule *ptx, uint64_t faulted, const RaceSet *races,
                        unsigned before, FILE *out) {
    fprintf(out, "{\"kernel\": \"%s\", \"kind\": \"%s\", \"faulted\": %" PRIu64 ", ", j->name, j->k->kind,
            faulted);
    if (j->own)
        write_addresses(j->own, before, out);
    fprintf(out, "\"races\": [");
    uint32_t last[2] = {0};
    bool any = false;
    for (size_t n = 0; n < races->bytes.len; n++) {
        const RacyByte *r = &races->bytes.data[n];
        if (!memcmp(last, r->site, sizeof last)) // most are the next byte of the same
            continue;
        memcpy(last, r->site, sizeof last);
        fprintf(out, "%s[%u, %u]", any ? ", " : "", before + ptx->sites[r->site[0]].stmt->line,
                before + ptx->sites[r->site[1]].stmt->line);
        any = true;
    }
    fprintf(out, "]}\n");
}

// The module's text without its head, which all share; the kernel gets a name of its own.
static void write_kernel(const Job *j, Files *to) {
    enum { HEAD = 3 }; // lines
    static const char entry[] = ".visible .entry k(";
    gr_error err = {0};
    PtxModule *ptx;
    RaceSet races = {0};
    uint64_t faulted = 0;
    if (gr_ptx_parse(j->text, strlen(j->text), "kernel", &ptx, &err) != GR_OK)
        ears_die("parse", &err);
    for (uint64_t n = 0; n < j->seeds; n++)
        faulted += !run(j, ptx, 1 + (j->number * 7 + n) % 1000, &races);
    race_set_sort(&races);
    const char *body = after_lines(j->text, HEAD);
    if (strncmp(body, entry, strlen(entry)))
        ears_die("a kernel does not begin as expected", NULL);
    if (!to->line) {
        fprintf(to->ptx, "%.*s", (int)(body - j->text), j->text);
        to->line = HEAD;
    }
    fprintf(to->ptx, ".visible .entry %s(%s", j->name, body + strlen(entry));
    write_races(j, ptx, faulted, &races, to->line - HEAD, to->races);
    for (const char *p = body; *p; p++)
        to->line += *p == '\n';
    fprintf(
        to->launches,
        "{\"kernel\": \"%s\", \"grid\": [%u, 1, 1], \"block\": [%u, 1, 1], \"dynamic_shared\": 0, \"args\": "
        "[{\"bytes\": 8, \"allocation\": 0, \"offset\": 0, \"extent\": %u}], \"count\": 1}\n",
        j->name, j->k->grid, j->k->block, j->bytes);
    gr_ptx_free(ptx);
    gr_vec_free(&races.bytes);
}

// The kernels of a number with plain addresses, as far as the verifier follows them. How many it left out.
static unsigned write_plain(uint64_t n, uint64_t seeds, Files *to) {
    Kernel k[2];
    unsigned left_out = 0;
    kernel_make(n, &k[0]);
    k[1] = k[0];
    unsigned kernels = kernel_mutate(n, &k[1]) ? 2 : 1;
    for (unsigned v = 0; v < kernels; v++) {
        char name[32];
        StrBuf text = {0};
        if (!is_followed(&k[v])) {
            left_out++;
            continue;
        }
        // The verifier looks at each launch by itself.
        k[v].launches = 1;
        k[v].together = false;
        snprintf(name, sizeof name, "%s%" PRIu64, v ? "m" : "k", n);
        kernel_text(&k[v], &text);
        write_kernel(&(Job){&k[v], name, text.data, n, seeds, BYTES, NULL}, to);
        gr_str_free(&text);
    }
    return left_out;
}

static void write_addressed(uint64_t n, uint64_t seeds, Files *to) {
    AddressKernel k;
    char name[32];
    if (!address_kernel(n, &k))
        ears_die("memory is out", NULL);
    snprintf(name, sizeof name, "a%" PRIu64, n);
    write_kernel(&(Job){&k.launch, name, k.text.data, n, seeds, ADDRESSES_BYTES, &k}, to);
    address_kernel_free(&k);
}

static FILE *create(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f)
        ears_die(path, &(gr_error){.msg = "cannot be written"});
    return f;
}

static void finish(FILE *f) {
    bool wrong = ferror(f);
    if (fclose(f) || wrong)
        ears_die("writing", NULL);
}

int main(int argc, char **argv) {
    uint64_t first = 0, count = 100, seeds = 4, addresses = 0, left_out = 0;
    for (int k = 2; k < argc; k += 2) {
        uint64_t *to = !strcmp(argv[k], "--first")       ? &first
                       : !strcmp(argv[k], "--count")     ? &count
                       : !strcmp(argv[k], "--seeds")     ? &seeds
                       : !strcmp(argv[k], "--addresses") ? &addresses
                                                         : NULL;
        if (!to || k + 1 == argc) {
            fprintf(stderr, "proof_kernels: %s: no such option, or it has no number\n", argv[k]);
            return 2;
        }
        *to = strtoull(argv[k + 1], NULL, 10);
    }
    if (argc < 2) {
        fprintf(stderr, "usage: proof_kernels FOLDER [--first N] [--count N] [--seeds N] [--addresses 1]\n");
        return 2;
    }
    Files to = {create(argv[1], "kernels.ptx"), create(argv[1], "launches.jsonl"),
                create(argv[1], "races.jsonl"), 0};
    fprintf(to.launches, "{\"format\": \"gpurace launches\", \"version\": 1}\n");
    for (uint64_t n = first; n < first + count; n++) {
        if (addresses)
            write_addressed(n, seeds, &to);
        else
            left_out += write_plain(n, seeds, &to);
    }
    printf("%" PRIu64 "\n", left_out);
    if (!to.line) // a file of no kernels, yet PTX
        fprintf(to.ptx, ".version 8.6\n.target sm_90\n.address_size 64\n");
    finish(to.ptx);
    finish(to.launches);
    finish(to.races);
    return 0;
}
