#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/stream/row_program.h"

namespace lagtape::recurrence {

/// The terms of a pass's follower. The follower is the pass after this one; its only operand is the row that
/// this pass computes, multiplied by one matrix. Tracks which elements of that row have been computed but not
/// yet multiplied and added to the follower's sum, in order.
template <class T>
class LateTerms {
 public:
  /// `follower`: null if the pass has none; then there are no late terms.
  LateTerms(const RowPass& pass, const RowPass* follower)
      : strip_(kLane<T> * pass.together), stored_(static_cast<std::size_t>(pass.vectors), false) {
    if (follower == nullptr) return;
    const RowPass::Products& p = follower->products.front();
    elements_ = p.k;
    bytes_ = p.vector_bytes;
    weights_ = follower->weights;
  }

  /// Notes that the pass has computed the vectors of that strip.
  void stored(std::int64_t strip) { stored_[static_cast<std::size_t>(strip)] = true; }

  /// Takes the next strip: its first element and its number of elements; 0 elements if it is not computed yet.
  std::array<std::int64_t, 2> next() {
    const std::int64_t first = next_ * strip_, count = std::min(strip_, elements_ - first);
    if (count <= 0 || !stored_[static_cast<std::size_t>(next_)]) return {first, 0};
    ++next_;
    return {first, count};
  }

  /// The byte offsets of the elements of the next strip and of their packed weights; negative if no whole strip
  /// is ready.
  std::array<std::int64_t, 2> next_whole() {
    if (elements_ - next_ * strip_ < strip_) return {-1, -1};
    const auto [first, count] = next();
    if (count == 0) return {-1, -1};
    return {first * static_cast<std::int64_t>(sizeof(T)), weights_ + first * bytes_};
  }

 private:
  std::int64_t strip_;  // elements
  std::int64_t elements_ = 0, bytes_ = 0, weights_ = 0, next_ = 0;
  std::vector<bool> stored_;
};

}  // namespace lagtape::recurrence
