// SPDX-License-Identifier: Apache-2.0
// pages — the tables of options as pages of the documentation.
#ifndef GR_TESTS_OPTIONS_PAGES_H
#define GR_TESTS_OPTIONS_PAGES_H

#include "options/options.h"

// docs/options.md, of the commands that the program has.
void options_page(unsigned commands, StrBuf *out);
// Which options an engine heeds on one of its devices: docs/engines.md's table, a column for each of `n` engines.
void options_of_engines(const char *const *names, const unsigned *caps, size_t n, StrBuf *out);

#endif
