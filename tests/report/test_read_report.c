// SPDX-License-Identifier: Apache-2.0
// Reports that are read and merged: whatever the order, however often; and what is refused. That a report which is read
// is the one that was written, every report of report_rig.c shows.
#include "../nomem.h"
#include "base/outfile.h"
#include "report/read/read_report.h"
#include "report/report_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

static gr_error err;

// A report of one run: SEED, and for each letter of `races` a race on its line of a file that is not there, which
// occurred `count` times.
static void write_run(StrBuf *out, unsigned seed, const char *races, unsigned count, const char *folder) {
    gr_str_addf(
        out,
        "{\"tool\": \"gpurace 1\", \"engine\": \"exact\", \"evidence\": \"unordered by causality\", "
        "\"device\": \"cpu\", \"seed\": %u, \"reproduce\": \"gpurace run --seed %u -- ./app\", "
        "\"verdict\": \"%s\", \"reasons\": [\"reason %u\"], \"coverage\": {\"modules\": {\"checked\": 1, "
        "\"unchecked\": 0}, \"kernels\": [{\"name\": \"k\", \"module\": \"app\", \"checked\": true, "
        "\"why_not\": null, \"launches\": %u, \"failed\": 0, \"grid\": [1,1,1], \"block\": [%u,1,1]}], "
        "\"launches\": {\"checked\": %u, \"unchecked\": 0}, \"accesses\": {\"checked\": 7, "
        "\"not_understood\": 0}, \"absent_entry_points\": [], \"notes\": [], \"remarks\": [], "
        "\"faults\": [], \"dropped_records\": 0}, \"races\": [",
        seed, seed, *races ? "races" : "clean", seed % 2, seed, 32 * seed, seed);
    for (const char *p = races; *p; p++)
        gr_str_addf(out,
                    "%s{\"class\": \"write-write race\", \"meaning\": \"m\", \"engine\": \"exact\", "
                    "\"evidence\": \"unordered by causality\", \"kernel\": \"k(int*)\", \"module\": \"app\", "
                    "\"launch\": 1, \"space\": \"global\", \"count\": %u, \"instructions\": 1, \"expected\": "
                    "null, \"seen\": null, \"accesses\": [{\"file\": \"%s/app.cu\", \"line\": %u, "
                    "\"column\": 3, \"function\": \"k(int*)\", \"kind\": \"store\", \"thread\": [%u,0,0], "
                    "\"block\": [0,0,0], \"address\": \"0x%x\", \"size\": 4, \"ptx_line\": %u, \"frames\": "
                    "[{\"file\": \"%s/app.cu\", \"line\": %u, \"column\": 3, \"function\": null}]}]}",
                    p == races ? "" : ", ", count, folder, *p - 'a' + 10u, seed, seed * 16, seed + 100,
                    folder, *p - 'a' + 10u);
    gr_str_add(out, "], \"misuses\": []}");
}

static void add(GrReport *r, unsigned seed, const char *races, unsigned count) {
    StrBuf text = {0};
    write_run(&text, seed, races, count, "/src");
    if (gr_report_add_text(r, "it", text.data, text.len, &err) != GR_OK)
        fail_msg("%s", err.msg);
    gr_str_free(&text);
}

static char *json_of(GrReport *r) {
    StrBuf out = {0};
    assert_int_equal(gr_report_json(r, &out, &err), GR_OK);
    gr_report_free(r);
    return gr_str_take(&out);
}

static const struct {
    unsigned seed, count;
    const char *races;
} runs[] = {{1, 5, "ab"}, {2, 7, "bc"}, {3, 1, ""}, {4, 2, "abcd"}};

// The four runs in the order that `order` gives.
static char *merged(const char *order) {
    GrReport r;
    gr_report_init(&r);
    for (const char *p = order; *p; p++)
        add(&r, runs[*p - '1'].seed, runs[*p - '1'].races, runs[*p - '1'].count);
    return json_of(&r);
}

static void test_order(void **state) {
    (void)state;
    char *all = merged("1234");
    static const char *const orders[] = {"4321", "2413", "3142", "11112222333344441234", "1212343421"};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        char *other = merged(orders[k]);
        assert_string_equal(other, all);
        free(other);
    }
    free(all);
}

