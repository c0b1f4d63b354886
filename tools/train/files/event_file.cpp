#include "lagtape/tools/train/files/event_file.h"

#include <array>
#include <bit>
#include <chrono>

#include "lagtape/core/io/file.h"
#include "lagtape/core/io/protobuf.h"

namespace lagtape {

namespace {

/// The CRC-32C (Castagnoli), which zlib does not have.
std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      std::uint32_t rest = i;
      for (int bit = 0; bit < 8; ++bit) rest = rest & 1 ? rest >> 1 ^ 0x82f63b78U : rest >> 1;
      table[i] = rest;
    }
    return table;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

/// The checksum as records contain it: masked, so that a checksum of data with checksums stays useful.
std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8U; }

std::string record_of(const ProtobufWriter& message) {
  const std::string& event = message.bytes();
  const std::string length = little_endian_bytes(static_cast<std::uint64_t>(event.size()));
  return length + little_endian_bytes(masked(crc32c(length))) + event +
         little_endian_bytes(masked(crc32c(event)));
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The name under which TensorBoard shows a key: keys of one split in one group.
std::string tag_of(const std::string& name) {
  for (const std::string split : {"train", "valid"})
    if (name.starts_with(split + "_")) return split + "/" + name.substr(split.size() + 1);
  return name;
}

/// The bytes of a record.
std::string event_record(const Json& row) {
  ProtobufWriter event, summary;
  for (const auto& [name, value] : row.items()) {
    if (name == "step" || !value.is_number()) continue;
    ProtobufWriter scalar;
    scalar.bytes(1, tag_of(name));
    scalar.real(2, value.get<float>());
    summary.message(1, scalar);
  }
  event.real(1, now());
  event.integer(2, row.value("step", std::int64_t{0}));
  event.message(5, summary);
  return record_of(event);
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& run, const std::string& rows)
    : path_(run / "events.out.tfevents.0.lagtape") {
  ProtobufWriter version;
  version.real(1, now());
  version.bytes(3, "brain.Event:2");
  std::string records = record_of(version);
  for (std::size_t first = 0; first < rows.size(); first = rows.find('\n', first) + 1)
    records +=
        event_record(Json::parse(std::string_view(rows).substr(first, rows.find('\n', first) - first)));
  write_file_atomically(path_, records, Links::refused);
}

void EventFile::append(const Json& row) const { append_to_file(path_, event_record(row)); }

}  // namespace lagtape
