#include "lagtape/data/formats/text_encoding.h"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {

namespace {

/// Whether all bytes are ASCII, as in nearly all tables; eight at a time.
bool is_ascii(std::string_view text) {
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + i, sizeof(eight));
    if ((eight & kHigh) != 0) return false;
  }
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// UTF-16, recognized by its byte-order mark or by the null bytes of ASCII characters; "" for other texts.
const char* utf16_name(std::string_view text) {
  if (text.starts_with("\xFF\xFE")) return "UTF-16LE";
  if (text.starts_with("\xFE\xFF")) return "UTF-16BE";
  std::size_t zeros[2] = {0, 0};
  const std::string_view begin = text.substr(0, 1000);
  for (std::size_t i = 0; i < begin.size(); ++i) zeros[i % 2] += begin[i] == 0 ? 1 : 0;
  if (begin.size() < 4 || text.size() % 2 != 0) return "";
  if (zeros[0] == 0 && zeros[1] > begin.size() / 3) return "UTF-16LE";
  return zeros[1] == 0 && zeros[0] > begin.size() / 3 ? "UTF-16BE" : "";
}

std::string converted(std::string_view text, const char* from, const std::string& where) {
  const auto close = [](void* of) { iconv_close(of); };
  const std::unique_ptr<void, decltype(close)> converter(iconv_open("UTF-8", from), close);
  if (converter.get() == reinterpret_cast<void*>(-1))  // NOLINT: the value that iconv_open has for an error
    throw Error(text_of(where, ": this system's iconv does not know ", from, "."));
  std::string result;
  char block[1 << 14];
  char* in = const_cast<char*>(text.data());
  std::size_t left = text.size();
  while (left > 0) {
    char* out = block;
    std::size_t room = sizeof(block);
    const bool is_done = iconv(converter.get(), &in, &left, &out, &room) != static_cast<std::size_t>(-1);
    result.append(block, static_cast<std::size_t>(out - block));
    if (!is_done && errno != E2BIG)
      throw InputError({where}, Rule::damaged,
                       text_of("is not ", from, " at byte ", text.size() - left, ". Save it as UTF-8."));
  }
  return result;
}

}  // namespace

std::string make_utf8(std::string& text, const std::string& where) {
  const char* utf16 = utf16_name(text);
  if (*utf16 != 0) {
    const std::size_t mark = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") ? 2 : 0;
    text = converted(std::string_view(text).substr(mark), utf16, where);
    return "UTF-16";
  }
  if (is_ascii(text) || is_utf8(text)) return {};
  // Five bytes are undefined in Windows-1252, and are control characters in Latin-1.
  const bool is_latin = text.find_first_of("\x81\x8D\x8F\x90\x9D") != text.npos;
  text = converted(text, is_latin ? "ISO-8859-1" : "WINDOWS-1252", where);
  return is_latin ? "Latin-1" : "Windows-1252";
}

}  // namespace lagtape
