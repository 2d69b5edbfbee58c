// SPDX-License-Identifier: Apache-2.0
// What a report says of a results file made by hand. (test_report_golden.c compares whole reports.)
#include "../nomem.h"
#include "device_api/shared_window.h"
#include "engines/collider/device/meet.h"
#include "engines/collider/device/record.h"
#include "engines/core/engine.h"
#include "engines/exact/classes.h"
#include "findings/race.h"
#include "ptx/ptx.h"
#include "report/replay.h"
#include "report_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

// A race that a watchpoint saw in launch 1, and causality did not; a fault ends launch `faulted`, 0: none. How many
// races are said not to be confirmed.
static uint64_t unconfirmed(uint64_t faulted, bool *judged, bool *remarked) {
    GrResults r;
    GrReport report;
    rig_empty_file();
    rig_attach(&r);
    rig_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    rig_module(&r, 1, "sample.cu", NULL);
    GrRaceSide load = {.module = 1, .site = 1, .access = PTX_ACCESS_READ, .launch = 1, .size = 4},
               store = {.module = 1, .site = 2, .access = PTX_ACCESS_WRITE, .launch = 1, .size = 4};
    rig_pair(&r, &(GrRaceInfo){.class = RACE_READ_WRITE,
                               .seen_by = GR_SEEN_BY_WATCHPOINT,
                               .side = {load, store},
                               .overlap_bytes = 4,
                               .order = "nothing"});
    if (faulted) {
        StrBuf b = {0};
        gr_put_str(&b, "_Z6reducePf");
        gr_put_str(&b, "was stopped by the device: illegal address");
        gr_put_u64(&b, faulted);
        rig_append(&r, GR_RECORD_FAULT, &b);
    }
    rig_end(&r, 0);
    gr_report_init(&report);
    report.engine = report.evidence = report.reproduce = "";
    report.first = (struct GrSecondOpinion){"collider", "value changed"};
    report.causal = (struct GrSecondOpinion){"exact", "unordered by causality"};
    rig_build(&report, "cpu");
    assert_int_equal(report.races.len, 1);
    *judged = report.races.data[0].judged;
    *remarked = report.remarks.len == 1 && strstr(report.remarks.data[0].text, "a fault ended") != NULL;
    uint64_t n = report.unconfirmed;
    gr_report_free(&report);
    return n;
}

static void test_cut_short_by_a_fault(void **state) {
    (void)state;
    bool judged, remarked;
    assert_int_equal(unconfirmed(0, &judged, &remarked), 1);
    assert_true(judged && !remarked);
    assert_int_equal(unconfirmed(2, &judged, &remarked), 1); // another launch
    assert_true(judged && !remarked);
    assert_int_equal(unconfirmed(1, &judged, &remarked), 0);
    assert_true(!judged && remarked);
}

// An engine's word on two accesses, and up to two races in causality: sites of the load and the store (below 0: the
// store comes first), and what the accesses at the first place do.
typedef struct Stated {
    int by_causality[2][2];
    PtxAccess first_does;
    GrSeenBy seen_by;
    uint32_t races, column; // listed; of the witness's load, 0: there is no witness
} Stated;

static GrRaceInfo pair_of(int load, int store, PtxAccess first_does, GrSeenBy seen_by) {
    GrRaceSide a = {.module = 1, .site = (uint32_t)abs(load), .access = first_does, .launch = 1, .size = 4},
               b = {.module = 1, .site = (uint32_t)store, .access = PTX_ACCESS_WRITE, .launch = 1, .size = 4};
    return (GrRaceInfo){.class = RACE_READ_WRITE,
                        .seen_by = seen_by,
                        .side = {load < 0 ? b : a, load < 0 ? a : b},
                        .overlap_bytes = 4,
                        .order = "nothing"};
}

