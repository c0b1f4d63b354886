#include "lagtape/core/hash.h"

#include <doctest/doctest.h>

using namespace lagtape;

TEST_CASE("the hash of a text is FNV-1a's") {
  CHECK(fnv1a("") == 0xcbf29ce484222325);
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8c);
  CHECK(fnv1a("foobar") == 0x85944171f73967e8);
  CHECK(fnv1a("\xff") != fnv1a("\x7f"));  // a byte is not negative
}
