#include "lagtape/data/formats/idx.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/gzip.h"

namespace lagtape {

namespace {

constexpr char kUnsignedByte = 8;

std::string hexadecimal(std::string_view bytes) {
  std::ostringstream out;
  out << std::hex << std::setfill('0');
  for (char c : bytes)
    out << (out.tellp() > 0 ? " " : "") << std::setw(2) << int{static_cast<unsigned char>(c)};
  return out.str();
}

std::int64_t big_endian(std::string_view bytes) {
  std::int64_t value = 0;
  for (char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

}  // namespace

std::span<const std::uint8_t> Idx::values() const {
  const std::size_t header = 4 + 4 * shape.size();
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()) + header, bytes.size() - header};
}

Idx parse_idx(std::string bytes, std::int64_t rank, const std::string& where) {
  const std::string magic{'\0', '\0', kUnsignedByte, static_cast<char>(rank)};
  if (!bytes.starts_with(magic)) {
    throw InputError(text_of(where, ": not an IDX file of bytes with ", rank, " axes. It begins with '",
                             hexadecimal(std::string_view(bytes).substr(0, 4)), "', expected '",
                             hexadecimal(magic), "'."));
  }
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(rank);
  if (bytes.size() < header) {
    throw InputError(
        text_of(where, ": cut short: ", bytes.size(), " bytes, its header alone has ", header, "."));
  }
  Idx idx;
  const auto present = static_cast<std::int64_t>(bytes.size() - header);
  std::int64_t expected = 1;
  bool fits = true;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const std::int64_t extent =
        big_endian(std::string_view(bytes).substr(4 + 4 * static_cast<std::size_t>(axis)));
    idx.shape.push_back(extent);
    fits = fits &&
           expected <= std::max<std::int64_t>(present, 1);  // so that the product stays below 2^63 + 2^31
    if (fits) expected *= extent;
  }
  if (!fits || expected != present) {
    throw InputError(text_of(where, ": its header says ", to_string(idx.shape), " bytes, but ", present,
                             " bytes follow it."));
  }
  idx.bytes = std::move(bytes);
  return idx;
}

Idx read_idx(const std::filesystem::path& path, std::int64_t rank) {
  return parse_idx(read_plain_or_gzip(path), rank, path.string());
}

}  // namespace lagtape
