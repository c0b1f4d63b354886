#include "lagtape/core/text.h"

#include <locale>
#include <sstream>
#include <utility>

namespace lagtape {

void write_text(std::ostream& stream, const void* text) {
  stream << *static_cast<const std::string_view*>(text);
}

std::string joined_text(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());  // a host's global locale may group digits
  out.exceptions(std::ios::badbit);   // else a failed allocation would cut the text short
  for (const TextPart& part : parts) part.write(out, part.value);
  return std::move(out).str();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

}  // namespace lagtape
