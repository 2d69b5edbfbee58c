// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that needs nothing else: page.css, page.js, and the report as JSON. The script makes the
// index from it, and a section for each race when it is asked for. So a page of many races opens as fast as one of few.
#include "report/write/formats.h"
#include "report/write/json_internal.h"

#include <stdlib.h>
#include <string.h>

extern const char gr_page_css[], gr_page_js[];

// What the page shows of a race beyond the JSON report: the command that shows it again.
static bool add_more(const GrReport *r, const GrRace *race, json_t *o) {
    return gr_json_set(o, "again", gr_json_text(gr_race_reproduce(r, race)));
}

static bool add_all(const GrReport *r, const GrRaceVec *races, json_t *list) {
    bool ok = true;
    for (size_t k = 0; ok && k < json_array_size(list); k++)
        ok = add_more(r, &races->data[k], json_array_get(list, k));
    return ok;
}

// "<" could begin the end of the script.
static void add_script(const char *json, StrBuf *out) {
    for (const char *p = json, *end; *p; p = end) {
        end = p + strcspn(p, "<");
        gr_str_addn(out, p, (size_t)(end - p));
        if (*end) {
            gr_str_add(out, "\\u003c");
            end++;
        }
    }
}

static void add_page(const GrReport *r, const char *json, StrBuf *out) {
    gr_str_addf(out,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
                "<title>gpurace: %s</title>\n<style>\n",
                gr_verdict_name(r->verdict));
    gr_str_add(out, gr_page_css);
    gr_str_add(
        out,
        "</style>\n</head>\n<body>\n<main><noscript>This page needs JavaScript. The same report as text: "
        "gpurace report FILE.json</noscript></main>\n<script type=\"application/json\" id=\"report\">");
    add_script(json, out);
    gr_str_add(out, "</script>\n");
    if (r->drawing)
        gr_str_addf(out, "<template id=\"drawing\">%s</template>\n", r->drawing);
    gr_str_add(out, "<script>\n");
    gr_str_add(out, gr_page_js);
    gr_str_add(out, "</script>\n</body>\n</html>\n");
}

gr_status gr_report_html(const GrReport *r, StrBuf *out, gr_error *err) {
    StrBuf summary = {0};
    json_t *o = gr_json_report(r);
    gr_report_summary(r, &summary);
    bool ok = o && !summary.oom && add_all(r, &r->races, json_object_get(o, "races")) &&
              add_all(r, &r->misuses, json_object_get(o, "misuses")) &&
              gr_json_set(o, "summary", gr_json_text(summary.data ? summary.data : "")) &&
              (!r->folder || gr_json_set(o, "folder", gr_json_text(r->folder)));
    char *json = ok ? json_dumps(o, JSON_COMPACT) : NULL;
    if (json)
        add_page(r, json, out);
    free(json);
    json_decref(o);
    gr_str_free(&summary);
    return json && !out->oom ? GR_OK : gr_no_memory(err);
}
