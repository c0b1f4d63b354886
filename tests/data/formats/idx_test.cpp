#include "lagtape/data/formats/idx.h"

#include <doctest/doctest.h>

#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

TEST_CASE("an IDX file is read, plain or gzip") {
  const std::string bytes = idx_bytes({2, 3}, "abcdef");
  TemporaryFolder folder;
  write_sample(folder.path() / "plain", bytes);
  write_sample(folder.path() / "packed", gzip(bytes));
  for (const char* name : {"plain", "packed"}) {
    const Idx idx = read_idx(folder.path() / name, 2);
    CHECK(idx.shape == Shape{2, 3});
    CHECK(std::string(idx.values().begin(), idx.values().end()) == "abcdef");
  }
}

TEST_CASE("an IDX file without elements is read") {
  CHECK(parse_idx(idx_bytes({0, 28, 28}, ""), 3, "sample").values().empty());
}

TEST_CASE("foreign and damaged IDX files are refused with what was found and expected") {
  auto message = [](const std::string& bytes) {
    return input_error_of([&] { parse_idx(bytes, 2, "sample"); });
  };
  const std::string sound = idx_bytes({2, 3}, "abcdef");
  CHECK(message(sound).empty());

  CHECK(has(message("\x89PNG\r\n"), "begins with '00 00 08 02', got '89 50 4e 47'"));
  CHECK(has(message(idx_bytes({6}, "abcdef")), "begins with '00 00 08 02', got '00 00 08 01'"));
  CHECK(has(message(""), "begins with '00 00 08 02', got ''"));
  CHECK(has(message(sound.substr(0, 9)), "9 bytes, its header alone has 12"));
  CHECK(has(message(sound.substr(0, 17)), "[2, 3] bytes, but 5 bytes follow"));
  CHECK(has(message(sound + "g"), "[2, 3] bytes, but 7 bytes follow"));
}

TEST_CASE("extents whose product overflows are refused") {
  const std::string bytes = idx_bytes({0x80000000u, 0x80000000u, 0x80000000u}, "abc");
  CHECK(has(input_error_of([&] { parse_idx(bytes, 3, "sample"); }), "3 bytes follow"));
  CHECK_FALSE(input_error_of([] {
                parse_idx(idx_bytes({0xffffffffu, 0xffffffffu, 0}, "abc"), 3, "s");
              }).empty());
}
