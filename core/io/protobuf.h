#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace lagtape {

// The wire format of Protocol Buffers, https://protobuf.dev/programming-guides/encoding, used by ONNX and
// TensorBoard files.

/// How a value is encoded; it is written with the field's number.
enum class Wire : std::uint8_t { integer = 0, eight = 1, bytes = 2, four = 5 };

/// Reads the fields of one Protocol Buffers message, one after another:
///
///     ProtobufReader message(bytes, "model.onnx: graph");
///     while (message.next())
///       if (message.field() == 2) name = message.bytes();
///
/// Every size is checked against the bytes available. Throws InputError that starts with `place` for bytes that
/// are not a message, and for a field that is read as the wrong type.
class ProtobufReader {
 public:
  ProtobufReader(std::string_view bytes, std::string place);

  /// Moves to the next field; false at the end.
  bool next();
  std::uint32_t field() const { return field_; }

  // The value of the current field.
  std::int64_t integer() const;                            ///< a number of variable length
  std::string_view bytes() const;                          ///< a text, a message or packed numbers
  float real() const;                                      ///< a number of 4 bytes
  bool is_packed() const { return wire_ == Wire::bytes; }  ///< a list of numbers as one field

  /// Removes one number of variable length from the front of packed numbers.
  static std::int64_t take_integer(std::string_view& packed, const std::string& place);

 private:
  void require(Wire wire) const;
  std::string_view take(std::uint64_t count);

  std::string_view rest_;
  std::string place_;
  std::uint32_t field_ = 0;
  Wire wire_ = Wire::integer;
  std::int64_t integer_ = 0;
  std::string_view bytes_;
};

/// Writes the fields of one message, in the order of the calls.
class ProtobufWriter {
 public:
  const std::string& bytes() const { return bytes_; }

  void integer(std::uint32_t field, std::int64_t value);
  void real(std::uint32_t field, float value);
  void real(std::uint32_t field, double value);
  void bytes(std::uint32_t field, std::string_view value);  ///< a text or bytes
  void message(std::uint32_t field, const ProtobufWriter& value) { bytes(field, value.bytes()); }

 private:
  void key(std::uint32_t field, Wire wire);
  void varint(std::uint64_t value);

  std::string bytes_;
};

/// The little-endian bytes of a number.
template <class T>
std::string little_endian_bytes(T value) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace lagtape
