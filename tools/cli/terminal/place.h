#pragma once

#include <string>

#include "lagtape/core/error.h"

namespace lagtape::cli {

/// The error with the user's name of a place, such as a run, instead of the name of a library function: "RUN: ..." for
/// "[export] ...". Other errors stay.
InputError named(const InputError& error, const std::string& place);

}  // namespace lagtape::cli
