#include "lagtape/tools/train/files/event_file.h"

#include <array>
#include <bit>
#include <chrono>
#include <cstring>

#include "lagtape/core/io/file.h"

namespace lagtape {

namespace {

template <class T>
std::string raw_bytes(T value) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// The encoding of protocol buffers: a key (number and wire type) before each value.

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string key(int number, int wire_type) {
  return varint(static_cast<std::uint64_t>(number << 3 | wire_type));
}
std::string integer_field(int number, std::int64_t value) {
  return key(number, 0) + varint(static_cast<std::uint64_t>(value));
}
std::string double_field(int number, double value) { return key(number, 1) + raw_bytes(value); }
std::string bytes_field(int number, const std::string& bytes) {
  return key(number, 2) + varint(bytes.size()) + bytes;
}
std::string float_field(int number, float value) { return key(number, 5) + raw_bytes(value); }

/// The checksum as records contain it, changed so that a checksum of checksums is none.
std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8U; }

std::string record_of(const std::string& event) {
  const std::string length = raw_bytes(static_cast<std::uint64_t>(event.size()));
  return length + raw_bytes(masked(crc32c(length))) + event + raw_bytes(masked(crc32c(event)));
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

}  // namespace

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

std::string event_record(const Json& row, double wall_time) {
  std::string summary;
  for (const auto& [name, value] : row.items()) {
    if (name == "step" || !value.is_number()) continue;
    summary += bytes_field(
        1, bytes_field(1, tag_of(name)) + float_field(2, static_cast<float>(value.get<double>())));
  }
  return record_of(double_field(1, wall_time) + integer_field(2, row.value("step", std::int64_t{0})) +
                   bytes_field(5, summary));
}

EventFile::EventFile(const std::filesystem::path& run, const std::string& rows)
    : path_(run / "events.out.tfevents.0.lagtape") {
  std::string records = record_of(double_field(1, now()) + bytes_field(3, "brain.Event:2"));
  for (std::size_t first = 0; first < rows.size(); first = rows.find('\n', first) + 1)
    records += event_record(Json::parse(std::string_view(rows).substr(first, rows.find('\n', first) - first)),
                            now());
  write_file_atomically(path_, records, Links::refused);
}

void EventFile::append(const Json& row) const { append_to_file(path_, event_record(row, now())); }

}  // namespace lagtape
