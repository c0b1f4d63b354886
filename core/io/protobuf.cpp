#include "lagtape/core/io/protobuf.h"

#include <cstring>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {

ProtobufReader::ProtobufReader(std::string_view bytes, std::string place)
    : rest_(bytes), place_(std::move(place)) {}

std::int64_t ProtobufReader::take_integer(std::string_view& packed, const std::string& place) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (packed.empty()) throw InputError({place}, Rule::damaged, "is cut off, or damaged.");
    const auto byte = static_cast<unsigned char>(packed.front());
    packed.remove_prefix(1);
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return static_cast<std::int64_t>(value);
  }
  throw InputError({place}, Rule::damaged, "is damaged: a number of more than 10 bytes.");
}

std::string_view ProtobufReader::take(std::uint64_t count) {
  if (count > rest_.size())
    throw InputError({place_}, Rule::damaged,
                     text_of("is cut off, or damaged: field ", field_, " has ", count, " bytes, of which ",
                             rest_.size(), " are there."));
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

bool ProtobufReader::next() {
  if (rest_.empty()) return false;
  const auto key = static_cast<std::uint64_t>(take_integer(rest_, place_));
  field_ = static_cast<std::uint32_t>(key >> 3);
  wire_ = static_cast<Wire>(key & 7);
  if (field_ == 0) throw InputError({place_}, Rule::damaged, "is damaged: a field of the number 0.");
  switch (wire_) {
    case Wire::integer: integer_ = take_integer(rest_, place_); return true;
    case Wire::eight: bytes_ = take(8); return true;
    case Wire::bytes: bytes_ = take(static_cast<std::uint64_t>(take_integer(rest_, place_))); return true;
    case Wire::four: bytes_ = take(4); return true;
  }
  throw InputError({place_}, Rule::damaged,
                   text_of("is damaged: field ", field_, " has the unknown type ", key & 7, "."));
}

void ProtobufReader::require(Wire wire) const {
  if (wire_ != wire)
    throw InputError({place_}, Rule::damaged, text_of("is damaged: field ", field_, " has another type."));
}

std::int64_t ProtobufReader::integer() const {
  require(Wire::integer);
  return integer_;
}

std::string_view ProtobufReader::bytes() const {
  require(Wire::bytes);
  return bytes_;
}

float ProtobufReader::real() const {
  require(Wire::four);
  float value = 0;
  std::memcpy(&value, bytes_.data(), sizeof value);
  return value;
}

void ProtobufWriter::integer(std::uint32_t field, std::int64_t value) {
  key(field, Wire::integer);
  varint(static_cast<std::uint64_t>(value));
}

void ProtobufWriter::real(std::uint32_t field, float value) {
  key(field, Wire::four);
  bytes_ += little_endian_bytes(value);
}

void ProtobufWriter::real(std::uint32_t field, double value) {
  key(field, Wire::eight);
  bytes_ += little_endian_bytes(value);
}

void ProtobufWriter::bytes(std::uint32_t field, std::string_view value) {
  key(field, Wire::bytes);
  varint(value.size());
  bytes_ += value;
}

void ProtobufWriter::key(std::uint32_t field, Wire wire) {
  varint(field << 3 | static_cast<std::uint32_t>(wire));
}

/// Seven bits a byte, the lowest first; a set top bit says that more follow.
void ProtobufWriter::varint(std::uint64_t value) {
  for (; value >= 128; value >>= 7) bytes_ += static_cast<char>((value & 127) | 128);
  bytes_ += static_cast<char>(value);
}

}  // namespace lagtape