// Reports of merged reports: as if all had been merged at once.
static void test_parts(void **state) {
    (void)state;
    char *all = merged("1234"), *parts[] = {merged("31"), merged("24"), merged("1"), merged("234")};
    static const char orders[][5] = {"0101", "10", "32", "23", "013", "3021"};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        GrReport r;
        gr_report_init(&r);
        for (const char *p = orders[k]; *p; p++)
            if (gr_report_add_text(&r, "part", parts[*p - '0'], strlen(parts[*p - '0']), &err) != GR_OK)
                fail_msg("%s", err.msg);
        char *other = json_of(&r);
        assert_string_equal(other, all);
        free(other);
    }
    free(all);
    for (size_t k = 0; k < 4; k++)
        free(parts[k]);
}

static void test_once(void **state) {
    (void)state;
    char *once = merged("1"), *twice = merged("111");
    assert_string_equal(once, twice);
    assert_null(strstr(once, "\"runs\""));
    free(once);
    free(twice);
}

static void test_says(void **state) {
    (void)state;
    GrReport r;
    gr_report_init(&r);
    r.folder = "/src";
    for (size_t k = 4; k-- > 0;)
        add(&r, runs[k].seed, runs[k].races, runs[k].count);
    assert_string_equal(r.folder, "/src");
    assert_int_equal(r.runs.len, 4);
    assert_int_equal(r.verdict, GR_VERDICT_RACES);
    assert_int_equal(r.seed, 1);
    assert_int_equal(r.races.len, 4);
    // How often: b 5 + 7 + 2, then c 7 + 2, then a 5 + 2, then d.
    static const struct {
        unsigned line, count, n_seen, first;
    } races[] = {{11, 14, 3, 1}, {12, 9, 2, 2}, {10, 7, 2, 1}, {13, 2, 1, 4}};
    for (size_t k = 0; k < 4; k++) {
        const GrRace *race = &r.races.data[k];
        assert_int_equal(race->found.accesses[0].at.line, races[k].line);
        assert_int_equal(race->found.count, races[k].count);
        assert_int_equal(race->n_seen, races[k].n_seen);
        assert_int_equal(race->seen[0].run->seed, races[k].first);
        // It is shown as that run saw it.
        assert_int_equal(race->found.accesses[0].thread[0], races[k].first);
    }
    assert_int_equal(r.launches_checked, 4);
    assert_int_equal(r.kernels.len, 1);
    assert_int_equal(r.kernels.data[0].block[0], 128);
    assert_int_equal(r.reasons.len, 2);
    gr_report_free(&r);
}

// A race keeps its id whatever the folder, thread, address and PTX line.
static void test_ids(void **state) {
    (void)state;
    GrReport a, b;
    StrBuf text = {0}, other = {0};
    write_run(&text, 1, "abc", 1, "/home/one/src");
    write_run(&other, 9, "cab", 50, "/build/two");
    gr_report_init(&a);
    gr_report_init(&b);
    assert_int_equal(gr_report_parse("a", text.data, text.len, &a, &err), GR_OK);
    assert_int_equal(gr_report_parse("b", other.data, other.len, &b, &err), GR_OK);
    gr_report_order(&b);
    for (size_t k = 0; k < 3; k++) {
        assert_string_equal(a.races.data[k].id, b.races.data[k].id);
        assert_int_equal(strlen(a.races.data[k].id), 16);
        for (size_t i = 0; i < k; i++)
            assert_string_not_equal(a.races.data[k].id, a.races.data[i].id);
    }
    gr_report_free(&a);
    gr_report_free(&b);
    gr_str_free(&text);
    gr_str_free(&other);
}

// One side: "/tmp/…/x.cu" LINE of kernel void k<int>(int*).
static GrRace race_at(const char *file, uint32_t line, const char *function) {
    GrRace r = {.found = {.space = "global", .kernel = function, .count = 1, .n_accesses = 1}};
    r.found.accesses[0] = (GrAccess){.kind = "store", .at = {NULL, file, line, 5}, .ptx_line = line};
    return r;
}

static void write_source(const char *path, const char *text) {
    assert_int_equal(gr_file_write(path, text, strlen(text), &err), GR_OK);
}

