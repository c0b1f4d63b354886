#!/usr/bin/env bash
# Installs what is missing, builds, and runs the whole test suite, all but the tests labelled slow.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

say "Testing (ctest --preset release)"
ctest --preset release "$@"
