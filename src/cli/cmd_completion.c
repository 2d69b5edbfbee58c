// SPDX-License-Identifier: Apache-2.0
// gpurace completion — what makes a shell complete commands, options and their words, made from the tables.
//
// Exit status: 0; 2 when the command line makes no sense; 1 when it cannot be written.
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

// The words that an option takes, with blanks between; "": not such an option.
static void add_choices(const GrOptRow *r, StrBuf *out) {
    if (r->type == OPT_YESNO)
        gr_str_add(out, "yes no");
    else if (r->type == OPT_CHOICE || r->type == OPT_WORDS)
        for (const char *p = r->arg; *p; p++)
            gr_str_addc(out, *p == '|' ? ' ' : *p);
}

// Help as one phrase, without what a shell would take for its own.
static void add_phrase(const char *help, StrBuf *out) {
    for (size_t n = strcspn(help, ":;.("); n--; help++)
        gr_str_addc(out, strchr("'\"[]`$\\!", *help) ? ' ' : *help);
}

// Calls `add` for each option of each command.
static void each_option(void (*add)(const GrCommand *c, const GrOptRow *r, StrBuf *out), StrBuf *out) {
    const GrCommand *c;
    const GrOptRow *r;
    for (size_t k = 0; (c = gr_command(k)); k++)
        for (size_t i = 0; (r = gr_options_row(i, NULL)); i++)
            if (gr_command_takes(c, r))
                add(c, r, out);
}

// ---- bash ----------------------------------------------------------------------------------------------------------

static void add_bash_case(const GrCommand *c, const GrOptRow *r, StrBuf *out) {
    StrBuf words = {0};
    add_choices(r, &words);
    if (words.len)
        gr_str_addf(out, "    '%s --%s') words='%s' ;;\n", c->name, r->name, words.data);
    else if (!gr_option_is_bare(r))
        gr_str_addf(out, "    '%s --%s') files=1 ;;\n", c->name, r->name);
    gr_str_free(&words);
}

static void add_bash(StrBuf *out) {
    const GrCommand *c;
    const GrOptRow *r;
    gr_str_add(out,
               "# Completion of gpurace for bash, made from its tables.\n_gpurace() {\n"
               "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
               "command=${COMP_WORDS[1]} words='' files='' i\n"
               "  COMPREPLY=()\n"
               "  for ((i = 2; i < COMP_CWORD; i++)); do [ \"${COMP_WORDS[i]}\" != -- ] || return 0; done\n"
               "  if [ \"$COMP_CWORD\" = 1 ]; then\n    words='");
    for (size_t k = 0; (c = gr_command(k)); k++)
        gr_str_addf(out, "%s ", c->name);
    gr_str_add(out, "--help --version'\n  else\n    case \"$command $prev\" in\n");
    each_option(add_bash_case, out);
    gr_str_add(out, "    *)\n      case \"$command\" in\n");
    for (size_t k = 0; (c = gr_command(k)); k++) {
        gr_str_addf(out, "      %s) words='--help", c->name);
        for (size_t i = 0; (r = gr_options_row(i, NULL)); i++)
            if (gr_command_takes(c, r))
                gr_str_addf(out, " --%s", r->name);
        gr_str_add(out, "' ;;\n");
    }
    gr_str_add(out, "      esac\n      [[ $cur == -* ]] || return 0 ;;\n    esac\n  fi\n"
                    "  [ -z \"$files\" ] || return 0\n"
                    "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
                    "complete -o bashdefault -o default -F _gpurace gpurace\n");
}

// ---- zsh -----------------------------------------------------------------------------------------------------------

static void add_zsh_option(const GrOptRow *r, StrBuf *out) {
    StrBuf words = {0};
    add_choices(r, &words);
    gr_str_addf(out, "      '--%s[", r->name);
    add_phrase(r->help, out);
    gr_str_addc(out, ']');
    if (words.len)
        gr_str_addf(out, ":word:(%s)", words.data);
    else if (!gr_option_is_bare(r))
        gr_str_add(out, ":value:_files");
    gr_str_add(out, "' \\\n");
    gr_str_free(&words);
}

static void add_zsh(StrBuf *out) {
    const GrCommand *c;
    const GrOptRow *r;
    gr_str_add(out, "#compdef gpurace\n# Completion of gpurace for zsh, made from its tables.\n_gpurace() {\n"
                    "  if (( CURRENT == 2 )); then\n    local -a commands=(\n");
    for (size_t k = 0; (c = gr_command(k)); k++) {
        gr_str_addf(out, "      '%s:", c->name);
        add_phrase(c->summary, out);
        gr_str_add(out, "'\n");
    }
    gr_str_add(out, "    )\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n  "
                    "shift words\n  (( CURRENT-- ))\n"
                    "  case $command in\n");
    for (size_t k = 0; (c = gr_command(k)); k++) {
        gr_str_addf(out, "    %s)\n      _arguments \\\n      '--help[how it is used]' \\\n", c->name);
        for (size_t i = 0; (r = gr_options_row(i, NULL)); i++)
            if (gr_command_takes(c, r))
                add_zsh_option(r, out);
        gr_str_add(out, "      '*:file:_files' ;;\n");
    }
    gr_str_add(out, "  esac\n}\n_gpurace \"$@\"\n");
}

// ---- fish ----------------------------------------------------------------------------------------------------------

static void add_fish_option(const GrCommand *c, const GrOptRow *r, StrBuf *out) {
    StrBuf words = {0};
    add_choices(r, &words);
    gr_str_addf(out, "complete -c gpurace -n '__fish_seen_subcommand_from %s' -l %s -d '", c->name, r->name);
    add_phrase(r->help, out);
    gr_str_add(out, "'");
    if (words.len)
        gr_str_addf(out, " -x -a '%s'", words.data);
    else if (!gr_option_is_bare(r))
        gr_str_add(out, " -r");
    gr_str_addc(out, '\n');
    gr_str_free(&words);
}

static void add_fish(StrBuf *out) {
    const GrCommand *c;
    gr_str_add(out, "# Completion of gpurace for fish, made from its tables.\n");
    for (size_t k = 0; (c = gr_command(k)); k++) {
        gr_str_addf(out, "complete -c gpurace -n __fish_use_subcommand -f -a %s -d '", c->name);
        add_phrase(c->summary, out);
        gr_str_add(out, "'\n");
    }
    each_option(add_fish_option, out);
}

int gr_cmd_completion(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*add)(StrBuf *out);
    } shells[] = {{"bash", add_bash}, {"zsh", add_zsh}, {"fish", add_fish}};
    StrBuf out = {0};
    for (size_t k = 0; argc == 2 && k < sizeof shells / sizeof *shells; k++)
        if (!strcmp(argv[1], shells[k].name))
            shells[k].add(&out);
    bool help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (!out.len)
        return gr_print_help("completion", help ? stdout : stderr);
    bool written = !out.oom && fputs(out.data, stdout) >= 0 && !fflush(stdout);
    gr_str_free(&out);
    return written ? 0 : EXIT_OURS;
}
