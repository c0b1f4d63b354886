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

}  // namespace lagtape
