#pragma once

#include <filesystem>

#include "lagtape/core/error.h"

namespace lagtape {

/// The error for a path that the system cannot use, for instance because it is too long.
inline InputError unusable_path(const std::filesystem::filesystem_error& error) {
  return InputError({error.path1().string()}, Rule::cannot_read,
                    text_of("cannot use this path: ", error.code().message()));
}

}  // namespace lagtape
