// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { AFTER_MS = 3000, EVERY_MS = 500 };

static bool is_terminal(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb"));
}

void gr_progress_begin(GrProgress *p, const char *results, int64_t now) {
    const char *after = getenv(GR_PROGRESS_ENV);
    *p = (GrProgress){.began = now, .due = now + (after ? strtol(after, NULL, 10) : AFTER_MS)};
    if (is_terminal())
        (void)gr_results_look(results, &p->results, NULL); // without it there is just no line
}

// No wider than the terminal: a line that wraps cannot be erased.
static void draw(const GrProgress *p, int64_t now) {
    const GrResultsHeader *h = p->results.header;
    unsigned long long launches = __atomic_load_n(&h->launches, __ATOMIC_RELAXED),
                       races = __atomic_load_n(&h->races, __ATOMIC_RELAXED);
    char text[160];
    struct winsize size = {0};
    int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
    int n = snprintf(text, sizeof text, "gpurace: %lld s, %llu launch%s, %llu race%s so far",
                     (long long)(now - p->began) / 1000, launches, launches == 1 ? "" : "es", races,
                     races == 1 ? "" : "s");
    n = n < width ? n : width - 1;
    fprintf(stderr, "\r\033[K%.*s", n, text);
    fflush(stderr);
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
    if (p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    gr_results_detach(&p->results);
    *p = (GrProgress){0};
}
