#pragma once

#include <string>

#include "lagtape/core/error.h"

namespace lagtape::cli {

/// The error with the user's name for a place, such as a run, instead of a library function's: "RUN: ..." for
/// "[export] ...". Other errors are unchanged.
InputError named(const InputError& error, const std::string& place);

}  // namespace lagtape::cli
