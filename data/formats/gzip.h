#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct z_stream_s;

namespace lagtape {

/// Whether the bytes start like a gzip file.
bool is_gzip(std::string_view bytes);

/// Unpacks a gzip file (RFC 1952) that arrives in pieces. The CRC-32 and the length of each member are checked.
class GzipReader {
 public:
  /// Returns the next piece, which stays valid until the next call; empty at the end.
  using Source = std::function<std::string_view()>;
  explicit GzipReader(Source source);

  /// The next block of the content; empty at its end, and after the first error.
  std::string_view next();
  /// The error found in the file so far; empty if none.
  const std::string& error() const { return error_; }

 private:
  Source source_;
  std::vector<char> block_;
  std::unique_ptr<z_stream_s, void (*)(z_stream_s*)> stream_;
  bool at_end_ = false;  ///< of a member
  std::string error_;
};

/// The content of a single-member gzip file (RFC 1952). Its length and CRC-32 are checked; memory grows with
/// the actual content, not with the length that a damaged file claims. Throws InputError "WHERE: ...".
std::string gunzip(std::string_view bytes, const std::string& where);

/// The size of a content, from its first bytes: all that are available, up to 64 KiB.
using ContentSize = std::function<std::uint64_t(std::string_view beginning)>;

/// The bytes of a file, unpacked if it is a gzip file; `size_of` must then agree with the length that the file
/// claims, before the rest is unpacked. Throws InputError with the path.
std::string read_plain_or_gzip(const std::filesystem::path& path, const ContentSize& size_of);

}  // namespace lagtape
