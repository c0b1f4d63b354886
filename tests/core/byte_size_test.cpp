#include "lagtape/core/byte_size.h"

#include <doctest/doctest.h>

using namespace lagtape;

TEST_CASE("bytes are told in the largest unit that they fill") {
  CHECK(bytes_of(0) == "0 B");
  CHECK(bytes_of(1023) == "1023 B");
  CHECK(bytes_of(1024) == "1.0 KiB");
  CHECK(bytes_of(600 * 1024 + 512) == "600.5 KiB");
  CHECK(bytes_of(std::int64_t{64} << 20) == "64.0 MiB");
  CHECK(bytes_of(std::int64_t{3} << 40) == "3.0 TiB");
  CHECK(bytes_of(std::int64_t{3} << 50) == "3072.0 TiB");
}

TEST_CASE("bytes that a user may give back are told in full") {
  CHECK(exact_bytes_of(512) == "512 B");
  CHECK(exact_bytes_of(10241) == "10.0 KiB (10241 bytes)");
}