static void check_stated(const Stated *s) {
    GrResults r;
    GrReport report;
    StrBuf text = {0}, json = {0};
    rig_empty_file();
    rig_attach(&r);
    rig_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    rig_module(&r, 1, "sample.cu", NULL);
    GrRaceInfo own = pair_of(1, 2, PTX_ACCESS_READ, s->seen_by);
    rig_pair(&r, &own);
    for (unsigned k = 0; k < 2 && s->by_causality[k][0]; k++) {
        GrRaceInfo seen =
            pair_of(s->by_causality[k][0], s->by_causality[k][1], s->first_does, GR_SEEN_BY_CAUSALITY);
        rig_pair(&r, &seen);
    }
    rig_end(&r, 0);
    gr_report_init(&report);
    report.engine = "exact+rewriter";
    report.evidence = "unordered by causality";
    report.reproduce = "";
    report.first = (struct GrSecondOpinion){"rewriter", "written down"};
    report.causal = (struct GrSecondOpinion){"exact", "unordered by causality"};
    rig_build(&report, "cpu");
    assert_int_equal(report.races.len, s->races);
    assert_int_equal(report.unconfirmed, !s->column);
    const GrRace *race = NULL;
    for (size_t k = 0; k < report.races.len; k++)
        if (report.races.data[k].judged)
            race = &report.races.data[k];
    assert_non_null(race);
    assert_int_equal(!race->witness, !s->column);
    if (s->seen_by == GR_SEEN_BY_ENGINE)
        assert_string_equal(race->found.evidence, "written down");
    if (race->witness)
        assert_int_equal(race->witness->found.accesses[s->by_causality[0][0] < 0].at.col, s->column);
    gr_report_text(&report, &text);
    assert_int_equal(gr_report_json(&report, &json, &rig_err), GR_OK);
    assert_int_equal(!strstr(text.data, "NOT CONFIRMED: causality saw no race of these two accesses"),
                     s->column || s->seen_by != GR_SEEN_BY_ENGINE);
    assert_int_equal(!strstr(json.data, "\"witness\": null"), s->column != 0);
    gr_str_free(&text);
    gr_str_free(&json);
    gr_report_free(&report);
}

// Site 3 is another instruction of the line of site 1.
static void test_stated_pairs(void **state) {
    (void)state;
    static const Stated cases[] = {
        {{{0}}, PTX_ACCESS_READ, GR_SEEN_BY_ENGINE, 1, 0},
        {{{1, 2}}, PTX_ACCESS_READ, GR_SEEN_BY_ENGINE, 1, 17},
        {{{3, 2}}, PTX_ACCESS_READ, GR_SEEN_BY_ENGINE, 1, 25},
        {{{-3, 2}}, PTX_ACCESS_READ, GR_SEEN_BY_ENGINE, 1, 25},
        {{{3, 2}, {1, 2}}, PTX_ACCESS_READ, GR_SEEN_BY_ENGINE, 1, 17},
        {{{1, 2}, {3, 2}}, PTX_ACCESS_READ, GR_SEEN_BY_ENGINE, 1, 17},
        {{{3, 2}}, PTX_ACCESS_WRITE, GR_SEEN_BY_ENGINE, 2, 0},    // other accesses of the same lines
        {{{1, 5}}, PTX_ACCESS_READ, GR_SEEN_BY_ENGINE, 2, 0},     // one line of the two
        {{{3, 2}}, PTX_ACCESS_READ, GR_SEEN_BY_WATCHPOINT, 2, 0}, // it saw these two instructions meet
        {{{1, 2}}, PTX_ACCESS_READ, GR_SEEN_BY_WATCHPOINT, 1, 17},
    };
    uint32_t column = rig_sites[3].at.col;
    rig_sites[3].at.col = 25;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check_stated(&cases[k]);
    rig_sites[3].at.col = column;
}

