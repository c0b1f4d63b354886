#include "lagtape/tools/train/divergence.h"

#include <algorithm>
#include <cmath>

#include "lagtape/cells/models/chain.h"
#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/grid.h"
#include "lagtape/tools/train/segments.h"

namespace lagtape {
namespace {

/// The row of a state of a window, [history + 1, B, width], that is not finite; -1: none.
std::int64_t row_not_finite(const Tensor& state) {
  const std::int64_t rows = state.size(1), width = state.numel() / (state.size(0) * rows);
  for (std::int64_t i = 0; i < state.numel(); ++i)
    if (!std::isfinite(state.at(i))) return i / width % rows;
  return -1;
}

/// The names of the states of a window, as messages have them.
std::vector<std::string> state_names(const Model& model) {
  const std::string on_the_grid = text_of(", on the grid, which ends at 2^", kGridExponent);
  const std::vector<std::string> layers = model.layer_names();
  std::vector<std::string> names;
  std::size_t layer = 0;
  for (const ChainPart& part : model.evaluation_chain().parts) {
    if (part.layer) ++layer;
    for (const StepProgram& program : part.stack.layers) {
      for (const StateDefinition& state : program.states)
        names.push_back(text_of("state ", state.name, " of layer ", layer, " (", layers[layer],
                                state.arithmetic == Arithmetic::grid ? on_the_grid : "", ")"));
      ++layer;
    }
  }
  return names;
}

}  // namespace

bool is_finite(const Tensor& tensor) {
  return with_scalar(tensor.dtype(), [&]<class T>() {
    const auto values = tensor.values<T>();
    return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
  });
}

std::string first_not_finite(const Model& model, ModelOp& op, const SequenceBatch& batch, ThreadPool& pool,
                             const Window* initial) {
  if (!op.obstacle().empty()) return "the loss";
  const std::vector<Tensor> weights = model.weights();
  const std::vector<std::string> names = state_names(model);
  const auto not_finite_after = [&](std::int64_t steps) -> std::string {
    SequenceBatch inputs = segment_of(batch, 0, steps).batch;
    inputs.training = false;
    Window window;
    op.evaluate(weights, inputs, pool, initial, &window);
    for (std::size_t s = 0; s < names.size(); ++s)
      if (const std::int64_t row = row_not_finite(window.states[s]); row >= 0)
        return text_of(names[s], " after time step ", batch.first_step + steps, " of row ", row);
    return {};
  };
  std::int64_t finite = 0, steps = batch.x.size(1);
  std::string found = not_finite_after(steps);
  while (!found.empty() && steps - finite > 1) {  // a state that is not finite stays so
    const std::int64_t middle = finite + (steps - finite) / 2;
    const std::string earlier = not_finite_after(middle);
    (earlier.empty() ? finite : steps) = middle;
    if (!earlier.empty()) found = earlier;
  }
  return found.empty() ? "the loss" : found;
}

}  // namespace lagtape
