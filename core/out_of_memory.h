#pragma once

#include <cstddef>

#include "lagtape/core/error.h"

namespace lagtape {

/// The system cannot provide the requested memory. The tool exits with code 1, or with code 2 if it is the
/// user's data that do not fit.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(std::size_t bytes)
      : Error(text_of("out of memory: ", bytes, " bytes were asked for")) {}
};

}  // namespace lagtape
