#include "lagtape/ops/recurrence/jit/stage_compiler.h"

#include <algorithm>

#if defined(LAGTAPE_JIT)
#include "lagtape/ops/recurrence/jit/stage_emitter.h"
#include "lagtape/ops/recurrence/jit/stage_recorder.h"
#include "lagtape/ops/recurrence/jit/vector_emitter.h"
#endif

namespace lagtape::recurrence {

#if defined(LAGTAPE_JIT)

template <class T>
std::shared_ptr<const CompiledStage> CompiledStage::compile(const ElementStage& stage,
                                                            const std::vector<Array>& arrays,
                                                            SimdLevel level) {
  if (level == SimdLevel::generic) return nullptr;
  const auto program = record<T>(stage, arrays, stores_round(level));
  if (!program) return nullptr;
  const auto on_grid = [](const VectorInstruction& i) { return i.op == VectorOp::grid_step; };
  if (level != SimdLevel::avx512 && std::ranges::any_of(program->instructions, on_grid)) return nullptr;
  EmittedStage emitted = emit<T>(*program, level);
  if (emitted.function == nullptr) return nullptr;
  const auto compiled = std::make_shared<CompiledStage>();
  compiled->function_ = emitted.function;
  compiled->operands_ = std::move(emitted.operands);
  compiled->single_step_ = program->single_step;
  compiled->code_ = std::move(emitted.code);
  return compiled;
}

#else

template <class T>
std::shared_ptr<const CompiledStage> CompiledStage::compile(const ElementStage&, const std::vector<Array>&,
                                                            SimdLevel) {
  return nullptr;
}

#endif

template <class T>
void compile_stages(LayerSchedule& schedule, SimdLevel level) {
  for (const auto& phase : all_lists<Phase>(schedule))
    for (Stage& stage : *phase.list)
      if (auto* elements = std::get_if<ElementStage>(&stage))
        elements->compiled = CompiledStage::compile<T>(*elements, schedule.arrays, level);
}

template std::shared_ptr<const CompiledStage> CompiledStage::compile<float>(const ElementStage&,
                                                                            const std::vector<Array>&,
                                                                            SimdLevel);
template std::shared_ptr<const CompiledStage> CompiledStage::compile<double>(const ElementStage&,
                                                                             const std::vector<Array>&,
                                                                             SimdLevel);
template void compile_stages<float>(LayerSchedule&, SimdLevel);
template void compile_stages<double>(LayerSchedule&, SimdLevel);

}  // namespace lagtape::recurrence
