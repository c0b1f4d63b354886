#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"

namespace lagtape::recurrence {

/// One step of a stack as a list of calls with every pointer resolved. Runs on the arrays of the layers'
/// runners and gives the same bits: at batch size 1, a step is so little work that a runner would take longer
/// to find its addresses than to do it.
template <class T>
class LinkedStep {
 public:
  /// Whether a stack can be linked: all its stages are plain products or machine code.
  static bool takes(const CompiledStack<T>& stack);

  /// `layers` are laid out, and outlive the linked step.
  LinkedStep(const CompiledStack<T>& stack, const std::deque<LayerRunner<T>>& layers, std::int64_t rows);

  /// Step n is next. Call after the runners have moved their arrays (enter_forward); then as many steps may be
  /// run as they have made room for.
  void begin(std::int64_t n);

  /// The row block that the next step reads.
  T* input() const { return input_; }
  /// Runs the next step; its output is the row block returned.
  const T* run();

 private:
  /// A stage or product with pointers to its operands and results.
  struct Call {
    const CompiledStage* stage = nullptr;  ///< null for a product
    std::vector<T*> pointers;              ///< to the operands of a stage, or a product's outputs
    std::vector<std::int64_t> strides;     ///< distance between the rows of a product's outputs
    std::vector<ProductOperand<T>> operands;
    Product<T> product{};
    void (*multiply)(const Product<T>&) = nullptr;
    std::int64_t bytes = 0;  ///< bytes of each array that a stage works on
  };
  /// A pointer `offset` elements into the row block of an array at (step + operand.step).
  struct ArrayPointer {
    T** pointer;
    std::size_t layer;
    Operand operand;
    std::int64_t offset;
  };

  void point(T** pointer, std::size_t layer, const Operand& operand, std::int64_t offset = 0);
  void add(std::size_t layer, const ProductStage& stage);
  void add(std::size_t layer, const ElementStage& stage);
  bool moves(std::size_t layer, int array) const;

  const CompiledStack<T>& stack_;
  const std::deque<LayerRunner<T>>& layers_;
  std::int64_t rows_;
  std::vector<Call> calls_;
  std::vector<ArrayPointer> fixed_;    // to arrays that hold the values of one step
  std::vector<ArrayPointer> moving_;   // to states, which persist between steps
  std::vector<std::int64_t> strides_;  // by moving pointer: the distance from step to step
  T* input_ = nullptr;
  T* output_ = nullptr;
};

extern template class LinkedStep<float>;
extern template class LinkedStep<double>;

}  // namespace lagtape::recurrence
