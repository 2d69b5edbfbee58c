// SPDX-License-Identifier: Apache-2.0
#include "cli/run/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { AFTER_MS = 3000, EVERY_MS = 500 };

bool gr_progress_wanted(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb"));
}

void gr_progress_begin(GrProgress *p, const char *results, int64_t now) {
    const char *after = getenv(GR_PROGRESS_ENV);
    *p = (GrProgress){.began = now, .due = now + (after ? strtol(after, NULL, 10) : AFTER_MS)};
    if (gr_progress_wanted())
        (void)gr_results_look(results, &p->results, NULL); // without it there is just no line
}

// No wider than the terminal: a line that wraps cannot be erased.
void gr_progress_show(const char *text) {
    struct winsize size = {0};
    int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
    int n = (int)strlen(text);
    fprintf(stderr, "\r\033[K%.*s", n < width ? n : width - 1, text);
    fflush(stderr);
}

void gr_progress_wipe(void) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

static void draw(const GrProgress *p, int64_t now) {
    const GrResultsHeader *h = p->results.header;
    unsigned long long launches = __atomic_load_n(&h->launches, __ATOMIC_RELAXED),
                       races = __atomic_load_n(&h->races, __ATOMIC_RELAXED);
    char text[160];
    snprintf(text, sizeof text, "gpurace: %lld s, %llu launch%s, %llu race%s so far",
             (long long)(now - p->began) / 1000, launches, launches == 1 ? "" : "es", races,
             races == 1 ? "" : "s");
    gr_progress_show(text);
}

int64_t gr_progress_tick(GrProgress *p, int64_t now) {
    if (!p->results.header)
        return -1;
    if (now >= p->due) {
        draw(p, now);
        p->shown = true;
        p->due = now + EVERY_MS;
    }
    return p->due - now;
}

void gr_progress_end(GrProgress *p) {
    if (p->shown)
        gr_progress_wipe();
    gr_results_detach(&p->results);
    *p = (GrProgress){0};
}
