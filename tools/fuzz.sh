#!/usr/bin/env bash
# Fuzzes the readers of files, each for so many minutes (1 by default), with address and undefined-behaviour sanitizers, and
# prints how many inputs each was given. What they find is left in build/fuzz/found: it belongs to tests/malformed.
#
# usage: tools/fuzz.sh [MINUTES [NAME ...]]
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

minutes=${1:-1}
shift || true
install_missing clang libclang-rt-dev cmake ninja-build nlohmann-json3-dev libarchive-dev python3
cmake -S tests/fuzz -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ >/dev/null
cmake --build build/fuzz
mkdir -p build/fuzz/found build/fuzz/seeds
names=("$@")
[ ${#names[@]} -gt 0 ] || names=($(cd tests/fuzz && ls -- *_fuzzer.cpp | sed 's/_fuzzer.cpp//'))

# The malformed files of a format are its seeds, and sound ones of the project.
seeds_of() {
  case $1 in
    json) ls -d tests/malformed/files/experiment tests/malformed/files/table tools/experiments/mackey_glass ;;
    safetensors) ls -d tests/malformed/files/weights ;;
    npy | csv | npz | idx | ts | wav) ls -d "tests/malformed/files/$1" ;;
    gzip) ls -d tests/malformed/files/idx ;;
    number_table | word_vectors | quote) ls -d tests/malformed/files/csv tests/malformed/files/lines ;;
  esac
}

failed=0
for name in "${names[@]}"; do
  mkdir -p "build/fuzz/seeds/$name"
  mapfile -t seeds < <(seeds_of "$name")
  log=build/fuzz/$name.log
  if build/fuzz/"${name}_fuzzer" -max_total_time=$((minutes * 60)) -timeout=5 -rss_limit_mb=1024 -max_len=16384 \
      -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/seeds/$name" "${seeds[@]}" >"$log" 2>&1; then
    printf '%-14s %12s inputs, no fault\n' "$name" "$(grep -oE 'Done [0-9]+' "$log" | grep -oE '[0-9]+')"
  else
    printf '%-14s a fault: %s\n' "$name" "$log"
    failed=1
  fi
done
exit $failed
