#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "lagtape/core/ranks.h"
#include "lagtape/core/tensor.h"

namespace lagtape::recurrence {

/// Sums the weight gradients of all slices in slice order, using fewer copies than slices: a slice that
/// finishes before its turn keeps its copy until then. When ranks share the slices, each rank adds its own to
/// the sums of earlier ranks, and so keeps a copy of each until it has those sums.
template <class T>
class SliceGradients {
 public:
  /// The number of copies for this process's slices: one more than the active slices, so that no slice waits
  /// for the one just before it; or one for each slice.
  static std::int64_t copies(std::int64_t slices, std::int64_t threads, const Ranks* ranks) {
    return ranks != nullptr ? slices : std::min(slices, threads + 1);
  }
  /// The number of elements of one copy: dense matrices, padded vectors, nothing for empty tensors.
  static std::int64_t elements(const std::vector<Tensor>& sums);

  /// Adds to `sums`, in which a tensor is empty if no gradient is wanted. `memory` holds that many copies.
  SliceGradients(std::vector<Tensor>& sums, T* memory, std::int64_t copies, Ranks* ranks);

  /// A zero-filled copy for a slice, by weight; null where not wanted. Waits for a free copy, and until earlier
  /// slices have theirs, so the next slice in turn never waits.
  std::vector<T*> claim(std::int64_t slice);
  /// Notes that the slice's gradients are complete.
  void finish(std::int64_t slice);
  /// Call once all slices are finished: with ranks, completes the sums on each rank.
  void sum_over_ranks();
  /// Notes that a slice failed and will not finish: the sums are invalid, and slices stop waiting.
  void give_up();

 private:
  struct Copy {
    T* memory;
    std::int64_t slice = -1;  ///< -1: free
    bool complete = false;
  };
  Copy* copy_of(std::int64_t slice);
  void add(const T* gradients);

  std::vector<Tensor>& sums_;
  Ranks* ranks_;
  std::vector<Copy> copies_;
  std::int64_t next_to_claim_ = 0, next_to_add_ = 0;
  bool given_up_ = false;
  std::mutex mutex_;  // for everything except the copies' contents
  std::condition_variable changed_;
};

extern template class SliceGradients<float>;
extern template class SliceGradients<double>;

}  // namespace lagtape::recurrence
