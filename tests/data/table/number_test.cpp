#include "lagtape/data/table/number.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <random>

using namespace lagtape;

TEST_CASE("a number is a whole text with its decimal point") {
  CHECK(parse_number("-4.5e1") == -45);
  CHECK(parse_number("+.5") == 0.5);
  CHECK(parse_number("1,5", ',') == 1.5);
  CHECK(parse_number("15", ',') == 15);
  CHECK(parse_number<float>("0.1") == 0.1F);
  CHECK(parse_number("\u22124,5", ',') == -4.5);  // the minus sign of typography
  for (const char* text : {"", "+", "+-1", "1 ", " 1", "0x10", "1.5.2", "1,5", "e3", "1e"})
    CHECK_FALSE(parse_number(text));
  CHECK_FALSE(parse_number("1.5", ','));
  CHECK_FALSE(parse_number("1.000,5", ','));
}

TEST_CASE("plain decimals are rounded once, as from_chars rounds them") {
  std::mt19937_64 draw(1);
  const auto random = [&](std::uint64_t most) { return draw() % (most + 1); };
  for (int i = 0; i < 200'000; ++i) {
    std::string text = random(3) == 0 ? "-" : "";
    for (std::uint64_t n = random(12); n > 0; --n) text += static_cast<char>('0' + random(9));
    if (random(4) != 0) text += '.';
    for (std::uint64_t n = random(8); n > 0; --n) text += static_cast<char>('0' + random(9));
    double expected = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    const std::optional<double> found = parse_number(text);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (found.has_value() != is_number ||
        (is_number && std::bit_cast<std::uint64_t>(*found) != std::bit_cast<std::uint64_t>(expected)))
      FAIL(text);
    std::ranges::replace(text, '.', ',');
    if (is_number && parse_number(text, ',') != expected) FAIL(text);
  }
  CHECK(std::signbit(*parse_number("-0.00")));
}

TEST_CASE("a number that cannot be held is one that is not finite") {
  REQUIRE(parse_number("1e999"));
  CHECK(std::isnan(*parse_number("1e999")));
  CHECK(std::isnan(*parse_number<float>("1e99")));
  CHECK(parse_number("1e99") == 1e99);
  CHECK(std::isinf(*parse_number("-inf")));
  CHECK(std::isnan(*parse_number("nan")));
}

TEST_CASE("separators of thousands stand before three digits") {
  for (const char* text : {"1,000.50", "12 345", "-1,234,567", "1'000", "\u22121,000"})
    CHECK(has_thousands(text, '.'));
  for (const char* text : {"1,00.5", "1,000x", "1..000", ",000.5", "12:30", "1000", "0,123.5", "1234,567"})
    CHECK_FALSE(has_thousands(text, '.'));
  CHECK(has_thousands("1.000,5", ','));
}

TEST_CASE("signs of a missing number are known in small and large letters") {
  for (const char* text : {"", "NA", "NaN", "-nan", "<NA>", "#DIV/0!", "#N/A", "unavailable", "Unknown",
                           "None", "null", "-", "1.#QNAN"})
    CHECK(is_missing(text));
  for (const char* text : {"0", "inf", "fault", "not available here", "n"}) CHECK_FALSE(is_missing(text));
}