// Of a line that can be read counts what it says: lines that come in before it, its indent and its template's arguments
// change nothing.
static void test_ids_of_text(void **state) {
    (void)state;
    char folder[] = "/tmp/gpurace-test-read-XXXXXX", one[64];
    assert_non_null(mkdtemp(folder));
    snprintf(one, sizeof one, "%s/x.cu", folder);
    GrReport r;
    const char *ids[5];
    static const struct {
        const char *text, *function;
        uint32_t line;
    } rows[] = {
        {"void k() {\n    a = 1;\n    a = 1;\n}\n", "void k<int>(int*)", 2},
        {"// more\n\nvoid k() {\n    a  =  1;\n    a = 1;\n}\n", "void k<float>(float*)", 4},
        {"void k() {\n    a = 1;\n    a = 1;\n}\n", "void k<int>(int*)", 3}, // the second such line
        {"void k() {\n    a = 2;\n    a = 1;\n}\n", "void k<int>(int*)", 2}, // another line
        {"void k() {\n    a = 1;\n    a = 1;\n}\n", "void other<int>(int*)", 2},
    };
    GrReport all[5];
    for (size_t k = 0; k < 5; k++) {
        write_source(one, rows[k].text);
        gr_report_init(&r);
        GrRace race = race_at(one, rows[k].line, rows[k].function);
        assert_true(gr_vec_push(&r.races, race));
        assert_int_equal(gr_report_identify(&r, &err), GR_OK);
        ids[k] = r.races.data[0].id;
        all[k] = r;
    }
    assert_string_equal(ids[0], ids[1]);
    assert_string_not_equal(all[0].races.data[0].line_id, all[1].races.data[0].line_id);
    for (size_t k = 2; k < 5; k++)
        for (size_t i = 1; i < k; i++)
            assert_string_not_equal(ids[k], ids[i]);
    for (size_t k = 0; k < 5; k++)
        gr_report_free(&all[k]);
    unlink(one);
    rmdir(folder);
}

// Surrogates are no characters: alone no report has them, in whatever form. A pair of escapes is one character.
static void test_surrogates(void **state) {
    (void)state;
    static const char text[] = "{\"tool\": \"gpurace 1\"", place[] = "gpurace 1";
    for (uint32_t c = 0xd800; c < 0xe000; c++)
        for (unsigned raw = 0; raw < 3; raw++) {
            char form[16];
            if (raw == 1)
                snprintf(form, sizeof form, "%c%c%c", 0xed, (int)(0x80 | (c >> 6 & 0x3f)),
                         (int)(0x80 | (c & 0x3f)));
            else
                snprintf(form, sizeof form, "%sx\\u%04x", raw ? "\\ud83d" : "", (unsigned)c);
            StrBuf run = {0}, broken = {0};
            write_run(&run, 1, "", 1, "/src");
            assert_memory_equal(run.data, text, sizeof text - 1);
            gr_str_addf(&broken, "{\"tool\": \"%s%s\"%s", place, form, run.data + sizeof text - 1);
            GrReport r;
            gr_report_init(&r);
            assert_int_equal(gr_report_add_text(&r, "it", broken.data, broken.len, &err), GR_ERR_SYNTAX);
            gr_report_free(&r);
            gr_str_free(&run);
            gr_str_free(&broken);
        }
}

