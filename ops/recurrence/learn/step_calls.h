#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/recurrence/jit/stage_compiler.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape::recurrence {

/// A one-row program whose weights may change between runs: a list of calls on values with fixed addresses,
/// with element-wise work as machine code where possible. States are not read; `kept` marks the values that
/// others read.
template <class T>
class StepCalls {
 public:
  /// `kept` is indexed by value. Ops that depend on the weight of that name run in the second half.
  StepCalls(StepProgram program, std::vector<bool> kept, std::string_view second_half,
            const Kernels<T>& kernels);

  const StepProgram& program() const { return program_; }
  T* value(int v) const { return values_[static_cast<std::size_t>(v)]; }
  T* input() const { return input_; }
  /// The addresses of a weight's numbers: a vector's in order, a matrix's packed (Kernels::pack) by columns,
  /// the outputs.
  T* weight(int w) const { return weights_[static_cast<std::size_t>(w)]; }
  std::int64_t weight_elements(int w) const;

  /// Replaces the only product with the matrix `transposed`, in the second half, by `move`, which updates the
  /// matrix in the same pass. Returns false, changing nothing, if there is no such product with only
  /// `move.direct`.
  bool move_with_product(int transposed, TraceUpdate<T> move);

  void run_first() { run(first_); }
  void run_second() { run(second_); }

 private:
  struct Call {
    enum class Kind : std::uint8_t {
      compiled,
      element,
      product,
      moving_product,
      sum,
      broadcast
    } kind = Kind::element;
    int value = -1;  ///< the result; for a compiled stage, the first
    std::shared_ptr<const CompiledStage> stage = {};
    std::vector<T*> pointers = {};  ///< to the operands of a stage, or the outputs of a product
    ProductOperand<T> operand = {};
    std::vector<std::int64_t> strides = {};
    TraceUpdate<T> move = {};
  };
  using Calls = std::vector<Call>;

  void lay_out();
  void list_calls(std::string_view second_half);
  void list_half(const std::vector<bool>& half, std::vector<bool>& done, Calls& calls);
  bool is_ready(int v, const std::vector<bool>& done) const;
  bool is_fused(const Instruction& i) const;
  bool is_read_outside(int v, const std::vector<int>& stage) const;
  ElementStage stage_of(const std::vector<int>& values) const;
  void add_stage(const std::vector<int>& values, Calls& calls);
  void add_other(int v, Calls& calls);
  std::int64_t width_of(int v) const {
    return padded<T>(program_.values[static_cast<std::size_t>(v)].shape.width());
  }
  void run(const Calls& calls);
  void run_element(int v);

  StepProgram program_;
  std::vector<bool> kept_;
  const Kernels<T>& kernels_;
  AlignedMemory memory_;
  std::vector<AlignedMemory> scratch_;  // of products that update their matrix
  std::vector<T*> values_, weights_;
  T* input_ = nullptr;
  Calls first_, second_;
};

extern template class StepCalls<float>;
extern template class StepCalls<double>;

}  // namespace lagtape::recurrence