// Shared memory of other blocks, by its place in the cluster's window.
static void test_cluster_addresses(void **state) {
    (void)state;
    static const struct {
        GrSlot slot;
        const char *says;
    } rows[] = {
        {{.address = GR_CPU_SHARED_WINDOW + 0x30000fc},
         "shared address, offset 0xfc of block 3 of the cluster"},
        {{.address = GR_CPU_SHARED_WINDOW + 0x10}, "shared address, offset 0x10 of block 0 of the cluster"},
        {{.address = 0x1000020, .space = 1}, "shared address, offset 0x20 of block 1 of the cluster"},
        {{.address = 0x20, .space = 1}, "shared address, offset 0x20, in sums\n"},
        {{.address = 0xfffffff0, .space = 1}, "shared address, offset 0xfffffff0, in sums\n"}, // of no block
        {{.address = 0x10000020, .space = 1}, "shared address, offset 0x10000020, in sums\n"},
        {{.address = GR_CPU_SHARED_WINDOW - 4}, "global address 0x80fffffffffc, in sums\n"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        GrResults r;
        GrReport report;
        StrBuf text = {0};
        if (k)
            rig_empty_file();
        rig_attach(&r);
        rig_text(&r, GR_RECORD_PROCESS_BEGIN, "");
        GrSlot *slots = rig_module(&r, 1, "sample.cu", NULL), slot = rows[k].slot;
        slot.count = slot.launch = 1;
        slot.size = 4;
        rig_slot(slots, 1, GR_CLASS_CLOBBERED_READ, slot, 1, 2);
        rig_end(&r, 0);
        rig_report(&report);
        gr_report_text(&report, &text);
        if (!strstr(text.data, rows[k].says))
            fail_msg("row %zu: %s", k, text.data);
        gr_str_free(&text);
        gr_report_free(&report);
    }
}

static void expect_targets(const GrReport *report, const GrResultsView *v, size_t races,
                           const char *targets) {
    StrBuf out = {0};
    assert_int_equal(gr_replay_targets(report, v, &out), races);
    assert_string_equal(out.data, targets);
    gr_str_free(&out);
}

// Of what a replay left, only what makes sense gives a race its other side.
static void test_replay(void **state) {
    (void)state;
    GrResults r;
    GrReport report;
    GrResultsView first, second;
    rig_attach(&r);
    rig_racy_run(&r);
    rig_end(&r, 0);
    rig_report(&report);
    char *copy;
    size_t len;
    assert_int_equal(gr_file_read(rig_path, &copy, &len, &rig_err), GR_OK);
    assert_int_equal(gr_results_parse(copy, len, &first, &rig_err), GR_OK);
    expect_targets(&report, &first, 2, "4e.1 4e.3 4e.2");

    const GrMeetSide reader = {.launch = 3, .address = 0x88, .module = 1, .site = 3, .size = 4, .ready = 1};
    const GrMeetSide writer = {
        .launch = 3, .address = 0x89, .module = 1, .site = 5, .thread = {7, 1, 0}, .size = 1, .ready = 1};
    GrMeeting all[7];
    for (unsigned k = 0; k < 7; k++)
        all[k] = (GrMeeting){.state = GR_SLOT_CLAIMED, .space = 1, .first = reader, .other = writer};
    memset(all[0].other.thread, 0, sizeof all[0].other.thread); // itself
    all[1].other.address = 0x8c;                                // beside it
    all[2].other.module = 9;                                    // nobody
    all[3].other.site = 100;
    all[4].other.ready = 0;  // was stopped
    all[5].other.launch = 4; // shared memory of another launch
    all[6].first.site = 1;   // and this one is right
    rig_empty_file();
    rig_attach(&r);
    rig_room = 7;
    GrSlot *slots = rig_module(&r, 1, "sample.cu", NULL);
    rig_room = 0;
    memcpy(slots + ((size_t)RIG_SITES + 1) * GR_CLASS_COUNT, all, sizeof all);
    gr_results_detach(&r);
    assert_int_equal(gr_results_open(rig_path, &second, &rig_err), GR_OK);
    assert_int_equal(gr_replay_take(&report, &second, 2, 41, &rig_err), GR_OK);
    gr_results_close(&second);
    report.replays = 2;
    expect_targets(&report, &first, 1, "4e.2");

    StrBuf text = {0}, json = {0};
    gr_report_text(&report, &text);
    assert_non_null(strstr(text.data, "other side, caught by a replay: sample.cu, PTX line 60"));
    assert_non_null(strstr(text.data, "store of 1 byte, thread (7,1,0), block (0,0,0), shared address, "
                                      "offset 0x89, through argument 2, launch 3"));
    assert_non_null(strstr(text.data, "the two met in replay 2 (seed 41), not in the first run"));
    assert_non_null(strstr(text.data, "other side: not known: in 2 replays"));
    assert_int_equal(gr_report_json(&report, &json, &rig_err), GR_OK);
    assert_non_null(strstr(json.data, "\"seed\": 41"));
    rig_round_trip(&report);
    gr_str_free(&text);
    gr_str_free(&json);
    gr_results_release(&first);
    free(copy);
    gr_report_free(&report);
}

// What an engine left as it was stands against a clean verdict only where it may have run.
static void test_not_understood(void **state) {
    (void)state;
    GrResults r;
    rig_attach(&r);
    rig_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    GrSiteInfo saved[RIG_SITES + 1];
    memcpy(saved, rig_sites, sizeof saved);
    for (int s = 1; s <= RIG_SITES; s++)
        rig_sites[s].status = GR_SITE_NOT_UNDERSTOOD;
    rig_module(&r, 1, "sample.cu", NULL);
    memcpy(rig_sites, saved, sizeof saved);
    rig_kernel(&r, 0, 1, "_Z6reducePf",
               (GrKernelCounts){.launches = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}});
    rig_end(&r, 0);
    GrReport report;
    rig_report(&report);
    assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
    assert_int_equal(report.sites[GR_SITE_NOT_UNDERSTOOD], RIG_SITES);
    assert_int_equal(report.reasons.len, 2); // of `plain`, which was not launched, nothing
    assert_string_equal(
        report.reasons.data[0].text,
        "3 memory accesses of kernel reduce(float*) were not understood and not checked, the first at "
        "golden/sample.cu:7");
    assert_string_equal(
        report.reasons.data[1].text,
        "1 memory access of device functions was not understood and not checked, at golden/sample.cu:3");
    gr_report_free(&report);
}

