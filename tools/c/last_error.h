#pragma once

#include <string_view>

#include "lagtape/core/error.h"
#include "lagtape/tools/c/c_api.h"

namespace lagtape::c {

// Both store the results of the functions lagtape_last_... for the calling thread, allocate nothing, and return the
// status.

lagtape_status fail(lagtape_status status, std::string_view message) noexcept;
lagtape_status fail(const InputError& error) noexcept;

}  // namespace lagtape::c
