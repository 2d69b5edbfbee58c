#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The step of action.yml that runs the program. It gets its inputs as GPURACE_COMMAND, GPURACE_PROGRAM, GPURACE_WORDS, GPURACE_SEEDS and
# GPURACE_STRICT. Races become annotations and
# the report becomes the summary of the step. The exit status is gpurace's.
set -u
command=${GPURACE_COMMAND:-$GITHUB_ACTION_PATH/build/gpurace}
folder=${RUNNER_TEMP:-/tmp}/gpurace-report
# Words of a shell: quotes work, and nothing else is done to them.
eval "program=(${GPURACE_PROGRAM:?no program was given})"
eval "options=(${GPURACE_WORDS:-})"
how=(run)
if [ -n "${GPURACE_SEEDS:-}" ]; then
    how=(campaign --seeds "$GPURACE_SEEDS" --fresh --state "$folder/campaign")
fi
mkdir -p "$folder"
status=0
"$command" "${how[@]}" --format text,json,sarif,github --output "$folder" --strict "${GPURACE_STRICT:-yes}" "${options[@]}" -- "${program[@]}" || status=$?
if [ -f "$folder/annotations.txt" ]; then cat "$folder/annotations.txt"; fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$folder/report.txt" ]; then
    # A step's summary may have a megabyte.
    { echo '```'; head -c 900000 "$folder/report.txt"; echo '```'; } >>"$GITHUB_STEP_SUMMARY"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'folder=%s\nsarif=%s\nstatus=%s\n' "$folder" "$folder/report.sarif" "$status" >>"$GITHUB_OUTPUT"
fi
exit $status
