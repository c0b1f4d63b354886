#include "lagtape/tools/cli/place.h"

#include "lagtape/core/error.h"

namespace lagtape::cli {

std::string at_place(const std::string& message, const std::string& place) {
  const std::size_t end = message.starts_with('[') ? message.find("] ") : std::string::npos;
  return end == std::string::npos ? message : text_of(place, ": ", message.substr(end + 2));
}

}  // namespace lagtape::cli
