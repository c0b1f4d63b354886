#include "lagtape/ops/recurrence/run/layer_weights.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/int8.h"

namespace lagtape::recurrence {
namespace {

template <class T>
std::int64_t vector_rows(std::int64_t width) {
  return std::max<std::int64_t>(1, kTileElements / padded<T>(width));
}

template <class T>
std::int64_t element_total(const StepProgram& program, const LayerSchedule& schedule) {
  std::int64_t total = 0;
  for (const auto& stack : schedule.stacks) total += packed_elements<T>(stack.k, stack.columns);
  for (const auto& w : program.weights)
    if (w.shape.size() < 2)
      total += vector_rows<T>(element_count(w.shape)) * padded<T>(element_count(w.shape));
  for (const auto& c : schedule.columns) total += padded<T>(program.weights[c.weight].shape[0]);
  return total;
}

}  // namespace

template <class T>
std::int64_t LayerWeights<T>::bytes(const StepProgram& program, const LayerSchedule& schedule) {
  return element_total<T>(program, schedule) * static_cast<std::int64_t>(sizeof(T));
}

template <class T>
LayerWeights<T>::LayerWeights(const StepProgram& program, const LayerSchedule& schedule,
                              const Kernels<T>& kernels)
    : program_(program), schedule_(schedule), kernels_(kernels) {
  storage_ = Tensor({std::max<std::int64_t>(1, element_total<T>(program, schedule))}, dtype_of<T>);
  T* next = storage_.values<T>().data();
  for (const auto& stack : schedule.stacks) {
    stacks_.push_back(next);
    next += packed_elements<T>(stack.k, stack.columns);
  }
  for (const auto& w : program.weights) {
    const bool matrix = w.shape.size() == 2;
    vectors_.push_back(matrix ? nullptr : next);
    const std::int64_t width = element_count(w.shape);
    if (!matrix) next += vector_rows<T>(width) * padded<T>(width);
  }
  for (const auto& c : schedule.columns) {
    vectors_.push_back(next);
    next += padded<T>(program.weights[c.weight].shape[0]);
  }
}

template <class T>
void LayerWeights<T>::load(std::span<const Tensor> weights, std::span<const float> ranges) {
  for (std::size_t i = 0; i < program_.weights.size(); ++i) {
    const auto& w = program_.weights[i];
    if (!weights[i].is(dtype_of<T>, w.shape))
      throw wrong_tensor({.item = "weight " + w.name, .op = "sequence"}, dtype_of<T>, w.shape, weights[i]);
    if (vectors_[i] == nullptr) continue;
    const auto values = weights[i].template values<T>();
    const auto width = static_cast<std::int64_t>(values.size());
    for (std::int64_t r = 0; r < vector_rows<T>(width); ++r)
      std::copy(values.begin(), values.end(), vectors_[i] + r * padded<T>(width));
  }
  for (std::size_t c = 0; c < schedule_.columns.size(); ++c) {
    const auto& [w, column] = schedule_.columns[c];
    const std::int64_t out = program_.weights[w].shape[0], in = program_.weights[w].shape[1];
    const T* values = weights[w].template values<T>().data() + column;
    T* to = vectors_[program_.weights.size() + c];
    for (std::int64_t i = 0; i < out; ++i) to[i] = values[i * in];
  }
  for (std::size_t s = 0; s < schedule_.stacks.size(); ++s) {
    const WeightStack& stack = schedule_.stacks[s];
    std::int64_t k = 0, column = 0;
    if constexpr (sizeof(T) == 4) {
      if (s < ranges.size()) Int8Matrix(stacks_[s], stack.k, stack.columns).set_range(ranges[s]);
    }
    for (int w : stack.weights) {
      const std::int64_t out = program_.weights[w].shape[0], in = program_.weights[w].shape[1];
      const T* values = weights[w].template values<T>().data();
      if (stack.transposed) {
        kernels_.pack_part(stacks_[s], stack.k, stack.columns, k, 0, values, out, in, in, 1);
        k += out;
      } else {
        kernels_.pack_part(stacks_[s], stack.k, stack.columns, 0, column, values, in, out, 1, in);
        column += padded<T>(out);
      }
    }
  }
}

template class LayerWeights<float>;
template class LayerWeights<double>;

}  // namespace lagtape::recurrence
