#pragma once

#include <cstddef>
#include <string>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Receives named arrays one after another, each in pieces.
class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;

  /// Starts the array `name` with elements of NumPy's type `descr` ("<f4", "<i8", "<M8[ns]", "<U12") in C
  /// order.
  virtual void begin(const std::string& name, const std::string& descr, const Shape& shape) = 0;
  /// The next bytes of the current array.
  virtual void write(const void* bytes, std::size_t count) = 0;
};

}  // namespace lagtape
