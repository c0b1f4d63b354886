# Sourced by fuzz.sh and sanitize.sh after setup.sh: builds with sanitizers by clang, which compiles them in half of GCC's time.

# Finds clang, or installs it, with the libraries that its programs need here.
find_clang() {
  clang=$(command -v clang++ || compgen -c clang++- | sort -V | head -n 1 || true)
  [ -n "$clang" ] && echo '#include <omp.h>' | "$clang" -x c++ -fsyntax-only - 2>/dev/null && return
  install_missing clang libclang-rt-dev libomp-dev
  clang=clang++
}

# The tool, the tests and the fuzzers of one build are made of the same objects.
configure_asan() {
  cmake --preset asan -DCMAKE_CXX_COMPILER="$clang" -DLAGTAPE_SANITIZE=address,undefined,fuzzer-no-link -DLAGTAPE_TESTS=ON \
    -DLAGTAPE_PYTHON=OFF >/dev/null
}
