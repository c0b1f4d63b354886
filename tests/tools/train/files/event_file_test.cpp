#include "lagtape/tools/train/files/event_file.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

#include "lagtape/core/io/file.h"
#include "lagtape/tests/core/support/temporary_folder.h"

namespace lagtape {
namespace {

/// CRC-32C by its definition, a bit at a time.
std::uint32_t slow_crc(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
  }
  return ~crc;
}

std::uint32_t masked(std::string_view bytes) {
  const std::uint32_t crc = slow_crc(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST_CASE("records of events have their length, and sums of length and content") {
  CHECK(slow_crc("123456789") == 0xe3069283U);  // the check value of CRC-32C
  const TemporaryFolder folder;
  const EventFile file(folder.path(), "{\"epoch\": 1, \"train_loss\": 0.5}\n");
  file.append(Json::parse(R"({"epoch": 2, "train_loss": 0.25})"));
  const std::string bytes = read_file(folder / "events.out.tfevents.0.lagtape");
  std::size_t records = 0, scalars = 0;
  for (std::size_t at = 0; at < bytes.size(); ++records) {
    REQUIRE(at + 12 <= bytes.size());
    const std::string_view rest = std::string_view(bytes).substr(at);
    const auto length = number_at<std::uint64_t>(rest, 0);
    REQUIRE(length + 16 <= rest.size());
    CHECK(number_at<std::uint32_t>(rest, 8) == masked(rest.substr(0, 8)));
    CHECK(number_at<std::uint32_t>(rest, 12 + length) == masked(rest.substr(12, length)));
    scalars += rest.substr(12, length).find("loss") != rest.npos ? 1 : 0;
    at += length + 16;
  }
  CHECK(records >= 3);  // the version first
  CHECK(scalars == 2);
}

}  // namespace
}  // namespace lagtape
