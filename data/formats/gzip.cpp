#include "lagtape/data/formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"

namespace lagtape {

namespace {

constexpr std::size_t kHeader = 10, kTrailer = 8, kUnpackedBlock = 1 << 16, kPiece = 1 << 30;
constexpr std::uint64_t kLargestRatio = 1032;  // the highest compression ratio of deflate
constexpr int kGzipAlone = 15 + 16;            // zlib's constant for the widest window and a gzip header

/// Unpacks the bytes, up to `most` bytes of content. Memory grows with the actual content.
std::string unpack(std::string_view bytes, std::size_t most, const std::string& where) {
  GzipReader reader([&] {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    return piece;
  });
  std::string content;
  while (content.size() < most) {
    const std::string_view block = reader.next();
    if (block.empty()) break;
    content.append(block.substr(0, most - content.size()));
  }
  if (!reader.error().empty())
    throw InputError({where}, Rule::damaged, text_of("not a sound gzip file: ", reader.error(), "."));
  return content;
}

/// The content length claimed by a gzip file (modulo 2^32, as in the format).
std::uint64_t claimed_size(std::string_view bytes, const std::string& where) {
  if (!is_gzip(bytes) || bytes.size() < kHeader + kTrailer) {
    throw InputError({where}, Rule::damaged,
                     text_of("not a gzip file, or cut short: it has ", bytes.size(), " bytes."));
  }
  std::uint64_t size = 0;
  for (const char byte : {bytes.end()[-1], bytes.end()[-2], bytes.end()[-3], bytes.end()[-4]})
    size = size << 8 | static_cast<unsigned char>(byte);
  if (size > bytes.size() * kLargestRatio) {
    throw InputError({where}, Rule::damaged,
                     text_of("damaged or cut short: its last bytes claim a content of ", size,
                             " bytes, more than ", bytes.size(), " compressed bytes can hold."));
  }
  return size;
}

}  // namespace

GzipReader::GzipReader(Source source)
    : source_(std::move(source)), block_(kUnpackedBlock), stream_(new z_stream_s(), [](z_stream_s* stream) {
        inflateEnd(stream);
        delete stream;
      }) {
  if (inflateInit2(stream_.get(), kGzipAlone) != Z_OK) throw std::bad_alloc();
}

std::string_view GzipReader::next() {
  z_stream_s& stream = *stream_;
  while (error_.empty()) {
    if (stream.avail_in == 0) {
      const std::string_view piece = source_();
      if (piece.empty() && at_end_) return {};
      stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
      stream.avail_in = static_cast<unsigned int>(piece.size());
    }
    if (at_end_) inflateReset(&stream);  // another member, or other bytes, which zlib rejects
    stream.next_out = reinterpret_cast<unsigned char*>(block_.data());
    stream.avail_out = static_cast<unsigned int>(block_.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    at_end_ = status == Z_STREAM_END;
    if (status == Z_BUF_ERROR) {
      error_ = "it is cut short";
    } else if (status != Z_OK && !at_end_) {
      error_ = stream.msg != nullptr ? stream.msg : "it is damaged";
    }
    const std::size_t count = block_.size() - stream.avail_out;
    if (count > 0) return {block_.data(), count};
  }
  return {};
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string gunzip(std::string_view bytes, const std::string& where) {
  const std::uint64_t size = claimed_size(bytes, where);
  std::string content = unpack(bytes, size + 1, where);
  if (content.size() != size)
    throw InputError({where}, Rule::damaged,
                     text_of("damaged or cut short: its content does not have the ", size,
                             " bytes that its last bytes claim."));
  return content;
}

std::string read_plain_or_gzip(const std::filesystem::path& path, const ContentSize& size_of) {
  std::string bytes = read_file(path);
  if (!is_gzip(bytes)) return bytes;
  const std::string where = path.string();
  const std::uint64_t claimed = claimed_size(bytes, where);
  const std::uint64_t expected =
      size_of(unpack(bytes, std::min<std::uint64_t>(claimed, kUnpackedBlock), where));
  if (expected != claimed) {
    throw InputError({where}, Rule::damaged,
                     text_of("its header asks for ", expected, " bytes, but ", claimed, " are packed."));
  }
  return gunzip(bytes, where);
}

}  // namespace lagtape