// The area of an engine that this build does not have, or in a version that it does not know: named, neither decoded
// nor damage.
static void test_unknown_area(void **state) {
    (void)state;
    static const struct {
        GrAreaTag tag;
        const char *says;
    } rows[] = {
        {{"unheard of", 1, 1},
         "module sample.cu has results of the engine unheard of (format 1, version 1) that "
         "this gpurace does not understand"},
        {{"collider", 1, 9},
         "module sample.cu has results of the engine collider (format 1, version 9) that "
         "this gpurace does not understand"},
        {{NULL, 0, 0},
         "module sample.cu has results of the engine ? (format 0, version 0) that this gpurace "
         "does not understand"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        GrResults r;
        GrReport report;
        rig_empty_file();
        rig_attach(&r);
        rig_tag = &rows[k].tag;
        rig_racy_run(&r);
        rig_tag = NULL;
        rig_end(&r, 0);
        rig_report(&report);
        assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
        assert_int_equal(report.races.len, 0);
        assert_int_equal(report.damaged, 0);
        assert_int_equal(report.reasons.len, 1);
        assert_string_equal(report.reasons.data[0].text, rows[k].says);
        gr_report_free(&report);
    }
}

// An area that its engine cannot read is damage.
static void test_damaged_area(void **state) {
    (void)state;
    GrResults r;
    GrReport report;
    rig_attach(&r);
    rig_short = true;
    rig_racy_run(&r);
    rig_short = false;
    rig_end(&r, 0);
    rig_report(&report);
    assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
    assert_int_equal(report.damaged, 1);
    gr_report_free(&report);
}

static void test_nothing_happened(void **state) {
    (void)state;
    GrReport report;
    rig_report(&report);
    assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
    assert_string_equal(report.reasons.data[0].text, "the program did not use CUDA");
    gr_report_free(&report);
}

// An engine that contradicts itself is not believed: neither its races nor that there are none.
static void test_failed_check(void **state) {
    (void)state;
    GrResults r;
    rig_attach(&r);
    rig_racy_run(&r);
    rig_text(&r, GR_RECORD_DOUBT, "two reads were taken for a race");
    rig_end(&r, 0);
    GrReport report;
    rig_report(&report);
    assert_int_equal(report.races.len, 4);
    assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
    StrBuf b = {0};
    gr_report_text(&report, &b);
    assert_non_null(strstr(b.data, "verdict: inconclusive"));
    assert_non_null(strstr(b.data, "an internal check failed: two reads were taken for a race"));
    gr_str_free(&b);
    gr_report_free(&report);
}

// Two processes that did the same (a program run by MPI): one race, counts added, modules counted once.
static void test_processes_merge(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        GrResults r;
        rig_attach(&r);
        rig_racy_run(&r);
        rig_end(&r, 0);
    }
    GrReport report;
    rig_report(&report);
    assert_int_equal(report.races.len, 4);
    assert_int_equal(report.races.data[3].found.count, 2);
    assert_int_equal(report.races.data[0].n_sites, 4);
    assert_int_equal(report.races.data[0].found.count, 84);
    assert_int_equal(report.modules_checked, 1);
    assert_int_equal(report.launches_checked, 8);
    assert_int_equal(report.verdict, GR_VERDICT_RACES);
    // Paths below the folder in which the command runs are shown relative to it, others as they are.
    StrBuf text = {0};
    report.folder = "golden";
    gr_report_text(&report, &text);
    assert_non_null(strstr(text.data, "\nsample.cu:3:5: data race"));
    gr_str_free(&text);
    report.folder = "gold";
    gr_report_text(&report, &text);
    assert_non_null(strstr(text.data, "\ngolden/sample.cu:3:5: data race"));
    gr_str_free(&text);
    gr_report_free(&report);
}

