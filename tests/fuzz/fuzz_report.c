// SPDX-License-Identifier: Apache-2.0
// Reports as JSON: whatever the bytes are, an error or a report; and a report is written in every format, read again as
// the same, and merged with itself and with another.
#include "report/read/read_report.h"
#include "report/write/formats.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char other[] = "{\"tool\": \"t\", \"engine\": \"e\", \"evidence\": \"v\", \"device\": \"cpu\", "
                            "\"seed\": 1, \"reproduce\": \"r\", \"verdict\": "
                            "\"clean\", \"reasons\": [\"why\"], \"coverage\": {\"kernels\": [{\"name\": "
                            "\"k\", \"launches\": 1}]}, \"races\": []}";

// Adds a report, and says what there is then.
static void take(GrReport *to, const StrBuf *json, StrBuf *out) {
    gr_error err;
    if (gr_report_add_text(to, "it", json->data, json->len, &err) != GR_OK ||
        gr_report_json(to, out, &err) != GR_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    GrReport r, again;
    gr_error err;
    gr_report_init(&r);
    gr_report_init(&again);
    if (gr_report_parse("it", (const char *)data, size, &r, &err) == GR_OK) {
        StrBuf json = {0}, once = {0}, twice = {0};
        for (const GrFormat *f = gr_formats; f->word; f++) {
            StrBuf out = {0};
            if (f->write(&r, &out, &err) != GR_OK)
                abort();
            gr_str_free(&out);
        }
        if (gr_report_json(&r, &json, &err) != GR_OK)
            abort();
        // Read again it is the same, for what was written was in order; merged with itself once more nothing changes.
        take(&again, &json, &once);
        if (strcmp(json.data, once.data))
            abort();
        gr_str_free(&once);
        take(&again, &json, &once);
        take(&again, &json, &twice);
        if (strcmp(once.data, twice.data))
            abort();
        if (gr_report_add_text(&again, "other", other, sizeof other - 1, &err) != GR_OK)
            abort();
        gr_str_free(&json);
        gr_str_free(&once);
        gr_str_free(&twice);
    }
    gr_report_free(&r);
    gr_report_free(&again);
    return 0;
}
