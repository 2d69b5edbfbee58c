// SPDX-License-Identifier: Apache-2.0
// Coverage files of any bytes: what is accepted is said again as it was understood, and stays readable whatever a run
// adds to it.
#include "coverage/aims.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What the file says, in the one form in which it is written. False: nothing that is understood.
static bool understand(const char *text, size_t len, GrCoverage *c, StrBuf *again) {
    gr_coverage_init(c);
    bool ok = gr_coverage_parse(text, len, "file", c, NULL) == GR_OK;
    if (ok)
        gr_coverage_print(c, again);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    GrCoverage c, d;
    StrBuf once = {0}, twice = {0}, aim = {0};
    if (understand((const char *)data, size, &c, &once)) {
        if (!understand(once.data, once.len, &d, &twice) || once.len != twice.len ||
            memcmp(once.data, twice.data, once.len))
            abort();
        gr_coverage_free(&d);
        c.runs += c.runs < UINT32_MAX; // a run more
        if (gr_aims_choose(&c, size, &aim, NULL) == GR_OK && aim.data)
            gr_aims_count(&c, aim.data);
        for (size_t k = 0; k < c.conflicts.len && k < 8; k++) {
            Conflict seen = c.conflicts.data[k];
            seen.side[0].nth ^= 1;
            seen.side[0].nth |= 2;
            seen.side[0].aimed = 0;
            seen.side[1].aimed = 0;
            if (!gr_aims_note(&c, &seen))
                abort();
        }
        once.len = twice.len = 0;
        gr_coverage_print(&c, &once);
        if (!understand(once.data, once.len, &d, &twice))
            abort();
        gr_coverage_free(&d);
    }
    gr_coverage_free(&c);
    gr_str_free(&once);
    gr_str_free(&twice);
    gr_str_free(&aim);
    return 0;
}
