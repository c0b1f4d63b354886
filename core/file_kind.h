#pragma once

#include <string>
#include <string_view>

namespace lagtape {

/// The end of a message about a file of the wrong kind, such as "; it seems to be an HTML page, ...": the kind
/// that its first bytes suggest, and what to do with it. Empty if they do not suggest one.
std::string seeming_kind(std::string_view bytes);

}  // namespace lagtape
