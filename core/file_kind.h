#pragma once

#include <string>
#include <string_view>

namespace lagtape {

/// The end of a message about a file of the wrong kind, such as "; it seems to be an HTML page, ...": its kind by its
/// first bytes, and what to do with it. Empty where they do not show a kind.
std::string seeming_kind(std::string_view bytes);

}  // namespace lagtape
