#pragma once

#include <filesystem>

#include "lagtape/core/error.h"

namespace lagtape {

/// The error of a path that the system cannot use, such as one that is too long.
inline InputError unusable_path(const std::filesystem::filesystem_error& error) {
  return InputError({error.path1().string()}, Rule::cannot_read,
                    text_of("cannot use this path: ", error.code().message()));
}

}  // namespace lagtape
