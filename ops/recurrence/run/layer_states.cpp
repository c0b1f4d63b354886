#include "lagtape/ops/recurrence/run/layer_states.h"

#include <algorithm>
#include <cstring>

#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape::recurrence {

// ---- windows of tensors ----

template <class T>
void LayerStates<T>::begin(std::int64_t first, std::int64_t steps, const std::vector<Tensor>* window,
                           std::size_t first_state, std::int64_t row0) {
  first_ = first;
  steps_ = steps;
  shortest_ = lengths_ == nullptr ? steps : *std::min_element(lengths_, lengths_ + rows_);
  for (std::size_t s = 0; s < program_.states.size(); ++s) {
    ArrayView<T>& to = view(s);
    to.first = first - history(s);
    std::fill_n(to.base, (history(s) + 1) * to.stride, T(0));
    if (on_grid(s)) begin_on_grid(s, window == nullptr ? nullptr : &(*window)[first_state + s], row0);
    if (window == nullptr || on_grid(s)) continue;
    const Tensor& from = (*window)[first_state + s];
    const std::int64_t batch = from.shape()[1];
    for (std::int64_t j = 0; j <= history(s); ++j)
      for (std::int64_t r = 0; r < rows_; ++r)
        std::copy_n(from.values<T>().data() + (j * batch + row0 + r) * width(s), width(s),
                    to.base + j * to.stride + r * stride(s));
  }
}

template <class T>
void LayerStates<T>::hide_in_window(const Tensor& count, std::int64_t row0) {
  for (std::size_t s = 0; s < program_.states.size(); ++s)
    for (std::int64_t back = 0; back <= history(s); ++back)
      for (std::int64_t r = 0; r < rows_; ++r)
        if (is_hidden(count, row0 + r, back))
          std::fill_n(view(s).at(first_ - back) + r * stride(s), width(s), T(0));
}

/// Given values are rounded to the grid.
template <class T>
void LayerStates<T>::begin_on_grid(std::size_t s, const Tensor* window, std::int64_t row0) {
  // Only rows that have ended need their values from before a step.
  interpreter_.array(schedule_.grid_arrays[s]).stride = any_ends() ? rows_ * stride(s) * kDoubleWidth<T> : 0;
  double* to = grid(s, first_);
  std::fill_n(to, rows_ * stride(s), 0.0);
  for (std::int64_t r = 0; r < rows_ && window != nullptr; ++r)
    for (std::int64_t u = 0; u < width(s); ++u)
      to[r * stride(s) + u] = nearest_on_grid(window->values<double>()[(row0 + r) * width(s) + u]);
  show(s, first_);
}

template <class T>
void LayerStates<T>::write(int s, std::int64_t n, std::int64_t r, Tensor& to, std::int64_t row,
                           std::int64_t hidden) const {
  const auto state = static_cast<std::size_t>(s);
  if (on_grid(state)) {
    std::copy_n(grid(state, n) + r * stride(state), width(state),
                to.values<double>().data() + row * width(state));
    return;
  }
  const std::int64_t batch = to.shape()[1];
  for (std::int64_t j = std::max<std::int64_t>(0, hidden + 1 - (n - history(state))); j <= history(state);
       ++j)
    std::copy_n(view(state).at(n - history(state) + j) + r * stride(state), width(state),
                to.values<T>().data() + (j * batch + row) * width(state));
}

// ---- checkpoints ----

template <class T>
std::int64_t LayerStates<T>::window_elements() const {
  std::int64_t elements = 0;
  for (std::size_t s = 0; s < program_.states.size(); ++s)
    elements += (history(s) + 1) * rows_ * stride(s) * (on_grid(s) ? kDoubleWidth<T> : 1);
  return elements;
}

template <class T>
T* LayerStates<T>::save(std::int64_t n, T* to) const {
  for (std::size_t s = 0; s < program_.states.size(); ++s) {
    if (on_grid(s)) {
      to = std::copy_n(reinterpret_cast<const T*>(grid(s, n)), rows_ * stride(s) * kDoubleWidth<T>, to);
    } else {
      to = std::copy_n(view(s).at(n - history(s)), (history(s) + 1) * view(s).stride, to);
    }
  }
  return to;
}

template <class T>
const T* LayerStates<T>::restore(std::int64_t n, const T* from) {
  for (std::size_t s = 0; s < program_.states.size(); ++s) {
    ArrayView<T>& to = view(s);
    to.first = n - history(s);
    std::int64_t elements = (history(s) + 1) * to.stride;
    if (on_grid(s)) {
      elements = rows_ * stride(s) * kDoubleWidth<T>;
      std::copy_n(from, elements, reinterpret_cast<T*>(grid(s, n)));
      show(s, n);
    } else {
      std::copy_n(from, elements, to.base);
    }
    from += elements;
  }
  return from;
}

template <class T>
void LayerStates<T>::slide(std::size_t array, std::int64_t n) {
  ArrayView<T>& states = interpreter_.array(static_cast<int>(array));
  const std::int64_t from = n - program_.history(schedule_.arrays[array].index);
  if (from == states.first) return;
  std::memmove(states.base, states.at(from),
               static_cast<std::size_t>((n + 1 - from) * states.stride) * sizeof(T));
  states.first = from;
}

// ---- rows that have ended, and the grid ----

template <class T>
void LayerStates<T>::copy_finished(std::int64_t n, std::int64_t from, std::int64_t to) {
  if (lengths_ == nullptr || n - first_ < shortest_) return;
  for (std::size_t s = 0; s < program_.states.size(); ++s)
    for (std::int64_t r = 0; r < rows_; ++r) {
      if (lengths_[r] > n - first_) continue;
      const std::int64_t row = r * stride(s);
      std::copy_n(view(s).at(from) + row, stride(s), view(s).at(to) + row);
      if (on_grid(s)) std::copy_n(grid(s, from) + row, stride(s), grid(s, to) + row);
    }
}

template <class T>
void LayerStates<T>::show(std::size_t s, std::int64_t n) {
  const double* from = grid(s, n);
  std::transform(from, from + rows_ * stride(s), view(s).at(n), [](double v) { return static_cast<T>(v); });
}

template <class T>
void LayerStates<T>::show(std::int64_t n) {
  for (std::size_t s = 0; s < program_.states.size(); ++s)
    if (on_grid(s)) show(s, n);
}

template class LayerStates<float>;
template class LayerStates<double>;

}  // namespace lagtape::recurrence
