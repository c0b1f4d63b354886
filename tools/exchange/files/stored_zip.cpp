#include "lagtape/tools/exchange/files/stored_zip.h"

#include <array>

#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/byte_view.h"

namespace lagtape::foreign {
namespace {

constexpr std::string_view kEnd = "PK\5\6", kEnd64 = "PK\6\6", kLocator = "PK\6\7", kEntry = "PK\1\2",
                           kLocal = "PK\3\4";

std::uint32_t checksum(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> all{};
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0U);
      all[i] = value;
    }
    return all;
  }();
  std::uint32_t sum = 0xFFFFFFFFU;
  for (const char c : bytes) sum = table[(sum ^ static_cast<unsigned char>(c)) & 0xFF] ^ (sum >> 8);
  return ~sum;
}

/// Where the list of entries begins, and how many there are.
struct Directory {
  std::uint64_t offset = 0, count = 0;
};

Directory directory_of(const ByteView& file) {
  constexpr std::uint64_t kEndSize = 22, kLocatorSize = 20;
  if (file.size() < kEndSize) file.refuse("is cut off: the list of its entries is missing.");
  std::uint64_t end = file.size() - kEndSize;  // a comment may follow
  const std::uint64_t least = end > 65535 ? end - 65535 : 0;
  while (file.part(end, 4) != kEnd) {
    if (end == least) file.refuse("is cut off: the list of its entries is missing.");
    --end;
  }
  if (end >= kLocatorSize && file.part(end - kLocatorSize, 4) == kLocator) {
    const auto large = file.at<std::uint64_t>(end - kLocatorSize + 8);
    if (file.part(large, 4) != kEnd64) file.refuse("is damaged: it has no list of its entries.");
    return {file.at<std::uint64_t>(large + 48), file.at<std::uint64_t>(large + 32)};
  }
  return {file.at<std::uint32_t>(end + 16), file.at<std::uint16_t>(end + 10)};
}

/// An entry of the list. Sizes and offsets beyond 32 bits are in its extra field 1, in this order.
struct Entry {
  std::uint64_t size = 0, stored = 0, offset = 0;

  void read_large(const ByteView& file, std::uint64_t extra, std::uint64_t end) {
    while (extra + 4 <= end) {
      const auto kind = file.at<std::uint16_t>(extra);
      std::uint64_t at = extra + 4;
      const std::uint64_t next = at + file.at<std::uint16_t>(extra + 2);
      if (kind == 1)
        for (std::uint64_t* number : {&size, &stored, &offset})
          if (*number == 0xFFFFFFFFU && at + 8 <= next) {
            *number = file.at<std::uint64_t>(at);
            at += 8;
          }
      extra = next;
    }
  }
};

}  // namespace

bool begins_like_zip(std::string_view bytes) { return bytes.starts_with(kLocal); }

std::map<std::string, std::string_view> stored_entries(std::string_view bytes, const std::string& where) {
  const ByteView file(bytes, where);
  const auto [begin, count] = directory_of(file);
  std::map<std::string, std::string_view> entries;
  std::uint64_t at = begin;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (file.part(at, 4) != kEntry) file.refuse("is damaged: it has fewer entries than it says.");
    const auto name_size = file.at<std::uint16_t>(at + 28), extra_size = file.at<std::uint16_t>(at + 30);
    const std::string name(file.part(at + 46, name_size));
    Entry entry{.size = file.at<std::uint32_t>(at + 24),
                .stored = file.at<std::uint32_t>(at + 20),
                .offset = file.at<std::uint32_t>(at + 42)};
    entry.read_large(file, at + 46 + name_size, at + 46 + name_size + extra_size);
    const Place place{.file = where, .item = text_of("entry ", quote(name))};
    if (file.at<std::uint16_t>(at + 10) != 0 || entry.size != entry.stored)
      throw InputError(place, Rule::not_supported,
                       "is compressed. Supported: entries stored as they are, as torch.save and Keras write "
                       "them; torch.jit.save writes another format.");
    if (file.part(entry.offset, 4) != kLocal)
      throw InputError(place, Rule::damaged, "is not where the list says.");
    const std::uint64_t data = entry.offset + 30 + file.at<std::uint16_t>(entry.offset + 26) +
                               file.at<std::uint16_t>(entry.offset + 28);
    const std::string_view content = file.part(data, entry.size);
    if (checksum(content) != file.at<std::uint32_t>(at + 16))
      throw InputError(place, Rule::damaged, "is damaged: its checksum differs.");
    if (!entries.emplace(name, content).second) throw InputError(place, Rule::conflict, "is there twice.");
    at += 46 + name_size + extra_size + file.at<std::uint16_t>(at + 32);
  }
  return entries;
}

}  // namespace lagtape::foreign
