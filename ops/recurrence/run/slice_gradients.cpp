#include "lagtape/ops/recurrence/run/slice_gradients.h"

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape::recurrence {

template <class T>
std::int64_t SliceGradients<T>::elements(const std::vector<Tensor>& sums) {
  std::int64_t count = 0;
  for (const Tensor& sum : sums) count += padded<T>(sum.numel());
  return count;
}

template <class T>
SliceGradients<T>::SliceGradients(std::vector<Tensor>& sums, T* memory, std::int64_t copies, Ranks* ranks)
    : sums_(sums), ranks_(ranks) {
  for (std::int64_t i = 0; i < copies; ++i) copies_.push_back({memory + i * elements(sums)});
}

template <class T>
auto SliceGradients<T>::copy_of(std::int64_t slice) -> Copy* {
  const auto copy = std::ranges::find(copies_, slice, &Copy::slice);
  return copy == copies_.end() ? nullptr : &*copy;
}

template <class T>
std::vector<T*> SliceGradients<T>::claim(std::int64_t slice) {
  std::vector<T*> gradients(sums_.size(), nullptr);
  T* next = nullptr;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return given_up_ || (next_to_claim_ == slice && copy_of(-1) != nullptr); });
    if (given_up_) return gradients;
    ++next_to_claim_;
    Copy* copy = copy_of(-1);
    copy->slice = slice;
    next = copy->memory;
  }
  changed_.notify_all();
  std::fill_n(next, elements(sums_), T(0));
  for (std::size_t w = 0; w < sums_.size(); ++w) {
    if (!sums_[w].empty()) gradients[w] = next;
    next += padded<T>(sums_[w].numel());
  }
  return gradients;
}

template <class T>
void SliceGradients<T>::finish(std::int64_t slice) {
  {
    const std::lock_guard lock(mutex_);
    if (given_up_) return;
    copy_of(slice)->complete = true;
    if (ranks_ != nullptr) return;
    for (Copy* copy; (copy = copy_of(next_to_add_)) != nullptr && copy->complete; ++next_to_add_) {
      add(copy->memory);
      *copy = {copy->memory};
    }
  }
  changed_.notify_all();
}

template <class T>
void SliceGradients<T>::add(const T* gradients) {
  for (Tensor& sum : sums_) {
    if (sum.empty()) continue;
    const auto to = sum.template values<T>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += gradients[i];
    gradients += padded<T>(sum.numel());
  }
}

// Ranks add their slices in turn, so the order is the same as in one process. Pieces are pipelined: while a
// rank adds one, the previous rank adds the next.
template <class T>
void SliceGradients<T>::sum_over_ranks() {
  if (ranks_ == nullptr) return;
  constexpr std::size_t kPiece = 16384;  // elements
  const int last = ranks_->count() - 1;
  std::size_t before = 0;
  for (Tensor& sum : sums_) {
    if (sum.empty()) continue;
    const std::span<T> all = sum.template values<T>();
    for (std::size_t first = 0; first < all.size(); first += kPiece) {
      const std::span<T> piece = all.subspan(first, std::min(kPiece, all.size() - first));
      if (ranks_->rank() > 0) ranks_->receive(ranks_->rank() - 1, std::as_writable_bytes(piece));
      for (std::int64_t slice = 0; slice < next_to_claim_; ++slice) {
        const T* own = copy_of(slice)->memory + before + first;
        for (std::size_t i = 0; i < piece.size(); ++i) piece[i] += own[i];
      }
      if (ranks_->rank() < last) ranks_->send(ranks_->rank() + 1, std::as_bytes(piece));
    }
    before += static_cast<std::size_t>(padded<T>(sum.numel()));
  }
  for (Tensor& sum : sums_)
    if (!sum.empty()) ranks_->broadcast(last, std::as_writable_bytes(sum.template values<T>()));
}

template <class T>
void SliceGradients<T>::give_up() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  changed_.notify_all();
}

template class SliceGradients<float>;
template class SliceGradients<double>;

}  // namespace lagtape::recurrence
