// SPDX-License-Identifier: Apache-2.0
// test_address — which addresses a sentence may name: in a process whose addresses Linux draws, not those of its own
// memory.
#include "base/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *self;

// AddressSanitizer's heap lies where it has chosen.
#if defined(__SANITIZE_ADDRESS__)
#define HEAP_IS_CHOSEN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAP_IS_CHOSEN 1
#endif
#endif
#ifndef HEAP_IS_CHOSEN
#define HEAP_IS_CHOSEN 0
#endif

static void chosen_ones_are_told(void **state) {
    (void)state;
    char text[GR_ADDRESS_TEXT];
    assert_string_equal(gr_address_text(0, text), "0x0");
    assert_string_equal(gr_address_text(0x220000000010, text), "0x220000000010");
    assert_string_equal(gr_address_text(0x110000000000, text), "0x110000000000");
    assert_string_equal(gr_address_text(UINT64_MAX, text), "0xffffffffffffffff");
}

// Every kind of memory that a program has without asking for an address. 0: as it should be.
static int look(bool drawn) {
    char text[GR_ADDRESS_TEXT];
    void *heap = malloc(16), *far = malloc(1 << 24),
         *page = mmap(NULL, 1 << 12, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const void *all[] = {heap, far, page, text, &self, (const void *)(uintptr_t)strlen};
    int wrong = 0;
    for (size_t k = HEAP_IS_CHOSEN ? 2 : 0; k < sizeof all / sizeof *all; k++)
        wrong += (strcmp(gr_address_text((uintptr_t)all[k], text), "an address of the host") == 0) != drawn;
    free(heap);
    free(far);
    munmap(page, 1 << 12);
    return wrong;
}

static int run(unsigned long persona) {
    pid_t child = fork();
    if (!child) {
        if (personality(persona) < 0 || personality(0xffffffff) != (int)persona)
            _exit(77); // a container may refuse it
        execl(self, self, persona ? "told" : "drawn", (char *)NULL);
        _exit(99);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

static void drawn_ones_are_not(void **state) {
    (void)state;
    for (unsigned k = 0; k < 20; k++)
        assert_int_equal(run(0), 0);
}

static void without_drawing_all_are(void **state) {
    (void)state;
    int status = run(ADDR_NO_RANDOMIZE);
    assert_true(status == 0 || status == 77);
}

int main(int argc, char **argv) {
    self = argv[0];
    if (argc > 1)
        return look(!strcmp(argv[1], "drawn"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_ones_are_told),
        cmocka_unit_test(drawn_ones_are_not),
        cmocka_unit_test(without_drawing_all_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
