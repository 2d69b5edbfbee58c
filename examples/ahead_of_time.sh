#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a program whose kernels look for races by themselves: nvcc's own steps, with `gpurace ptx` before the assembler.
#
#     examples/ahead_of_time.sh [options of gpurace ptx] -- [options of nvcc] -o program file.cu …
#
# The program runs anywhere, without gpurace. When it finds a race it stops at a breakpoint (docs/debugging.md).
# GPURACE and NVCC name the two commands, if they are not on the PATH.
set -eu
gpurace=${GPURACE:-gpurace} nvcc=${NVCC:-nvcc} options=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  options="$options '$(printf %s "$1" | sed "s/'/'\\\\''/g")'"
  shift
done
[ $# -gt 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1d >&2; exit 2; }
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$nvcc" --dryrun --keep --keep-dir "$folder" "$@" 2>"$folder/dryrun" || { cat "$folder/dryrun" >&2; exit 1; }
# What nvcc would do, a command on each line behind "#$ "; NAME=VALUE lines set its environment, unquoted.
awk -v gpurace="$gpurace" -v options="$options" '
  !/^#\$ / { next }
  { sub(/^#\$ /, "") }
  /^[A-Za-z_][A-Za-z_0-9]*=/ {
    at = index($0, "="); value = substr($0, at + 1)
    gsub(/\047/, "\047\\\047\047", value)
    print "export " substr($0, 1, at) "\047" value "\047"; next
  }
  /^rm / { next }
  /^("[^"]*\/)?ptxas"? / && match($0, /"[^"]*\.ptx"/) {
    file = substr($0, RSTART, RLENGTH)
    print gpurace " ptx" options " " file " -o " file ".gr >&2 && mv " file ".gr " file
  }
  { print }' "$folder/dryrun" >"$folder/steps"
sh -eu "$folder/steps"
