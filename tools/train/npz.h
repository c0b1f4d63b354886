#pragma once

#include <memory>
#include <string>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// NumPy's archive of arrays (numpy.savez_compressed): a zip of NAME.npy members, each written in pieces.
class NpzWriter {
 public:
  NpzWriter();
  ~NpzWriter();

  /// Begins the array `name` with elements of NumPy's type `descr` ("<f4", "<f8", "<i4") in C order.
  void begin(const std::string& name, const std::string& descr, const Shape& shape);
  /// The next bytes of the array begun last.
  void write(const void* bytes, std::size_t count);
  /// The bytes of the archive. Nothing can be written after it.
  std::string finish();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape
