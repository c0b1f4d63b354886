#include "lagtape/data/formats/gzip.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/data/formats/crc32.h"

namespace lagtape {

namespace {

constexpr std::size_t kHeader = 10, kTrailer = 8;
constexpr std::uint64_t kLargestRatio = 1032;  // the highest compression ratio of deflate

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;

constexpr std::size_t kBeginning = 1 << 16;

/// Unpacks the bytes, up to `most` bytes of content. Memory grows with the real content.
std::string unpack(std::string_view bytes, std::size_t most, const std::string& where) {
  Archive reader(archive_read_new(), archive_read_free);
  auto refuse = [&] {
    const char* reason = archive_error_string(reader.get());
    throw InputError(
        text_of(where, ": not a sound gzip file: ", reason != nullptr ? reason : "damaged", "."));
  };
  archive_entry* entry = nullptr;
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) refuse();
  const int opened = archive_read_next_header(reader.get(), &entry);
  if (opened == ARCHIVE_EOF) return {};
  if (opened != ARCHIVE_OK) refuse();
  std::string content;
  std::array<char, kBeginning> part;
  while (content.size() < most) {
    const la_ssize_t got =
        archive_read_data(reader.get(), part.data(), std::min(part.size(), most - content.size()));
    if (got < 0) refuse();
    if (got == 0) break;
    content.append(part.data(), static_cast<std::size_t>(got));
  }
  return content;
}

/// The length of the content that a gzip file claims (modulo 2^32, as the format has it).
std::uint64_t claimed_size(std::string_view bytes, const std::string& where) {
  if (!is_gzip(bytes) || bytes.size() < kHeader + kTrailer) {
    throw InputError(text_of(where, ": not a gzip file, or cut short: it has ", bytes.size(), " bytes."));
  }
  const std::uint64_t size = little_endian(bytes.substr(bytes.size() - 4));
  if (size > bytes.size() * kLargestRatio) {
    throw InputError(text_of(where, ": damaged or cut short: its last bytes claim a content of ", size,
                             " bytes, more than ", bytes.size(), " compressed bytes can hold."));
  }
  return size;
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string gunzip(std::string_view bytes, const std::string& where) {
  const std::uint64_t size = claimed_size(bytes, where);
  std::string content = unpack(bytes, size + 1, where);
  Crc32 crc;  // libarchive unpacks without checking it
  crc.add(content);
  if (content.size() != size || crc.value() != little_endian(bytes.substr(bytes.size() - kTrailer))) {
    throw InputError(text_of(where, ": damaged or cut short: its content does not match its own checksum."));
  }
  return content;
}

std::string read_plain_or_gzip(const std::filesystem::path& path, const ContentSize& size_of) {
  std::string bytes = read_file(path);
  if (!is_gzip(bytes)) return bytes;
  const std::string where = path.string();
  const std::uint64_t claimed = claimed_size(bytes, where);
  const std::uint64_t expected = size_of(unpack(bytes, std::min<std::uint64_t>(claimed, kBeginning), where));
  if (expected != claimed) {
    throw InputError(
        text_of(where, ": its header asks for ", expected, " bytes, but ", claimed, " are packed."));
  }
  return gunzip(bytes, where);
}

}  // namespace lagtape
