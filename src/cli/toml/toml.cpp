// SPDX-License-Identifier: Apache-2.0
extern "C" {
#include "cli/toml/toml.h"
}

#include <string>

#define TOML_EXCEPTIONS        0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace {

struct Reading {
    gr_status (*take)(void *user, const GrTomlValue *v, gr_error *err);
    void *user;
    gr_error *err;
};

// A value that stands for itself. Its text is in `text`.
GrTomlType type_of(const toml::node &n, std::string &text) {
    if (const auto *s = n.as_string()) {
        text = s->get();
        return GR_TOML_TEXT;
    }
    if (const auto *i = n.as_integer()) {
        text = std::to_string(i->get());
        return GR_TOML_NUMBER;
    }
    if (const auto *f = n.as_floating_point()) {
        char number[64];
        snprintf(number, sizeof number, "%.17g", f->get());
        text = number;
        return GR_TOML_REAL;
    }
    if (const auto *b = n.as_boolean()) {
        text = b->get() ? "yes" : "no";
        return GR_TOML_YESNO;
    }
    return GR_TOML_OTHER;
}

GrTomlType list_of(const toml::array &list, std::string &text) {
    for (const toml::node &n : list) {
        std::string one;
        GrTomlType type = type_of(n, one);
        if (type == GR_TOML_OTHER || type == GR_TOML_YESNO)
            return GR_TOML_OTHER;
        text += (text.empty() ? "" : ",") + one;
    }
    return GR_TOML_LIST;
}

gr_status hand_over(const Reading &r, const char *table, const char *key, const toml::source_region &at, const toml::node &n) {
    std::string text;
    GrTomlType type = n.is_array() ? list_of(*n.as_array(), text) : type_of(n, text);
    GrTomlValue v = {table, key, type, text.c_str(), at.begin.line, at.begin.column};
    return r.take(r.user, &v, r.err);
}

gr_status read_table(const Reading &r, const char *name, const toml::table &t) {
    for (auto &&[key, value] : t) {
        std::string k(key.str());
        if (*name || !value.is_table()) {
            gr_status st = hand_over(r, name, k.c_str(), key.source(), value);
            if (st != GR_OK)
                return st;
        }
    }
    for (auto &&[key, value] : t) {
        std::string k(key.str());
        if (*name || !value.is_table())
            continue;
        GrTomlValue v = {k.c_str(), nullptr, GR_TOML_OTHER, "", key.source().begin.line, key.source().begin.column};
        gr_status st = r.take(r.user, &v, r.err);
        if (st == GR_OK)
            st = read_table(r, k.c_str(), *value.as_table());
        if (st != GR_OK)
            return st;
    }
    return GR_OK;
}

} // namespace

gr_status gr_toml_read(const char *path, const char *text, size_t len,
                       gr_status (*take)(void *user, const GrTomlValue *v, gr_error *err), void *user, gr_error *err) {
    toml::parse_result parsed = toml::parse(std::string_view(text, len), std::string_view(path));
    if (!parsed) {
        const toml::source_position &at = parsed.error().source().begin;
        std::string why(parsed.error().description());
        return gr_fail_at(err, GR_ERR_SYNTAX, path, at.line, at.column, "this is no TOML: %s", why.c_str());
    }
    return read_table(Reading{take, user, err}, "", parsed.table());
}