// Every changed byte of a module's record gives a report or an error, never a crash; nonsense is never "clean".
static void test_hostile_payloads(void **state) {
    (void)state;
    GrModuleInfo m = {.number = 1,
                      .name = "m",
                      .kernels = (const char *[]){"k"},
                      .n_kernels = 1,
                      .n_sites = RIG_SITES,
                      .sites = rig_sites,
                      .functions = (GrFunctionInfo[]){{"k", 7, true, 1, 4, NULL, 0},
                                                      {"f", 8, false, 5, 2, (const uint32_t[]){0}, 1}},
                      .n_functions = 2};
    StrBuf b = {0};
    gr_module_write(&m, &b);
    for (size_t i = 0; i < b.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            b.data[i] ^= (char)(1 << bit);
            Arena arena;
            gr_arena_init(&arena);
            GrModuleInfo back;
            GrRecord rec = {GR_RECORD_MODULE, 1, (const uint8_t *)b.data, b.len};
            gr_module_read(&rec, "", &arena, &back, &rig_err);
            rec.size = i;
            assert_int_equal(gr_module_read(&rec, "", &arena, &back, &rig_err), GR_ERR_FORMAT);
            gr_arena_free(&arena);
            b.data[i] ^= (char)(1 << bit);
        }
    gr_str_free(&b);
}

static void test_values(void **state) {
    (void)state;
    static const struct {
        uint64_t bits;
        uint32_t size;
        const char *text;
    } cases[] = {
        {0x3fc00000, 4, "0x3fc00000 (1069547520, as a float 1.5)"},
        {5, 4, "0x00000005 (5)"},
        {0x7fc00000, 4, "0x7fc00000 (2143289344)"},
        {0x4000000000000000, 8, "0x4000000000000000 (4611686018427387904, as a float 2)"},
        {0xff, 1, "0xff (255)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        StrBuf b = {0};
        gr_value_text((const uint8_t *)&cases[i].bits, cases[i].size, &b);
        assert_string_equal(b.data, cases[i].text);
        gr_str_free(&b);
    }
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"plain_c_name", "plain_c_name"},
        {"_Z6reducePf", "reduce(float*)"},
        {"_ZN3cub6detail6reduce18DeviceReduceKernelINS1_10policy_"
         "hubIijN4cuda3std4plusIiEEE10Policy1000EPijS7_iNS5_10"
         "__identityEEEvT0_PT3_T1_NS_13GridEvenShareISD_EET2_T4_",
         "void cub::detail::reduce::DeviceReduceKernel<...>(...)"},
        {"_Znonsense", "_Znonsense"},
        {"__main__::main::_3clocals_3e::turn[abi:v1][abi:cw51cXTLSUw](Array<int, 1, C, mutable, aligned>, "
         "bool)",
         "main::turn(Array<int, 1, C, mutable, aligned>, bool)"},
    };
    Arena arena;
    gr_arena_init(&arena);
    if (strcmp(gr_demangle("_Z6reducePf", &arena), "_Z6reducePf")) // else there is no C++ library here
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            assert_string_equal(gr_short_name(cases[i].name, &arena), cases[i].text);
    gr_arena_free(&arena);
}

