#include "lagtape/data/formats/gzip.h"

#include <doctest/doctest.h>

#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

// A file made by Python's gzip module.
const std::string kPacked(
    "\037\213\010\000\000\000\000\000\002\003\053\112\115\056\055\052\112\315\113\116\125\050\302\306\344\002"
    "\000\057\242\352\353\041\000\000\000",
    35);
const std::string kContent = "recurrence recurrence recurrence\n";

}  // namespace

TEST_CASE("a gzip file is unpacked") {
  CHECK(is_gzip(kPacked));
  CHECK(gunzip(kPacked, "sample") == kContent);
  CHECK(gunzip(gzip(kContent), "sample") == kContent);
  CHECK(gunzip(gzip(std::string(3'000'000, 'x')), "sample") == std::string(3'000'000, 'x'));
  CHECK(gunzip(gzip(""), "sample").empty());
}

TEST_CASE("a file is read whether it is plain or gzip") {
  TemporaryFolder folder;
  write_sample(folder.path() / "plain", kContent);
  write_sample(folder.path() / "packed", kPacked);
  std::string beginning;
  const auto size = [&](std::string_view bytes) {
    beginning = bytes;
    return kContent.size();
  };
  CHECK(read_plain_or_gzip(folder.path() / "plain", size) == kContent);
  CHECK(read_plain_or_gzip(folder.path() / "packed", size) == kContent);
  CHECK(beginning == kContent);
  CHECK(has(input_error_of([&] { read_plain_or_gzip(folder.path() / "missing", size); }), "missing"));
}

TEST_CASE("no more is unpacked than the header of the content asks for") {
  TemporaryFolder folder;
  write_sample(folder.path() / "bomb", gzip(std::string(3'000'000, 'x')));
  std::size_t seen = 0;
  const auto ten = [&](std::string_view bytes) {
    seen = bytes.size();
    return std::uint64_t{10};
  };
  CHECK(has(input_error_of([&] { read_plain_or_gzip(folder.path() / "bomb", ten); }),
            "bomb: its header asks for 10 bytes, but 3000000 are packed."));
  CHECK(seen == 65536);
}

TEST_CASE("a gzip file that is cut short is refused, wherever it is cut") {
  for (std::size_t length = 0; length < kPacked.size(); ++length) {
    CAPTURE(length);
    CHECK(has(input_error_of([&] { gunzip(kPacked.substr(0, length), "sample"); }), "sample: "));
  }
}

TEST_CASE("no changed bit changes the content unnoticed") {
  for (std::size_t bit = 0; bit < 8 * kPacked.size(); ++bit) {
    CAPTURE(bit);
    std::string damaged = kPacked, content = kContent;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    const std::string message = input_error_of([&] { content = gunzip(damaged, "sample"); });
    CHECK((content == kContent || has(message, "sample: ")));
    if (bit >= 8 * (kPacked.size() - 8))
      CHECK_FALSE(message.empty());  // the checksum and the size themselves
  }
}

TEST_CASE("a size that the compressed bytes cannot hold is refused before it is allocated") {
  std::string forged = kPacked;
  forged.replace(forged.size() - 4, 4, "\xff\xff\xff\xff");
  CHECK(has(input_error_of([&] { gunzip(forged, "sample"); }), "4294967295"));
}
