#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/ranks.h"
#include "lagtape/core/tensor.h"

namespace lagtape::recurrence {

/// The slices of a batch that each process works on: neighboring ones, equally many on each rank up to one. Results of
/// all slices then come together on every rank, in the slices' order, so that they do not depend on the number of
/// ranks. Without ranks there is one process.
class RankSlices {
 public:
  RankSlices(Ranks* ranks, std::int64_t slices);

  std::int64_t begin() const { return first_slices_[own()]; }    ///< this rank's first slice
  std::int64_t end() const { return first_slices_[own() + 1]; }  ///< one past its last

  /// Completes a tensor with one row a row of the batch along `axis`, of which each rank has those of its own slices.
  /// `first_rows` are the first row of each slice, and the number of rows at the end.
  void complete(Tensor& tensor, std::int64_t axis, const std::vector<std::int64_t>& first_rows) const;
  /// The same for a number a slice.
  void complete(std::vector<double>& numbers) const;

 private:
  std::size_t own() const { return ranks_ == nullptr ? 0 : static_cast<std::size_t>(ranks_->rank()); }

  Ranks* ranks_;
  std::vector<std::int64_t> first_slices_;  // first slice of each rank, and the number of slices at the end
};

}  // namespace lagtape::recurrence
