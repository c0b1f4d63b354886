#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests that are not labelled slow.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_missing "${tool_packages[@]}" "${test_packages[@]}"
(install_missing chromium) || say "Without Chromium the site is not tried in a browser."
make_python_environment
configure -DLAGTAPE_TESTS=ON
build "the library, the tool, the Python module and the tests"

say "Testing (ctest --preset release)"
ctest --preset release "$@"
