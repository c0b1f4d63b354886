#include "lagtape/ops/recurrence/run/final_gradient.h"

#include <algorithm>

namespace lagtape::recurrence {

template <class T>
void FinalGradient<T>::begin(const std::vector<Tensor>* window, std::size_t first_state, std::int64_t row0,
                             std::int64_t rows, const std::int64_t* lengths, const Extent& extent,
                             const RowResets<T>& resets) {
  window_ = window;
  first_state_ = first_state;
  row0_ = row0;
  rows_ = rows;
  lengths_ = lengths;
  first_ = extent.first;
  last_ = extent.last;
  hidden_.clear();
  for (std::int64_t r = 0; r < rows && window != nullptr; ++r) hidden_.push_back(resets.last_of(r));
  std::int64_t history = 0;
  for (std::size_t s = 0; s < program_.states.size(); ++s)
    history = std::max(history, program_.history(static_cast<int>(s)));
  earliest_ = (lengths == nullptr ? last_ : first_ + *std::min_element(lengths, lengths + rows)) - history;
}

/// The read through which a state receives its gradient; null if its own step reads it.
template <class T>
const LayerOps::LaggedRead* FinalGradient<T>::lag_of(std::size_t s) const {
  if (schedule_.direct[s].element >= 0) return nullptr;
  const auto read = std::ranges::find_if(schedule_.lagged, [&](const LayerOps::LaggedRead& one) {
    return one.state == static_cast<int>(s) && one.tau < 0;
  });
  return &*read;
}

template <class T>
void FinalGradient<T>::add_after_block(std::int64_t n0, std::int64_t n1, Interpreter<T>& interpreter) const {
  if (!shows(n1 - 1)) return;
  for (std::size_t s = 0; s < program_.states.size(); ++s) {
    const LayerOps::LaggedRead* read = lag_of(s);
    if (read == nullptr) continue;
    const ArrayView<T>& adjoints = interpreter.array(read->adjoint_array);
    if (adjoints.beyond != nullptr) continue;
    for (std::int64_t n = n0; n < n1; ++n) add(s, n + 1, adjoints.at(n + 1 + read->lag));
  }
}

template <class T>
void FinalGradient<T>::add_after(std::int64_t n, Interpreter<T>& interpreter) const {
  if (!shows(n)) return;
  for (std::size_t s = 0; s < program_.states.size(); ++s) {
    const LayerOps::LaggedRead* read = lag_of(s);
    if (read == nullptr) {
      add(s, n + 1, interpreter.array(schedule_.direct[s].element).base);
    } else if (const ArrayView<T>& adjoints = interpreter.array(read->adjoint_array);
               adjoints.beyond != nullptr) {
      add(s, n + 1, adjoints.at(n + 1 + read->lag));
    }
  }
}

template <class T>
void FinalGradient<T>::end_after(std::int64_t n, Interpreter<T>& interpreter) const {
  if (!shows(n)) return;
  for (std::size_t s = 0; s < program_.states.size(); ++s) {
    const LayerOps::LaggedRead* read = lag_of(s);
    if (read == nullptr) continue;
    const ArrayView<T>& adjoints = interpreter.array(read->adjoint_array);
    if (adjoints.beyond != nullptr)
      std::fill_n(adjoints.beyond, rows_ * padded<T>(program_.states[s].shape.width()), T(0));
  }
}

template <class T>
void FinalGradient<T>::add_before_first(int s, std::int64_t n, T* to) const {
  if (window_ != nullptr) add(static_cast<std::size_t>(s), n, to);
}

/// Adds dL/d(state s at step n) for the rows whose final windows contain that step.
template <class T>
void FinalGradient<T>::add(std::size_t s, std::int64_t n, T* to) const {
  const Tensor& gradient = (*window_)[first_state_ + s];
  const std::int64_t width = program_.states[s].shape.width(),
                     history = program_.history(static_cast<int>(s));
  const std::int64_t batch = gradient.shape()[1];
  with_scalar(gradient.dtype(), [&]<class State>() {
    const State* values = gradient.values<State>().data();
    for (std::int64_t r = 0; r < rows_; ++r) {
      const std::int64_t end = lengths_ == nullptr ? last_ : first_ + lengths_[r];
      const std::int64_t place = n - (end - history);
      if (place < 0 || place > history || n <= hidden_[static_cast<std::size_t>(r)]) continue;
      const State* from = values + (place * batch + row0_ + r) * width;
      T* row = to + r * padded<T>(width);
      for (std::int64_t u = 0; u < width; ++u) row[u] += static_cast<T>(from[u]);
    }
  });
}

template class FinalGradient<float>;
template class FinalGradient<double>;

}  // namespace lagtape::recurrence
