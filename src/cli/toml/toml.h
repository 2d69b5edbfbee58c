// SPDX-License-Identifier: Apache-2.0
// toml — a TOML file, value by value. The parser is toml++, the library of C++, and toml.cpp is all that knows it.
#ifndef GR_CLI_TOML_TOML_H
#define GR_CLI_TOML_TOML_H

#include "base/status.h"

#include <stddef.h>

typedef enum GrTomlType {
    GR_TOML_TEXT,
    GR_TOML_NUMBER, // whole
    GR_TOML_REAL,
    GR_TOML_YESNO, // text: "yes" or "no"
    GR_TOML_LIST,  // of texts and numbers: with commas between
    GR_TOML_OTHER
} GrTomlType;

typedef struct GrTomlValue {
    const char *table; // "" outside of all tables
    const char *key;   // NULL: the table itself begins
    GrTomlType type;
    const char *text; // "" of OTHER
    unsigned line, col;
} GrTomlValue;

// Hands each value of the text to `take`, those of a table together; stops at its first failure. GR_ERR_SYNTAX: it is
// no TOML, with the place. GR_ERR_UNSUPPORTED: this build has no parser.
gr_status gr_toml_read(const char *path, const char *text, size_t len,
                       gr_status (*take)(void *user, const GrTomlValue *v, gr_error *err), void *user,
                       gr_error *err);

#endif
