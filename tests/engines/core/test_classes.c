// SPDX-License-Identifier: Apache-2.0
// The classes of all engines: no number and no name twice; docs/classes.md and the enums of docs/report.schema.json are
// what the tables say. UPDATE_DOCS=1 in the environment writes both.
#include "base/outfile.h"
#include "engines/core/engine.h"
#include "engines/core/misuses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 200 };

static gr_error err;
static const GrClass *all[MOST];
static size_t count;

static int take_tables(void **state) {
    (void)state;
    for (const GrEngine *const *e = gr_engines; *e; e++)
        for (const GrClass *c = (*e)->classes; c && c->number && count < MOST; c++)
            all[count++] = c;
    for (const GrClass *c = gr_misuse_classes; c->number && count < MOST; c++)
        all[count++] = c;
    return count && count < MOST ? 0 : -1;
}

static void test_unique(void **state) {
    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(gr_engine_class(all[i]->number), all[i]);
        assert_true(all[i]->name[0] && all[i]->meaning[0]);
        for (size_t j = 0; j < i; j++)
            if (all[i]->number == all[j]->number || !strcmp(all[i]->name, all[j]->name))
                fail_msg("%u '%s' and %u '%s'", all[i]->number, all[i]->name, all[j]->number, all[j]->name);
    }
    assert_null(gr_engine_class(0));
    assert_null(gr_engine_class(UINT32_MAX));
}

// Results files and other tools' notes hold numbers: these stay as they are.
static void test_numbers_stay(void **state) {
    (void)state;
    static const struct {
        uint32_t number;
        const char *name;
    } rows[] = {
        {1, "clobbered read"},           {2, "lost update"},
        {3, "intra-warp lost update"},   {4, "intra-warp same-value write"},
        {20, "write-write race"},        {21, "read-write race"},
        {28, "freed while in use"},      {29, "used before its allocation"},
        {30, "proxy read race"},         {31, "ordered by chance"},
        {60, "mask without the caller"}, {68, "deadlock"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        assert_non_null(gr_engine_class(rows[k].number));
        assert_string_equal(gr_engine_class(rows[k].number)->name, rows[k].name);
    }
}

static void test_decoders(void **state) {
    (void)state;
    for (const GrEngine *const *e = gr_engines; *e; e++) {
        if (!(*e)->decoder)
            continue;
        assert_ptr_equal(gr_engine_decoder(&(*e)->decoder->tag), (*e)->decoder);
        assert_string_equal((*e)->decoder->tag.engine, (*e)->name);
    }
    const GrAreaTag nobody = {NULL, 1, 1};
    assert_null(gr_engine_decoder(&nobody));
}

// ---- Pages -------------------------------------------------------------------------------------------------

static void compare_page(const char *path, const StrBuf *now) {
    char *page;
    size_t len;
    if (getenv("UPDATE_DOCS"))
        assert_int_equal(gr_file_write(path, now->data, now->len, &err), GR_OK);
    assert_int_equal(gr_file_read(path, &page, &len, &err), GR_OK);
    assert_string_equal(page, now->data);
    free(page);
}

static void add_table(StrBuf *out, const GrClass *c) {
    gr_str_add(out, "| number | class | meaning |\n|---|---|---|\n");
    for (; c->number; c++)
        gr_str_addf(out, "| %u | %s | %s |\n", c->number, c->name, c->meaning);
}

static void test_page(void **state) {
    (void)state;
    StrBuf now = {0};
    gr_str_add(&now,
               "# Classes of findings\n\nThis page is written from the tables of the engines (`UPDATE_DOCS=1 "
               "build/tests/engines/core/test_classes`).\nA report names the class of each finding. A class "
               "keeps its number, "
               "which stands in results files; no number is used again.\n");
    for (const GrEngine *const *e = gr_engines; *e; e++)
        if ((*e)->classes) {
            gr_str_addf(&now, "\n## Races that %s finds\n\n", (*e)->name);
            add_table(&now, (*e)->classes);
        }
    gr_str_add(&now, "\n## Misuse of synchronization and memory\n\nThe CPU device sees it, under every "
                     "engine that listens to the "
                     "device (docs/exact.md, \"What else does it report?\"); stray accesses under every "
                     "engine, with --on-fault continue (docs/verdicts.md).\n\n");
    add_table(&now, gr_misuse_classes);
    compare_page(CLASSES_MD, &now);
    gr_str_free(&now);
}

// Puts the names of a kind of classes between the brackets of the enum of `def`.
static void fill_enum(StrBuf *schema, const char *def, bool misuse) {
    StrBuf out = {0};
    char head[64];
    snprintf(head, sizeof head, "    \"%s\": {\n      \"enum\": [\n", def);
    char *at = strstr(schema->data, head), *end = at ? strstr(at, "      ]\n") : NULL;
    assert_non_null(end);
    gr_str_addn(&out, schema->data, (size_t)(at - schema->data) + strlen(head));
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if ((all[i]->kind == GR_KIND_MISUSE) != misuse)
            continue;
        gr_str_addf(&out, "%s        \"%s\"", any ? ",\n" : "", all[i]->name);
        any = true;
    }
    gr_str_addf(&out, "\n%s", end);
    gr_str_free(schema);
    *schema = out;
}

static void test_schema(void **state) {
    (void)state;
    char *page;
    size_t len;
    StrBuf now = {0};
    assert_int_equal(gr_file_read(SCHEMA, &page, &len, &err), GR_OK);
    gr_str_add(&now, page);
    free(page);
    fill_enum(&now, "race_class", false);
    fill_enum(&now, "misuse_class", true);
    compare_page(SCHEMA, &now);
    gr_str_free(&now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unique), cmocka_unit_test(test_numbers_stay), cmocka_unit_test(test_decoders),
        cmocka_unit_test(test_page),   cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, take_tables, NULL);
}
