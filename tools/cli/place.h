#pragma once

#include <string>

namespace lagtape::cli {

/// A message with the user's name of a place, such as a run, where the library names a part of itself: "RUN: ..." for
/// "[export] ...". Other messages stay.
std::string at_place(const std::string& message, const std::string& place);

}  // namespace lagtape::cli
