#!/usr/bin/env bash
# Builds with sanitizers and hardened libraries, and runs the suite in each build: what goes wrong without a visible effect is
# an error there. The builds are separate, under build/, and made by clang, except for `hardened`.
#
# usage: tools/sanitize.sh [address] [thread] [hardened] [valgrind]      all of them by default
#
#   address    addresses and undefined behavior, over all tests and the malformed files
#   thread     data races, over all that has threads
#   hardened   the checks of libstdc++, and locals that begin with a pattern: the bits of trainings are the same
#   valgrind   reading a model, predicting and streaming, of a plain build
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
source tools/sanitizers.sh

install_missing "${tool_packages[@]}" "${test_packages[@]}"
jobs=${JOBS:-$(nproc)}
with_threads=(lagtape_tool lagtape_test_core lagtape_test_recurrence lagtape_test_cells lagtape_test_tools)
all=("${with_threads[@]}" lagtape_test_kernels lagtape_test_ops lagtape_test_optim lagtape_test_data)
# Tests that measure time or memory, build the library again, or read the sources: a sanitizer has nothing to say there.
left_out='^(install|consumer.*|structure.*|documents.*|recipes|cell_recipe|element_function|kernel_symbols|missing_packages|python.*|lv2|realtime|theory|cli_docs|cli_bench|cli_aarch64)$'
threads='^(core|recurrence|cells|tools|cli_train|cli_resume|cli_table|cli_search|cli_predict|cli_configurations)$'

build_preset() { # PRESET TARGET...
  local preset=$1
  shift
  say "Building the preset $preset"
  cmake --build "build/$preset" -j "$jobs" --target "$@"
}

export LAGTAPE_TEST_PATIENCE=10  # sanitizers slow the tool down, and tests of its time allow for that

run_tests() { # PRESET OPTION...
  local preset=$1
  shift
  say "Tests of the preset $preset"
  ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --timeout 3600 "$@"
}

address() {
  find_clang
  configure_asan
  build_preset asan "${all[@]}"
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  run_tests asan -E "$left_out"
}

thread() {
  find_clang
  cmake --preset tsan -DCMAKE_CXX_COMPILER="$clang" -DLAGTAPE_TESTS=ON -DLAGTAPE_PYTHON=OFF >/dev/null
  build_preset tsan "${with_threads[@]}"
  # A test forks a process with threads, which starts its own threads.
  export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0
  run_tests tsan -R "$threads"
}

hardened() {
  cmake --preset hardened -DLAGTAPE_TESTS=ON -DLAGTAPE_PYTHON=OFF >/dev/null
  build_preset hardened "${all[@]}"
  run_tests hardened -E "$left_out"
}

valgrind_run() {
  configure
  build "the tool" --target lagtape_tool
  local place
  place=$(mktemp -d)
  build/release/lagtape train tools/experiments/mackey_glass/tau_gru.json --set train.epochs=1 --set data.train=4 \
    --set data.valid=2 --set data.test=2 --set data.length=100 --out "$place/run" --quiet >/dev/null
  printf '1\n2\n3\n4\n' >"$place/x.csv"
  for more in "" --stream "--stream --simd avx2" "--simd generic"; do
    say "valgrind: predict $more"
    # AVX-512 is unknown to valgrind.
    LAGTAPE_SIMD=avx2 valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
      build/release/lagtape predict "$place/run" $more --input "$place/x.csv" --output - >/dev/null
  done
  rm -r "$place"
}

[ $# -gt 0 ] || set -- address thread hardened valgrind
for name in "$@"; do
  case $name in
    address | thread | hardened) "$name" ;;
    valgrind) valgrind_run ;;
    *) fail "no such build: $name" ;;
  esac
done
say "All clean: $*"
