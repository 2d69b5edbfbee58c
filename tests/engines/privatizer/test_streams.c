// SPDX-License-Identifier: Apache-2.0
// test_streams — a stream is found without a look at all others, and a context that ends takes its streams along.
#include "engines/privatizer/streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { STREAMS = 2000 };

static CUcontext context(uintptr_t n) { return (CUcontext)(n * 64); }
static CUstream stream(uintptr_t n) { return (CUstream)(n * 64); }
static CUevent event(uintptr_t n) { return (CUevent)(n * 64 + 8); }

static void add_all(ProbeStreams *s) {
    for (uintptr_t n = 0; n < STREAMS; n++) { // each context has the stream 0
        assert_null(gr_streams_find(s, context(1 + n % 3), stream(n / 3)));
        assert_non_null(gr_streams_add(s, context(1 + n % 3), stream(n / 3), event(n)));
    }
}

static void a_lookup_compares_one(void **state) {
    ProbeStreams s = {0};
    (void)state;
    add_all(&s);
    s.compared = 0;
    for (uintptr_t n = 0; n < STREAMS; n++)
        assert_ptr_equal(gr_streams_find(&s, context(1 + n % 3), stream(n / 3))->event, event(n));
    assert_in_range(s.compared, STREAMS, STREAMS + 10);
    gr_streams_free(&s);
}

static void a_context_takes_its_streams_along(void **state) {
    ProbeStreams s = {0};
    (void)state;
    add_all(&s);
    gr_streams_forget(&s, context(2));
    for (uintptr_t n = 0; n < STREAMS; n++) {
        ProbeStream *one = gr_streams_find(&s, context(1 + n % 3), stream(n / 3));
        assert_true(n % 3 == 1 ? !one : one && one->event == event(n));
    }
    gr_streams_free(&s);
}

// What is asked of each stream. All but the last one are over.
static bool ask(void *data, const ProbeStream *one) {
    ++*(unsigned *)data;
    return one->event != event(STREAMS - 1);
}

static void streams_without_launches_are_not_asked(void **state) {
    ProbeStreams s = {0};
    unsigned asked = 0;
    (void)state;
    add_all(&s);
    for (uintptr_t n = 0; n < STREAMS; n++)
        gr_streams_open(&s, gr_streams_find(&s, context(1 + n % 3), stream(n / 3)));
    assert_false(gr_streams_close(&s, context(1 + (STREAMS - 1) % 3), ask, &asked));
    assert_in_range(asked, STREAMS / 3, STREAMS / 3 + 1); // those of the context
    asked = 0;
    assert_false(gr_streams_close(&s, context(1 + (STREAMS - 1) % 3), ask, &asked));
    assert_int_equal(asked, 1);
    assert_true(gr_streams_close(&s, context(3), ask, &asked));
    asked = 0;
    ProbeStream *one = gr_streams_find(&s, context(3), stream(7));
    gr_streams_open(&s, one);
    gr_streams_open(&s, one);
    assert_true(gr_streams_close(&s, context(3), ask, &asked));
    assert_int_equal(asked, 1);
    gr_streams_forget(&s, context(1 + (STREAMS - 1) % 3));
    asked = 0;
    assert_true(gr_streams_close(&s, context(1), ask, &asked)); // which was not asked yet
    assert_in_range(asked, STREAMS / 3, STREAMS / 3 + 1);
    gr_streams_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_lookup_compares_one),
                                       cmocka_unit_test(streams_without_launches_are_not_asked),
                                       cmocka_unit_test(a_context_takes_its_streams_along)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
