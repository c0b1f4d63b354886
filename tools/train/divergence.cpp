#include "lagtape/tools/train/divergence.h"

#include <algorithm>
#include <cmath>

#include "lagtape/cells/models/chain.h"
#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/grid.h"

namespace lagtape {
namespace {

/// The inputs of the first steps of a batch.
SequenceBatch first_steps(const SequenceBatch& batch, std::int64_t steps) {
  const std::int64_t rows = batch.x.size(0), length = batch.x.size(1), width = batch.x.size(2);
  SequenceBatch result;
  result.x = Tensor({rows, steps, width}, batch.x.dtype());
  with_scalar(batch.x.dtype(), [&]<class T>() {
    const auto from = batch.x.values<T>();
    const auto to = result.x.values<T>();
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(from.begin() + row * length * width, steps * width, to.begin() + row * steps * width);
  });
  for (const std::int64_t own : batch.lengths) result.lengths.push_back(std::min(own, steps));
  result.first_step = batch.first_step;
  return result;
}

/// The row of a state of a window, [history + 1, B, width], that is not finite; -1: none.
std::int64_t row_not_finite(const Tensor& state) {
  const std::int64_t rows = state.size(1), width = state.numel() / (state.size(0) * rows);
  for (std::int64_t i = 0; i < state.numel(); ++i)
    if (!std::isfinite(state.at(i))) return i / width % rows;
  return -1;
}

/// The states after some steps of a batch.
class States {
 public:
  States(const Model& model, ModelOp& op, const SequenceBatch& batch, ThreadPool& pool, const Window* initial)
      : weights_(model.weights()), op_(op), batch_(batch), pool_(pool), initial_(initial) {
    std::size_t layer = 0;
    const std::string on_the_grid = text_of(", on the grid, which ends at 2^", kGridExponent);
    const std::vector<std::string> names = model.layer_names();
    for (const ChainPart& part : model.evaluation_chain().parts) {
      if (part.layer) ++layer;
      for (const StepProgram& program : part.stack.layers) {
        for (const StateDefinition& state : program.states)
          names_.push_back(text_of("state ", state.name, " of layer ", layer, " (", names[layer],
                                   state.arithmetic == Arithmetic::grid ? on_the_grid : "", ")"));
        ++layer;
      }
    }
  }

  /// The first state that is not finite, and its row; empty when all are.
  std::string not_finite_after(std::int64_t steps) {
    Window window;
    op_.evaluate(weights_, first_steps(batch_, steps), pool_, initial_, &window);
    for (std::size_t s = 0; s < names_.size(); ++s) {
      const std::int64_t row = row_not_finite(window.states[s]);
      if (row >= 0)
        return text_of(names_[s], " after time step ", batch_.first_step + steps, " of row ", row);
    }
    return {};
  }

 private:
  std::vector<Tensor> weights_;
  ModelOp& op_;
  const SequenceBatch& batch_;
  ThreadPool& pool_;
  const Window* initial_;
  std::vector<std::string> names_;
};

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
  States states(model, op, batch, pool, initial);
  std::int64_t finite = 0, steps = batch.x.size(1);
  std::string found = states.not_finite_after(steps);
  while (!found.empty() && steps - finite > 1) {  // a state that is not finite stays so
    const std::int64_t middle = finite + (steps - finite) / 2;
    const std::string earlier = states.not_finite_after(middle);
    (earlier.empty() ? finite : steps) = middle;
    if (!earlier.empty()) found = earlier;
  }
  return found.empty() ? "the loss" : found;
}

}  // namespace lagtape
