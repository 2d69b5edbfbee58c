#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a C file of ours is not formatted as .clang-format says, or has comments that are too wide. Versions of
# clang-format differ in their output: 14 decides, and without it that check is skipped (77).
set -eu
cd "$(dirname "$0")/.."
python3 tools/wrap-comments.py --check
tool=$(command -v clang-format-14 || command -v clang-format) || exit 77
"$tool" --version | grep -q 'version 14\.' || { echo "skipped: $tool is not version 14"; exit 77; }
# Untracked files count too, so that the check says the same before and after a commit.
if ! files=$(git ls-files --cached --others --exclude-standard -- '*.[ch]' 2>/dev/null); then
    files=$(find src include tests bench examples -name '*.[ch]' 2>/dev/null) # not a git checkout
fi
present=()
for f in $files; do
    [ ! -f "$f" ] || present+=("$f") # else it is deleted, and not committed yet
done
# Many files to a process: starting one takes longer than formatting a file.
warnings=$(printf '%s\n' "${present[@]}" | xargs -n 50 -P 2 "$tool" --dry-run 2>&1) || { echo "$warnings"; exit 1; }
bad=$(sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: warning:.*/\1/p' <<<"$warnings" | sort -u)
for f in $bad; do
    echo "$f: not formatted; run: clang-format-14 -i $f"
done
echo "${#present[@]} files looked at, $(wc -w <<<"$bad") not formatted"
[ "${#present[@]}" -gt 0 ] && [ -z "$warnings" ]
