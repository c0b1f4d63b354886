#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"

namespace lagtape::recurrence {

/// Steps of a stack for a single row as one machine-code function. Runs on the arrays of the layers' runners
/// and gives the same bits.
template <class T>
class CompiledRow {
 public:
  /// The machine code and weights that all copies of a stream share.
  struct Code;

  /// The elements of memory that a step needs in addition to its layers' own; 0 if it cannot be compiled.
  static std::int64_t scratch_elements(const CompiledStack<T>& stack);

  /// Returns null if the stack cannot be compiled: on levels other than avx512, for products in a format that
  /// the processor has no instruction for, and for work that is neither products nor element-wise. `layers` are
  /// laid out for one row in `memory`, and so is `scratch`; `weights` as CompiledStack::load takes them.
  static std::shared_ptr<const Code> compile(const CompiledStack<T>& stack,
                                             const std::deque<LayerRunner<T>>& layers, const T* memory,
                                             const T* scratch, std::span<const Tensor> weights);

  /// `layers` are laid out in `memory` like those that the code was compiled for, and outlive this object.
  CompiledRow(std::shared_ptr<const Code> code, std::deque<LayerRunner<T>>& layers, T* memory);

  /// Step n is next; the runners have made room for the following steps (enter_forward). From now until `end`,
  /// states may be in places that the runners do not know.
  void begin(std::int64_t n);
  /// Whether state storage advances with each step. If so, no more steps may be run than there is room for;
  /// otherwise there is no limit.
  bool moves() const { return !states_.empty(); }
  void step(std::int64_t n, const T* input, T* output) {
    functions_[n & 1](memory_, input, output, states_.data());
  }
  /// Ends after step n - 1: moves the states back to where the runners expect them.
  void end(std::int64_t n);

 private:
  template <class F>
  void for_resting(F f);

  std::shared_ptr<const Code> code_;
  std::deque<LayerRunner<T>>& layers_;
  T* memory_;
  void (*functions_[2])(T* memory, const T* input, T* output, T** states);
  std::vector<T*> states_;  // the moving states at the next step
  bool active_ = false;
};

extern template class CompiledRow<float>;
extern template class CompiledRow<double>;

}  // namespace lagtape::recurrence