// ---- memory that runs out -------------------------------------------------------------------------------------------

static size_t count_of(const StrBuf *b, const char *word) {
    size_t n = 0;
    for (const char *p = b->data; p && (p = strstr(p, word)); p++)
        n++;
    return n;
}

// Builds and writes the report. What says that it succeeded has all races; names may be as the linker has them, and the
// source unread.
static bool report_once(void *user, bool must) {
    size_t *races = user;
    GrResultsView v;
    GrReport r;
    StrBuf text = {0}, json = {0};
    gr_report_init(&r);
    r.find_class = gr_engine_class;
    r.find_decoder = gr_engine_decoder;
    r.engine = r.evidence = r.reproduce = r.device = "x";
    gr_status st = gr_results_open(rig_path, &v, &rig_err), built = st;
    if (st == GR_OK) {
        built = gr_report_build(&r, &v, &rig_err);
        gr_results_close(&v);
    }
    if (built == GR_OK)
        gr_report_text(&r, &text);
    gr_status in_json = built == GR_OK ? gr_report_json(&r, &json, &rig_err) : built;
    unsigned long at = nomem_fails_at;
    nomem_stop();
    if (must)
        *races = r.races.len;
    if (built == GR_OK && !text.oom &&
        (count_of(&text, "data race: ") != *races || count_of(&text, "gpurace: verdict: races") != 1))
        fail_msg("the text lacks races when allocation %lu fails", at);
    if (in_json == GR_OK && count_of(&json, "\"class\"") < *races)
        fail_msg("the JSON lacks races when allocation %lu fails", at);
    if ((st != GR_OK && st != GR_ERR_NOMEM && st != GR_ERR_IO) ||
        (st == GR_OK && built != GR_OK && built != GR_ERR_NOMEM))
        fail_msg("when allocation %lu fails: %s", at, rig_err.msg);
    gr_str_free(&text);
    gr_str_free(&json);
    gr_report_free(&r);
    return in_json == GR_OK;
}

// Kernels of one library that are not checked for one cause: the library is named once. Few kernels are named each.
static void test_unchecked_library(void **state) {
    (void)state;
    GrResults r;
    GrReport report;
    rig_attach(&r);
    rig_module(&r, 1, "libmany.so", "only machine code");
    rig_module(&r, 2, "libfew.so", "only machine code");
    for (uint64_t k = 0; k < 7; k++) {
        char name[16];
        snprintf(name, sizeof name, "kernel%llu", (unsigned long long)k);
        rig_kernel(&r, k, k < 5 ? 1 : 2, name, (GrKernelCounts){.launches = 1});
    }
    rig_end(&r, 0);
    rig_report(&report);
    assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
    assert_int_equal(report.reasons.len, 3);
    assert_string_equal(report.reasons.data[0].text, "5 kernels of libmany.so were not checked: only machine "
                                                     "code. They are kernel0, kernel1, kernel2 and 2 others");
    assert_string_equal(report.reasons.data[1].text, "kernel kernel5 was not checked: only machine code");
    assert_string_equal(report.reasons.data[2].text, "kernel kernel6 was not checked: only machine code");
    gr_report_free(&report);
}

static void test_no_memory(void **state) {
    (void)state;
    GrResults r;
    size_t races = 0;
    rig_attach(&r);
    rig_racy_run(&r);
    rig_end(&r, 0);
    json_set_alloc_funcs(__wrap_malloc, free);
    assert_true(nomem_each(report_once, &races, 2000) > 300);
    json_set_alloc_funcs(malloc, free);
    assert_true(races > 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_new_file, rig_remove_file)

int main(void) {
    if (chdir(GOLDEN_DIR))
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(test_cluster_addresses),
        TEST(test_replay),
        TEST(test_not_understood),
        TEST(test_unknown_area),
        TEST(test_damaged_area),
        TEST(test_nothing_happened),
        TEST(test_failed_check),
        TEST(test_processes_merge),
        TEST(test_cut_short_by_a_fault),
        TEST(test_stated_pairs),
        TEST(test_unchecked_library),
        TEST(test_no_memory),
        cmocka_unit_test(test_hostile_payloads),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
