#include "lagtape/core/text.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>

using namespace lagtape;

namespace {

enum class Colour { kRed, kGreen };
std::ostream& operator<<(std::ostream& out, Colour colour) {
  return out << (colour == Colour::kRed ? "red" : "green");
}

// The reference: one stream that takes every part by itself.
template <class... Parts>
std::string streamed(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace

TEST_CASE("A text's parts are written as a stream writes them") {
  const std::string name = "tau";
  const char* pointer = "char*";
  const char array[] = "array";
  CHECK(text_of("step ", 3, ' ', name, '\'', std::string_view("view"), pointer, array) ==
        "step 3 tau'viewchar*array");
  CHECK(text_of(0.1 + 0.2, ' ', 1.0 / 3, ' ', 1e-20, ' ', 1234567.0, ' ', 2.0) ==
        "0.3 0.333333 1e-20 1.23457e+06 2");
  CHECK(text_of(true, false, Colour::kGreen) == "10green");
  CHECK(text_of().empty());
  const auto check = [](const auto&... parts) { CHECK(text_of(parts...) == streamed(parts...)); };
  check(1.0f / 3, 1e30f, -0.0, std::numeric_limits<double>::infinity(), 3.0L / 7);
  check(std::int8_t{65}, std::uint8_t{66}, std::int16_t{-3}, std::uint64_t(-1),
        std::numeric_limits<long>::min());
  check(std::string("a\0b", 3), std::string_view(), "", 'c', Colour::kRed);
}

TEST_CASE("A manipulator acts on the parts after it") {
  CHECK(text_of(std::setprecision(3), 1.0 / 3, ' ', 2.0 / 3) == "0.333 0.667");
  CHECK(text_of(std::fixed, std::setprecision(1), 2.0) == "2.0");
}
