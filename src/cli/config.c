// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include "base/near.h"
#include "cli/commands.h"
#include "cli/toml/toml.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "gpurace.toml"

// ---- Where it is ----------------------------------------------------------------------------------------------------

static bool is_in(const char *folder, const char *name) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return !access(path, F_OK);
}

// The folder that has the file, without a slash at its end. False: there is no such file.
static bool find_file(char folder[PATH_MAX]) {
    char at[PATH_MAX], *slash;
    if (!getcwd(folder, PATH_MAX))
        return false;
    if (is_in(folder, FILE_NAME))
        return true;
    snprintf(at, sizeof at, "%s", folder);
    for (bool found = false; !is_in(at, ".git"); found |= is_in(at, FILE_NAME)) {
        if (!(slash = strrchr(at, '/')))
            return false; // this is no repository
        *slash = 0;
        if (!found && is_in(at, FILE_NAME))
            snprintf(folder, PATH_MAX, "%s", at);
    }
    return is_in(folder, FILE_NAME);
}

// Whether the words of the command line or of the environment leave the file aside.
static bool is_left_aside(int argc, char **argv) {
    GrOptions scratch;
    const char *env = getenv("GPURACE_OPTIONS");
    for (int k = 1; k < argc && strcmp(argv[k], "--"); k++)
        if (!strcmp(argv[k], "--no-config"))
            return true;
    bool aside = gr_options_init(&scratch, NULL) == GR_OK && env &&
                 gr_options_parse_text(&scratch, env, NULL) == GR_OK && scratch.no_config;
    gr_options_free(&scratch);
    return aside;
}

// ---- What it says ---------------------------------------------------------------------------------------------------

typedef struct Config {
    GrOptions *o;
    unsigned command;
    const char *path, *folder;
    unsigned of; // the command of the table
} Config;

static gr_status begin_table(Config *c, const GrTomlValue *v, gr_error *err) {
    char hint[GR_NEAR_ROOM];
    GrNear near = {.word = v->table};
    const GrCommand *command;
    for (size_t k = 0; (command = gr_command(k)); k++) {
        if (!command->options)
            continue;
        if (!strcmp(command->name, v->table)) {
            c->of = command->options;
            return GR_OK;
        }
        gr_near_try(&near, command->name);
    }
    return gr_fail_at(err, GR_ERR_ARGUMENT, c->path, v->line, v->col,
                      "[%s]: there is no command '%s' with options%s", v->table, v->table,
                      gr_near_text(&near, "", hint));
}

// What a value of this type has to be; NULL: it is.
static const char *wrong_type(const GrOptRow *r, GrTomlType t) {
    switch (r->type) {
    case OPT_NUMBER: return t == GR_TOML_NUMBER ? NULL : "a whole number";
    case OPT_YESNO:
    case OPT_FLAG: return t == GR_TOML_YESNO ? NULL : "true or false";
    case OPT_SWITCH: return t == GR_TOML_YESNO || t == GR_TOML_TEXT ? NULL : "true, false or a text";
    case OPT_WORDS: return t == GR_TOML_TEXT || t == GR_TOML_LIST ? NULL : "a text or a list of texts";
    case OPT_TEXT:
        return t != GR_TOML_YESNO && t != GR_TOML_OTHER ? NULL : "a text, a number or a list of these";
    case OPT_OUTPUT:
    case OPT_REGEX:
    case OPT_CHOICE: break;
    }
    // Choices such as yes|no may be written as what they mean, and numbers that are choices as numbers.
    bool choice = r->type == OPT_CHOICE && (t == GR_TOML_YESNO || t == GR_TOML_NUMBER);
    return choice || t == GR_TOML_TEXT ? NULL : "a text";
}

static bool names_file(const GrOptRow *r) {
    return !strcmp(r->arg, "FILE") || !strcmp(r->arg, "FOLDER") || !strcmp(r->arg, "DIR");
}

// A file's name, from the folder of gpurace.toml. In the options' arena.
static const char *file_of(const Config *c, const char *name) {
    char now[PATH_MAX];
    bool here = getcwd(now, sizeof now) && !strcmp(now, c->folder);
    if (here || !*name || name[0] == '/' || !strcmp(name, "-"))
        return name;
    return gr_arena_printf(&c->o->arena, "%s/%s", c->folder, name);
}

static gr_status take(void *user, const GrTomlValue *v, gr_error *err) {
    Config *c = user;
    gr_error why = {0};
    if (!v->key)
        return begin_table(c, v, err);
    unsigned of = *v->table ? c->of : ~(unsigned)OPT_REPRODUCE;
    const GrOptRow *any = gr_options_find(v->key, of, &why), *r = gr_options_find(v->key, c->command, NULL);
    // What stands in the table of `run` is for the runs of a campaign, too.
    bool mine = of & c->command || (of == OPT_RUN && c->command == OPT_CAMPAIGN && r == any);
    if (!any)
        return gr_fail_at(err, GR_ERR_ARGUMENT, c->path, v->line, v->col, "%s%s%s", why.msg,
                          *v->table ? "; this is the table of " : "", v->table);
    const char *wanted = wrong_type(r && mine ? r : any, v->type);
    if (wanted)
        return gr_fail_at(err, GR_ERR_ARGUMENT, c->path, v->line, v->col, "%s takes %s", v->key, wanted);
    if (!r || !mine)
        return GR_OK; // of another command
    const char *value = names_file(r) ? file_of(c, v->text) : v->text;
    GR_NEED(value, err);
    return gr_options_give(c->o, c->command, v->key, value, &why) == GR_OK
               ? GR_OK
               : gr_fail_at(err, GR_ERR_ARGUMENT, c->path, v->line, v->col, "%s", why.msg);
}

gr_status gr_config_read(GrOptions *o, unsigned command, int argc, char **argv, gr_error *err) {
    char folder[PATH_MAX], path[PATH_MAX + 32], *text;
    size_t len;
    if (is_left_aside(argc, argv) || !find_file(folder))
        return GR_OK;
    snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
    Config c = {.o = o, .command = command, .path = path, .folder = folder};
    GR_MUST(gr_file_read(path, &text, &len, err));
    gr_status st = gr_toml_read(path, text, len, take, &c, err);
    free(text);
    o->no_config = st == GR_OK;
    return st;
}
