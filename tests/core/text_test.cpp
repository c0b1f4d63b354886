#include "lagtape/core/text.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/core/tensor.h"
#include "lagtape/tests/core/support/hostile_locale.h"

using namespace lagtape;

namespace {

enum class Color { kRed, kGreen };
std::ostream& operator<<(std::ostream& out, Color color) {
  return out << (color == Color::kRed ? "red" : "green");
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
  CHECK(text_of(true, false, Color::kGreen) == "10green");
  CHECK(text_of().empty());
  const auto check = [](const auto&... parts) { CHECK(text_of(parts...) == streamed(parts...)); };
  check(1.0f / 3, 1e30f, -0.0, std::numeric_limits<double>::infinity(), 3.0L / 7);
  check(std::int8_t{65}, std::uint8_t{66}, std::int16_t{-3}, std::uint64_t(-1),
        std::numeric_limits<long>::min());
  check(std::string("a\0b", 3), std::string_view(), "", 'c', Color::kRed);
}

TEST_CASE("No text follows the global locale of its host") {
  const auto texts = [] {
    return text_of(text_of(12008, ' ', 1234567.5, ' ', 0.25f, ' ', std::boolalpha, true),
                   to_string(Tensor({1000, 1}, Dtype::f32).shape()), Json{{"n", 12008}, {"x", 0.5}}.dump(),
                   Json::parse("[1234.5, 12008]").dump(),
                   unexpected({"f", 1234}, Rule::shape, text_of(5678)).what());
  };
  const std::string classic = texts();
  const HostileLocale locale;
  CHECK(streamed(12008, ' ', 0.5) == "12.008 0,5");  // the locale is one that changes numbers
  CHECK(texts() == classic);
}

TEST_CASE("A manipulator acts on the parts after it") {
  CHECK(text_of(std::setprecision(3), 1.0 / 3, ' ', 2.0 / 3) == "0.333 0.667");
  CHECK(text_of(std::fixed, std::setprecision(1), 2.0) == "2.0");
}
