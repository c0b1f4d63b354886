#pragma once

#include <memory>
#include <string>

#include "lagtape/tools/train/files/array_writer.h"

namespace lagtape {

/// NumPy's archive of arrays (numpy.savez_compressed): a zip of NAME.npy members, each written in pieces.
class NpzWriter : public ArrayWriter {
 public:
  NpzWriter();
  ~NpzWriter() override;

  void begin(const std::string& name, const std::string& descr, const Shape& shape) override;
  void write(const void* bytes, std::size_t count) override;
  /// The bytes of the archive. Nothing can be written after it.
  std::string finish();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape
