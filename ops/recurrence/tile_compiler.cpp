#include "lagtape/ops/recurrence/tile_compiler.h"

#include <algorithm>

#if defined(LAGTAPE_JIT)
#include "lagtape/ops/recurrence/tile_emitter.h"
#endif

namespace lagtape::recurrence {

#if defined(LAGTAPE_JIT)

template <class T>
std::shared_ptr<const CompiledTiles> CompiledTiles::compile(const TileStage& stage,
                                                            const std::vector<Array>& arrays,
                                                            SimdLevel level) {
  if (level == SimdLevel::generic) return nullptr;
  const auto program = record<T>(stage, arrays);
  if (!program) return nullptr;
  const auto on_grid = [](const VectorInstruction& i) { return i.op == VectorOp::grid_step; };
  if (level != SimdLevel::avx512 && std::ranges::any_of(program->code, on_grid)) return nullptr;
  EmittedTiles emitted = emit<T>(*program, level);
  if (emitted.function == nullptr) return nullptr;
  const auto compiled = std::make_shared<CompiledTiles>();
  compiled->function_ = emitted.function;
  compiled->slots_ = std::move(emitted.slots);
  compiled->single_step_ = program->single_step;
  compiled->code_ = std::move(emitted.code);
  return compiled;
}

#else

template <class T>
std::shared_ptr<const CompiledTiles> CompiledTiles::compile(const TileStage&, const std::vector<Array>&,
                                                            SimdLevel) {
  return nullptr;
}

#endif

template <class T>
void compile_stages(LayerCode& code, SimdLevel level) {
  for (Phase* phase : code.phases())
    for (Stage& stage : *phase)
      if (auto* tiles = std::get_if<TileStage>(&stage))
        tiles->compiled = CompiledTiles::compile<T>(*tiles, code.arrays, level);
}

template std::shared_ptr<const CompiledTiles> CompiledTiles::compile<float>(const TileStage&,
                                                                            const std::vector<Array>&,
                                                                            SimdLevel);
template std::shared_ptr<const CompiledTiles> CompiledTiles::compile<double>(const TileStage&,
                                                                             const std::vector<Array>&,
                                                                             SimdLevel);
template void compile_stages<float>(LayerCode&, SimdLevel);
template void compile_stages<double>(LayerCode&, SimdLevel);

}  // namespace lagtape::recurrence
