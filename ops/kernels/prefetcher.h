#pragma once

#include <algorithm>
#include <cstdint>

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

/// Brings pieces of memory into the second-level cache during a product, in as many spans as the product has
/// inner loops.
class Prefetcher {
 public:
  /// One prefetch per turn, `step` bytes apart. The last may lie past the end of its piece, where no pointer
  /// may point.
  struct Span {
    std::uintptr_t at = 0;
    std::uintptr_t step = 0;
  };

  Prefetcher(const Piece* pieces, std::int64_t count, std::int64_t spans)
      : piece_(pieces), left_(count), spans_(std::max<std::int64_t>(1, spans / count)) {}

  /// The span to fetch in the next `turns` turns; once all pieces are fetched, only the line at `near`.
  Span next(std::int64_t turns, const void* near) {
    if (left_ == 0) return {address(near), 0};
    const std::int64_t first = piece_->bytes * done_ / spans_, last = piece_->bytes * (done_ + 1) / spans_;
    const Span span{address(piece_->at) + static_cast<std::uintptr_t>(first),
                    static_cast<std::uintptr_t>(std::min(kLine, (last - first + turns - 1) / turns))};
    if (++done_ == spans_) {
      done_ = 0;
      ++piece_;
      --left_;
    }
    return span;
  }

 private:
  static constexpr std::int64_t kLine = 64;

  static std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

  const Piece* piece_;
  std::int64_t left_;      ///< pieces, including the current one
  std::int64_t spans_;     ///< spans that a piece is divided into
  std::int64_t done_ = 0;  ///< spans of the current piece that have been fetched
};

}  // namespace lagtape
