#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lagtape/core/simd/level.h"
#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

/// An ElementStage as machine code: one pass over its rows with every value in a register, giving the same bits
/// as the kernels of that SIMD level (except that if both operands are NaN, the result may be the other one).
/// The values of weights are not part of the code. Immutable; shared by threads.
class CompiledStage {
 public:
  /// Returns null if the stage cannot be compiled: on levels other than avx2 and avx512, without executable
  /// memory, and for sines or work that is not element-wise on one width. `arrays` are the layer's.
  template <class T>
  static std::shared_ptr<const CompiledStage> compile(const ElementStage& stage,
                                                      const std::vector<Array>& arrays, SimdLevel level);

  /// The operands of the stage that are passed as pointers: arrays and weights.
  const std::vector<int>& operands() const { return operands_; }
  /// Whether the stage can run over that many steps in one pass.
  bool takes(std::int64_t steps) const { return steps == 1 || !single_step_; }
  /// `bytes` > 0 of every array: whole rows. pointers[i] is the start of operands()[i].
  template <class T>
  void run(T* const* pointers, std::int64_t bytes) const {
    function_(pointers, bytes);
  }

 private:
  void (*function_)(const void* pointers, std::int64_t bytes) = nullptr;
  std::vector<int> operands_;
  bool single_step_ = false;
  std::shared_ptr<const void> code_;  // keeps the memory of the function
};

/// Compiles the stages of a layer that can be compiled; the others remain interpreted.
template <class T>
void compile_stages(LayerSchedule& schedule, SimdLevel level);

}  // namespace lagtape::recurrence
