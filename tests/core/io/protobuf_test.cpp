#include "lagtape/core/io/protobuf.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

TEST_CASE("messages are written as the format's own examples are") {
  ProtobufWriter inner, outer;
  inner.integer(1, 150);
  CHECK(inner.bytes() == "\x08\x96\x01");
  outer.bytes(2, "testing");
  CHECK(outer.bytes() == "\x12\x07testing");
  ProtobufWriter around;
  around.message(3, inner);
  CHECK(around.bytes() == "\x1a\x03\x08\x96\x01");
  ProtobufWriter negative;
  negative.integer(1, -1);
  CHECK(negative.bytes() == "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST_CASE("what is written is read") {
  ProtobufWriter message;
  message.integer(1, -7);
  message.real(2, 0.25F);
  message.real(3, 1e300);
  message.bytes(16, std::string(200, 'x'));
  ProtobufReader reader(message.bytes(), "m");
  CHECK((reader.next() && reader.field() == 1 && reader.integer() == -7));
  CHECK((reader.next() && reader.field() == 2 && reader.real() == 0.25F));
  CHECK_THROWS_WITH_AS(reader.integer(), "m: is damaged: field 2 has another type.", InputError);
  CHECK((reader.next() && reader.field() == 3));
  CHECK((reader.next() && reader.field() == 16 && reader.bytes() == std::string(200, 'x')));
  CHECK_FALSE(reader.next());
}

TEST_CASE("a size is compared with the bytes that are there") {
  ProtobufReader reader("\x12\xff\xff\xff\xff\x0ftesting", "m");
  CHECK_THROWS_WITH_AS(reader.next(),
                       "m: is cut off, or damaged: field 2 has 4294967295 bytes, of which 7 are there.",
                       InputError);
}

}  // namespace
}  // namespace lagtape
