#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// How the states of a stream are written as bytes: after a header that identifies the model, so states of
/// another stream and truncated or changed bytes are rejected.
class StreamState {
 public:
  StreamState(const Model& model, const StreamOptions& options);

  /// The number of bytes of a saved state with that window.
  static std::size_t size(const Window& window);
  /// Writes to `to`, which has that size. Allocates nothing.
  void write(const Window& window, std::int64_t steps, std::span<std::byte> to) const;
  /// Reads the window, which has the stream's shapes, and returns the number of steps. Throws InputError at
  /// `op` for a state of another stream, leaving the window unchanged. Otherwise it allocates nothing.
  std::int64_t read(std::span<const std::byte> from, Window& window, const char* op) const;

 private:
  struct Header {
    std::uint64_t format = 0, checksum = 0, model = 0;
    std::int64_t rows = 0, steps = 0;
    double rate = 1;
    std::int32_t interpolation = 0, weights = 0;
  };

  Header header_;
};

}  // namespace lagtape
