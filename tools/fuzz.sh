#!/usr/bin/env bash
# Fuzzes all that reads files, each for so many minutes (1 by default), with address and undefined-behaviour sanitizers, and
# prints how many inputs each was given. What they find is left in build/fuzz/found: it belongs to tests/malformed. The inputs
# that reach new code are kept in build/fuzz/corpus, where the next time goes on.
#
# usage: [FUZZ_TIMEOUT=SECONDS] tools/fuzz.sh [MINUTES [NAME ...]]     an input may take 5 seconds; more where others compute
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

minutes=${1:-1}
shift || true
install_missing "${tool_packages[@]}" python3
any_clang() { command -v clang++ || compgen -c clang++- | sort -V | head -n 1; }
[ -n "$(any_clang)" ] || install_missing clang libclang-rt-dev
if [ ! -x build/release/lagtape ]; then
  configure
  build "the tool" --target lagtape_tool
fi
[ -f build/fuzz/build.ninja ] || cmake -S tests/fuzz -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER="$(any_clang)" >/dev/null
cmake --build build/fuzz
mkdir -p build/fuzz/found
[ -d build/fuzz/seeds ] || python3 -B tests/fuzz/seeds.py build/release/lagtape build/fuzz/seeds
names=("$@")
[ ${#names[@]} -gt 0 ] || names=($(cd tests/fuzz && ls -- *_fuzzer.cpp | sed 's/_fuzzer.cpp//'))

# The malformed files of a format are its seeds, and sound ones of the project.
seeds_of() {
  local files=tests/malformed/files
  case $1 in
    json | experiment) ls -d $files/experiment $files/table ;;
    safetensors) ls -d $files/weights ;;
    npy | csv | npz | idx | ts | wav) ls -d "$files/$1" ;;
    gzip) ls -d $files/idx ;;
    number_table | word_vectors | quote | lines) ls -d $files/csv $files/lines ;;
  esac
  [ ! -d "build/fuzz/seeds/$1" ] || echo "build/fuzz/seeds/$1"
}

failed=0
for name in "${names[@]}"; do
  mkdir -p "build/fuzz/corpus/$name"
  mapfile -t seeds < <(seeds_of "$name")
  words=()
  [ ! -f "tests/fuzz/$name.dict" ] || words=(-dict="tests/fuzz/$name.dict")
  log=build/fuzz/$name.log
  if build/fuzz/"${name}_fuzzer" -max_total_time=$((minutes * 60)) -timeout="${FUZZ_TIMEOUT:-5}" -rss_limit_mb=1024 -max_len=65536 \
      "${words[@]}" -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/corpus/$name" "${seeds[@]}" >"$log" 2>&1; then
    printf '%-14s %12s inputs, no fault\n' "$name" "$(grep -oE 'Done [0-9]+' "$log" | grep -oE '[0-9]+')"
  else
    printf '%-14s a fault: %s\n' "$name" "$log"
    failed=1
  fi
done
exit $failed
