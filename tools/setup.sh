# Sourced by quickstart.sh and test.sh: installs what is missing and builds the release preset in the project's root.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The build, the library's dependencies, the tool's, and the tests'.
packages=(
  g++ cmake ninja-build
  libdnnl-dev libxsimd-dev libxbyak-dev nlohmann-json3-dev libarchive-dev
  libcli11-dev libfmt-dev
  doctest-dev python3
)

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | head -n 1)" = installed ]; }

install_missing() {
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

build() {
  say "Building (cmake --preset release && cmake --build --preset release)"
  cmake --preset release
  cmake --build --preset release
}

install_missing
build
