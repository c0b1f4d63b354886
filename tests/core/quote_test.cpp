#include "lagtape/core/quote.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"

using namespace lagtape;

TEST_CASE("What could act on a terminal is escaped, and nothing else") {
  CHECK(printable("plain text, 'quotes' and \\ too") == "plain text, 'quotes' and \\ too");
  CHECK(printable("\x1b[2J\x1b]0;title\x07") == "\\x1b[2J\\x1b]0;title\\x07");
  CHECK(printable(std::string("a\0b\tc\nd\re\x7f", 10)) == "a\\x00b\\tc\\nd\\re\\u007f");
  CHECK(printable("a\nb\tc", true) == "a\nb\\tc");
  CHECK(printable("Grüße, 漢字, 😀") == "Grüße, 漢字, 😀");
  CHECK(printable("\xc2\x9b"
                  "2J") == "\\u009b2J");  // a control character of two bytes
  CHECK(printable("\u202ehcope\u2028") ==
        "\\u202ehcope\\u2028");               // text from right to left, and a line's end
  CHECK(printable("\u061c7") == "\\u061c7");  // a mark of Arabic letters' direction
}

TEST_CASE("Bytes that are not UTF-8 are escaped one by one") {
  CHECK(printable("\xff"
                  "a\xc3") == "\\xffa\\xc3");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                    // longer than needed
  CHECK(printable("\xe0\x9f\xbf") == "\\xe0\\x9f\\xbf");           // the same with three bytes
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a pair of UTF-16
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last character
  CHECK(is_utf8("ü漢😀"));
  CHECK(is_utf8(""));
  for (const char* text : {"\xff", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf5\x80\x80\x80", "a\x80"})
    CHECK_FALSE(is_utf8(text));
}

TEST_CASE("A text is quoted up to a length, and no character is cut") {
  CHECK(quote("tau_gru") == "'tau_gru'");
  CHECK(quote("") == "''");
  CHECK(quote(std::string(100, 'x')) == text_of("'", std::string(60, 'x'), "...'"));
  CHECK(quote("aü", 2) == "'a...'");
  CHECK(quote("aü", 3) == "'aü'");
  CHECK(shortened("\n\n\n", 2) == "\\n\\n...");
  CHECK(shortened(std::string(10, '\x80'), 5) == "...");
}

TEST_CASE("A list of names names the first ones") {
  CHECK(listed({}) == "");
  CHECK(listed({"a", "b\x1b"}) == "a, b\\x1b");
  CHECK(listed({"a", "b", "c"}, 2) == "a, b and 1 more");
}
