#pragma once

#include <string_view>

#include "lagtape/core/error.h"
#include "lagtape/tools/c/c_api.h"

namespace lagtape::c {

// Both store what the lagtape_last_... functions return for the calling thread. They allocate nothing and
// return the status.

lagtape_status fail(lagtape_status status, std::string_view message) noexcept;
lagtape_status fail(const InputError& error) noexcept;

}  // namespace lagtape::c
