// SPDX-License-Identifier: Apache-2.0
// regex — extended regular expressions of a user, compiled with bounds. glibc copies what `+` and `{n}` repeat, so
// `a+++…` of a hundred characters would take all memory.
#ifndef GR_BASE_REGEX_H
#define GR_BASE_REGEX_H

#include "base/status.h"

#include <regex.h>

// Compiles `text` (REG_EXTENDED | REG_NOSUB); the caller frees *out with regfree. GR_ERR_ARGUMENT: it is no expression,
// or repeats what repeats so often that it has more than 10,000 parts; the error's text says which, without `text`.
gr_status gr_regex_compile(regex_t *out, const char *text, gr_error *err);

#endif
