#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lagtape {

/// Writes the fields of one message in the wire format of Protocol Buffers, of which a model in ONNX needs
/// four kinds. So little does not weigh up a library and a compiler for message definitions.
class ProtobufMessage {
 public:
  const std::string& bytes() const { return bytes_; }

  void integer(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
  }
  /// Text, bytes, or another message.
  void bytes(int field, std::string_view value) {
    varint((static_cast<std::uint64_t>(field) << 3) | 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(int field, const ProtobufMessage& value) { bytes(field, value.bytes()); }

 private:
  /// Seven bits a byte, the lowest first; a set top bit says that more follow.
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>((value & 127) | 128);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace lagtape
