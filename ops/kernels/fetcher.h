#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {

/// Brings pieces of memory into the second-level cache, some lines in each of so many turns.
class Fetcher {
 public:
  Fetcher(const Piece* pieces, std::int64_t count, std::int64_t turns) : piece_(pieces), left_(count) {
    std::int64_t lines = 0;
    for (std::int64_t i = 0; i < count; ++i) lines += (pieces[i].bytes + kLine - 1) / kLine;
    lines_ = (lines + turns - 1) / turns;
  }

  void turn() {
    for (std::int64_t i = 0; i < lines_ && left_ > 0; ++i) {
      __builtin_prefetch(static_cast<const char*>(piece_->at) + at_, 0, 2);
      at_ += kLine;
      if (at_ < piece_->bytes) continue;
      at_ = 0;
      ++piece_;
      --left_;
    }
  }

 private:
  static constexpr std::int64_t kLine = 64;

  const Piece* piece_;
  std::int64_t left_;       ///< pieces
  std::int64_t lines_ = 0;  ///< of a turn
  std::int64_t at_ = 0;     ///< byte of the piece
};

}  // namespace lagtape