// What is wrong is said, and a report that was there stays.
static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } rows[] = {
        {"{\"tool\"", "{tool", "a report is JSON"},
        {"\"tool\": \"gpurace 1\"", "\"tool\": 7", "'tool' is no text"},
        {"\"tool\": \"gpurace 1\", ", "", "'tool' is missing"},
        {"\"verdict\": \"races\"", "\"verdict\": \"fine\"", "there is no verdict 'fine'"},
        {"\"seed\": 1", "\"seed\": -1", "'seed' is no number"},
        {"\"seed\": 1", "\"seed\": 1e3", "'seed' is no number"},
        {"\"races\": [", "\"rases\": [", "'races' or 'coverage' are missing"},
        {"\"reasons\": [", "\"reasons\": [1, ", "an entry of 'reasons' is no text"},
        {"[1,0,0]", "[1,0]", "race 1: 'thread' are not three numbers"},
        {"[1,0,0]", "[1,0,-1]", "race 1: 'thread' are not three numbers"},
        {"\"0x10\"", "\"16\"", "race 1: 'address' is no number like 0x7f00"},
        {"\"0x10\"", "\"0x1g\"", "race 1: 'address' is no number like 0x7f00"},
        {"\"expected\": null", "\"expected\": \"0x1\"", "race 1: 'expected' are no bytes"},
        {"\"expected\": null", "\"expected\": \"0x01\"",
         "race 1: 'expected' and 'seen' are of different sizes"},
        {"\"accesses\": [{\"file", "\"accesses\": [1, 2, {\"file", "race 1: 'accesses' are not one or two"},
        {"\"instructions\": 1", "\"kernels\": {\"number\": 9, \"names\": []}", "'kernels' names 0 of 9"},
        {"\"instructions\": 1", "\"seen_in\": [{\"run\": \"x\", \"count\": 1}]", "there is no run 'x'"},
        {"\"instructions\": 1", "\"id\": \"x\"", "one of 'id' and 'line_id' is missing"},
        {"\"count\": 3", "\"count\": 3, \"count\": 3", "duplicate object key"},
    };
    char *before = merged("24");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        StrBuf text = {0}, broken = {0};
        write_run(&text, 1, "a", 3, "/src");
        char *at = strstr(text.data, rows[k].from);
        assert_non_null(at);
        gr_str_addn(&broken, text.data, (size_t)(at - text.data));
        gr_str_add(&broken, rows[k].to);
        gr_str_add(&broken, at + strlen(rows[k].from));
        GrReport r;
        gr_report_init(&r);
        add(&r, runs[1].seed, runs[1].races, runs[1].count);
        add(&r, runs[3].seed, runs[3].races, runs[3].count);
        gr_status st = gr_report_add_text(&r, "bad.json", broken.data, broken.len, &err);
        assert_true(st == GR_ERR_FORMAT || st == GR_ERR_SYNTAX);
        assert_string_equal(err.file, "bad.json");
        if (!strstr(err.msg, rows[k].says))
            fail_msg("%s: %s", rows[k].says, err.msg);
        char *after = json_of(&r);
        assert_string_equal(after, before);
        free(after);
        gr_str_free(&text);
        gr_str_free(&broken);
    }
    free(before);
    GrReport r;
    gr_report_init(&r);
    assert_int_equal(gr_report_add_file(&r, "/nonexistent.json", &err), GR_ERR_IO);
    gr_report_free(&r);
}

// Memory that runs out at any point is an error, and nothing worse; what is read is all there.
static bool merge_once(void *parts, bool must) {
    const StrBuf *text = parts;
    GrReport r;
    gr_report_init(&r);
    gr_status st = r.sources ? gr_report_add_text(&r, "a", text[0].data, text[0].len, &err) : GR_ERR_NOMEM;
    if (st == GR_OK)
        st = gr_report_add_text(&r, "b", text[1].data, text[1].len, &err);
    unsigned long at = nomem_fails_at;
    nomem_stop();
    if (st == GR_OK && (r.races.len != 4 || r.runs.len != 3))
        fail_msg("something is missing when allocation %lu fails", at);
    // jansson says of some numbers and texts for which there is no memory that they make no sense
    if (must ? st != GR_OK : st != GR_OK && st != GR_ERR_NOMEM && st != GR_ERR_SYNTAX)
        fail_msg("when allocation %lu fails: %s", at, err.msg);
    gr_report_free(&r);
    return st == GR_OK;
}

static void test_no_memory(void **state) {
    (void)state;
    char *part = merged("12");
    StrBuf texts[2] = {{0}, {0}};
    gr_str_add(&texts[0], part);
    write_run(&texts[1], 4, "abcd", 2, "/src");
    json_set_alloc_funcs(__wrap_malloc, free);
    assert_true(nomem_each(merge_once, texts, 2000) > 100);
    json_set_alloc_funcs(malloc, free);
    gr_str_free(&texts[0]);
    gr_str_free(&texts[1]);
    free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),      cmocka_unit_test(test_parts),   cmocka_unit_test(test_once),
        cmocka_unit_test(test_says),       cmocka_unit_test(test_ids),     cmocka_unit_test(test_ids_of_text),
        cmocka_unit_test(test_surrogates), cmocka_unit_test(test_refused), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
