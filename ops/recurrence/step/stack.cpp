#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

bool reads_every_step(ReadAt at) { return at == ReadAt::every_step; }

std::int64_t StackDefinition::input_width() const { return layers.front().input.width(); }

std::int64_t StackDefinition::output_width() const {
  const StepProgram& last = readout ? *readout : layers.back();
  return last.values[static_cast<std::size_t>(last.output)].shape.width();
}

std::int64_t StackDefinition::target_width() const { return output_width() / loss.outputs_of_target(); }

std::pair<Shape, Dtype> state_window(const StepProgram& layer, int state, std::int64_t batch, Dtype dtype) {
  const StateDefinition& definition = layer.states[static_cast<std::size_t>(state)];
  return {{layer.history(state) + 1, batch, definition.shape.width()},
          definition.arithmetic == Arithmetic::grid ? Dtype::f64 : dtype};
}

Window zero_window(const std::vector<StepProgram>& layers, std::int64_t batch, Dtype dtype) {
  Window window;
  for (const auto& layer : layers)
    for (std::size_t s = 0; s < layer.states.size(); ++s) {
      const auto [shape, precision] = state_window(layer, static_cast<int>(s), batch, dtype);
      window.states.emplace_back(shape, precision);
    }
  return window;
}

}  // namespace lagtape
