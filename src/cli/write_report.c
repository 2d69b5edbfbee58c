// SPDX-License-Identifier: Apache-2.0
#include "cli/write_report.h"

#include <stdio.h>
#include <string.h>

static void tell_verdict(const GrOptions *o, const GrReport *report) {
    uint64_t races = report->races.len + report->unlisted;
    fprintf(stderr, "gpurace: verdict: %s", gr_verdict_name(report->verdict));
    if (races)
        fprintf(stderr, " (%llu)", (unsigned long long)races);
    if (report->misuses.len)
        fprintf(stderr, "%s synchronization misused in %zu place%s", races ? ", and" : ":",
                report->misuses.len, report->misuses.len == 1 ? "" : "s");
    if (report->verdict == GR_VERDICT_CLEAN && report->sample[0])
        fprintf(stderr, " (%llu accesses were watched)", (unsigned long long)report->watched);
    fprintf(stderr, "; the report is in %s\n", o->output);
}

gr_status gr_write_report(const GrReport *report, const GrOptions *o, FILE *to, bool *lost, gr_error *err) {
    gr_status st = GR_OK;
    StrBuf out = {0};
    gr_error why = {0};
    if (!strcmp(o->format, "json"))
        GR_TRY(gr_report_json(report, &out, err));
    else
        gr_report_text(report, &out);
    if (out.oom) {
        st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
        goto done;
    }
    *lost = o->output[0] && gr_file_write(o->output, out.data, out.len, &why) != GR_OK;
    if (o->output[0] && !*lost)
        tell_verdict(o, report);
    else
        fputs(out.data, to);
    if (*lost)
        fprintf(stderr, "gpurace: %s; the report is above\n", why.msg);
    *lost |= fflush(to) || ferror(to);
done:
    gr_str_free(&out);
    return st;
}
