#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lagtape/core/error.h"

namespace lagtape::foreign {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are, little endian");

/// Bytes of a file; each read is checked against their number.
class ByteView {
 public:
  ByteView(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::string_view part(std::uint64_t offset, std::uint64_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) refuse("is cut off or damaged.");
    return bytes_.substr(offset, count);
  }
  /// The number at an offset.
  template <class T>
  T at(std::uint64_t offset) const {
    T value{};
    std::memcpy(&value, part(offset, sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t size() const { return bytes_.size(); }
  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(std::string_view message) const {
    throw InputError({where_}, Rule::damaged, message);
  }

 private:
  std::string_view bytes_;
  const std::string& where_;
};

}  // namespace lagtape::foreign
