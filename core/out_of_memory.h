#pragma once

#include <cstddef>

#include "lagtape/core/error.h"

namespace lagtape {

/// More memory was asked for than the system gives. The tool exits with code 1, or with 2 where the user's data are
/// what does not fit.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(std::size_t bytes)
      : Error(text_of("out of memory: ", bytes, " bytes were asked for")) {}
};

}  // namespace lagtape
