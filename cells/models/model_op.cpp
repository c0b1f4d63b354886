#include "lagtape/cells/models/model_op.h"

#include <algorithm>
#include <cstring>

#include "lagtape/cells/models/model_op_implementation.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

ChainDefinition with_states(ChainDefinition chain, const std::optional<Arithmetic>& arithmetic) {
  chain.states = arithmetic;
  return chain;
}

bool differs_in_evaluation(const ChainDefinition& chain) {
  return std::ranges::any_of(chain.parts, [](const ChainPart& part) {
    return part.layer != nullptr && part.layer->in_evaluation() != nullptr;
  });
}

}  // namespace

ModelOp::ModelOp(const Model& model, const SequenceSettings& settings, std::optional<Arithmetic> states)
    : implementation_(std::make_unique<Implementation>(Implementation{
          Chain(with_states(model.chain(), states), model.dtype(), settings), {}, settings, {}})) {
  for (const auto& of_part : implementation_->training.ops)
    implementation_->made_with.insert(implementation_->made_with.end(), of_part.size(), settings);
  if (!differs_in_evaluation(model.chain())) return;
  SequenceSettings own = settings;
  own.plan = MemoryPlan::automatic;  // nothing is kept
  implementation_->evaluation.emplace(with_states(model.evaluation_chain(), states), model.dtype(), own);
}
ModelOp::~ModelOp() = default;
ModelOp::ModelOp(ModelOp&&) noexcept = default;
ModelOp& ModelOp::operator=(ModelOp&&) noexcept = default;

void ModelOp::update_statistics(Parameters& parameters) const {
  for (const auto& [place, value] : implementation_->statistics) {
    Parameter& parameter = *(parameters.begin() + static_cast<std::ptrdiff_t>(place));
    if (parameter.trainable || parameter.value.shape() != value.shape())
      throw Error(text_of("[statistics] ", parameter.name, " is no running statistic."));
    std::memcpy(parameter.value.raw(), value.raw(), value.numel() * byte_size(value.dtype()));
  }
}

bool ModelOp::has_statistics() const { return implementation_->evaluation.has_value(); }

Tensor ModelOp::evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                         const Window* initial, Window* final_window) {
  return implementation_->in_evaluation().evaluate(weights, batch, pool, initial, final_window);
}

std::int64_t ModelOp::evaluation_width() const {
  const std::vector<ChainPart>& parts = implementation_->in_evaluation().definition.parts;
  std::int64_t width = 0;
  for (auto part = parts.begin(); part + 1 != parts.end(); ++part) width += part->output_width();
  return width;
}

bool ModelOp::is_one_op() const { return implementation_->training.is_one_op(); }

std::vector<std::pair<Shape, Dtype>> ModelOp::window_shapes(std::int64_t rows) const {
  return lagtape::window_shapes(implementation_->training.definition, rows, implementation_->training.dtype);
}

std::string ModelOp::obstacle() const { return implementation_->training.definition.obstacle(); }

}  // namespace lagtape
