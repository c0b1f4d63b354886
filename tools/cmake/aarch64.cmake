# For builds on Debian of what runs on 64-bit ARM under Linux: cmake --toolchain tools/cmake/aarch64.cmake -DLAGTAPE_TRAINING=OFF
# The compiler is g++-aarch64-linux-gnu; tests run what it built under qemu-aarch64 (qemu-user).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# Debian counts xsimd among the libraries of one processor; it is headers alone, which serve for all.
file(GLOB xsimd_DIR /usr/lib/*/cmake/xsimd)
