#!/usr/bin/env bash
# Builds the tool for 64-bit ARM on a Debian machine with another processor, into build/aarch64, where qemu-aarch64 runs it. A
# machine with 64-bit ARM needs no such script: there the tool is built as anywhere.
#
# usage: tools/aarch64.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

dpkg --print-foreign-architectures | grep -qx arm64 ||
  fail "packages for arm64 are not known here. Have an administrator run: dpkg --add-architecture arm64"
install_missing g++-aarch64-linux-gnu qemu-user cmake ninja-build libxsimd-dev nlohmann-json3-dev libcli11-dev \
  libarchive-dev:arm64 zlib1g-dev:arm64 libsndfile1-dev:arm64 libhowardhinnant-date-dev:arm64 libfmt-dev:arm64 libdnnl2:arm64
# oneDNN's headers cannot be installed for two processors at once, so those for ARM are unpacked.
onednn=$PWD/build/arm64
if [ ! -f "$onednn/usr/include/dnnl.h" ]; then
  mkdir -p "$onednn"
  (cd "$onednn" && apt-get -qq download libdnnl-dev:arm64 && dpkg -x libdnnl-dev_*_arm64.deb .)
  cp -a /usr/lib/aarch64-linux-gnu/libdnnl.so.2* "$onednn/usr/lib/aarch64-linux-gnu/"
fi
cmake --preset aarch64 -DLAGTAPE_TRAINING=ON -DLAGTAPE_TOOL=ON -DCMAKE_PREFIX_PATH="$onednn/usr" \
  -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu
cmake --build build/aarch64 --target lagtape_tool
say "Here it is run by: qemu-aarch64 build/aarch64/lagtape"
