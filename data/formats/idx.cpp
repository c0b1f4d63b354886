#include "lagtape/data/formats/idx.h"

#include <algorithm>
#include <iomanip>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/gzip.h"

namespace lagtape {

namespace {

constexpr char kUnsignedByte = 8;

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes)
    text += text_of(text.empty() ? "" : " ", std::hex, std::setfill('0'), std::setw(2),
                    int{static_cast<unsigned char>(c)});
  return text;
}

std::int64_t big_endian(std::string_view bytes) {
  std::int64_t value = 0;
  for (char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::size_t header_bytes(std::int64_t rank) { return 4 + 4 * static_cast<std::size_t>(rank); }

/// The shape declared in a file. Throws InputError for a header that is wrong or incomplete.
Shape claimed_shape(std::string_view bytes, std::int64_t rank, const std::string& where) {
  const std::string magic{'\0', '\0', kUnsignedByte, static_cast<char>(rank)};
  if (!bytes.starts_with(magic)) {
    throw unexpected(
        {where}, Rule::wrong_type,
        text_of("an IDX file of bytes with ", rank, " axes, which begins with '", hexadecimal(magic), "'"),
        text_of("'", hexadecimal(bytes.substr(0, 4)), "'"));
  }
  if (bytes.size() < header_bytes(rank)) {
    throw InputError(
        {where}, Rule::damaged,
        text_of("cut short: ", bytes.size(), " bytes, its header alone has ", header_bytes(rank), "."));
  }
  Shape shape;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    shape.push_back(big_endian(bytes.substr(4 + 4 * static_cast<std::size_t>(axis))));
  return shape;
}

/// The number of bytes for that shape; 2^62 or more for any number that no file can have.
std::uint64_t content_bytes(const Shape& shape) {
  constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    empty = empty || extent == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
    count = count > kTooLarge / factor ? kTooLarge : count * factor;
  }
  return empty ? 0 : count;
}

}  // namespace

std::span<const std::uint8_t> Idx::values() const {
  const std::size_t header = header_bytes(std::ssize(shape));
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()) + header, bytes.size() - header};
}

Idx parse_idx(std::string bytes, std::int64_t rank, const std::string& where) {
  Idx idx{.shape = claimed_shape(bytes, rank, where), .bytes = {}};
  const std::size_t present = bytes.size() - header_bytes(rank);
  if (content_bytes(idx.shape) != present) {
    throw InputError(
        {where}, Rule::damaged,
        text_of("its header says ", to_string(idx.shape), " bytes, but ", present, " bytes follow it."));
  }
  idx.bytes = std::move(bytes);
  return idx;
}

Idx read_idx(const std::filesystem::path& path, std::int64_t rank) {
  const std::string where = path.string();
  const auto size = [&](std::string_view beginning) {
    return header_bytes(rank) + content_bytes(claimed_shape(beginning, rank, where));
  };
  return parse_idx(read_plain_or_gzip(path, size), rank, where);
}

}  // namespace lagtape
