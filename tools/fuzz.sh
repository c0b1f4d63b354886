#!/usr/bin/env bash
# Fuzzes all that reads files, each for so many minutes (1 by default), with address and undefined-behavior
# sanitizers, and prints how many inputs each was given. Their findings are in build/fuzz/found, and belong to
# tests/malformed. The inputs that reach new code are kept in build/fuzz/corpus, where the next time continues.
# build/fuzz/inputs has a line for each run: the harness, its inputs, the commit and the date.
#
# usage: [FUZZ_TIMEOUT=SECONDS] tools/fuzz.sh [MINUTES [NAME ...]]     an input may take 5 seconds; more where others compute
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
source tools/sanitizers.sh

minutes=${1:-1}
shift || true
install_missing "${tool_packages[@]}" python3
find_clang
if [ ! -d build/fuzz/seeds ] && [ ! -x build/release/lagtape ]; then
  configure
  build "the tool" --target lagtape_tool
fi
[ -f build/asan/build.ninja ] || configure_asan
cmake --build build/asan --target lagtape_fuzzers
mkdir -p build/fuzz/found
[ -d build/fuzz/seeds ] || python3 -B tests/fuzz/seeds.py build/release/lagtape build/fuzz/seeds
names=("$@")
[ ${#names[@]} -gt 0 ] || names=($(cd tests/fuzz && ls -- *_fuzzer.cpp | sed 's/_fuzzer.cpp//'))
# Most of the time would go into the stacks of allocations that never fail.
export ASAN_OPTIONS=malloc_context_size=3:quarantine_size_mb=32:allocator_may_return_null=1

# The malformed files of a format are its seeds, and sound ones of the project.
seeds_of() {
  local files=tests/malformed/files
  case $1 in
    json | experiment) ls -d $files/experiment $files/table ;;
    safetensors) ls -d $files/weights ;;
    npy | csv | npz | idx | ts) ls -d "$files/$1" ;;
    sound) ls -d "$files/wav" ;;
    gzip) ls -d $files/idx ;;
    number_table | word_vectors | quote | lines) ls -d $files/csv $files/lines ;;
  esac
  [ ! -d "build/fuzz/seeds/$1" ] || echo "build/fuzz/seeds/$1"
}

# Bytes of an input at most. A packed input unpacks to a thousand times its size, and needs as much longer.
longest_of() {
  case $1 in
    gzip) echo 256 ;;
    npz) echo 1024 ;;
    *) echo 65536 ;;
  esac
}

# Leaks are looked for at the end: after each input that leaves a cache behind, that takes longer than the input. Inputs are
# drawn evenly, newer ones more often: libFuzzer's other way, by the rarity of what they reach (-entropic), computes more than a
# reader of much code does itself.
failed=0
commit=$(git rev-parse --short HEAD 2>/dev/null || echo -)
for name in "${names[@]}"; do
  mkdir -p "build/fuzz/corpus/$name"
  mapfile -t seeds < <(seeds_of "$name")
  words=()
  [ ! -f "tests/fuzz/$name.dict" ] || words=(-dict="tests/fuzz/$name.dict")
  log=build/fuzz/$name.log
  if build/asan/tests/fuzz/"${name}_fuzzer" -max_total_time=$((minutes * 60)) -timeout="${FUZZ_TIMEOUT:-5}" -rss_limit_mb=1024 \
      -detect_leaks=0 -entropic=0 -max_len="$(longest_of "$name")" "${words[@]}" -artifact_prefix="build/fuzz/found/$name-" \
      "build/fuzz/corpus/$name" "${seeds[@]}" >"$log" 2>&1; then
    end="no fault"
  else
    end="then a fault: $log"
    failed=1
  fi
  inputs=$(grep -oE '^(#|Done )[0-9]+' "$log" | tail -n 1 | grep -oE '[0-9]+' || echo 0)
  printf '%-14s %12s inputs, %s\n' "$name" "$inputs" "$end"
  printf '%s\t%s\t%s\t%s\n' "$name" "$inputs" "$commit" "$(date +%F)" >>build/fuzz/inputs
done
exit $failed
