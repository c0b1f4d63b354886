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

bool in_evaluation_differs(const ChainDefinition& chain) {
  return std::ranges::any_of(chain.links, [](const Link& link) {
    return link.layer != nullptr && link.layer->in_evaluation() != nullptr;
  });
}

}  // namespace

ModelOp::ModelOp(const Model& model, const SequenceSettings& settings, std::optional<Arithmetic> states)
    : implementation_(std::make_unique<Implementation>(
          Implementation{ChainOp(with_states(model.chain(), states), model.dtype(), settings), {}})) {
  if (!in_evaluation_differs(model.chain())) return;
  SequenceSettings own = settings;
  own.plan = MemoryPlan::automatic;  // nothing is kept
  implementation_->evaluation.emplace(with_states(model.evaluation_chain(), states), model.dtype(), own);
}
ModelOp::~ModelOp() = default;
ModelOp::ModelOp(ModelOp&&) noexcept = default;
ModelOp& ModelOp::operator=(ModelOp&&) noexcept = default;

void ModelOp::update_statistics(Parameters& parameters) const {
  for (const auto& [place, value] : implementation_->training.statistics()) {
    Parameter& parameter = *(parameters.begin() + static_cast<std::ptrdiff_t>(place));
    if (parameter.trainable || parameter.value.shape() != value.shape())
      throw Error(text_of("[statistics] ", parameter.name, " is none."));
    std::memcpy(parameter.value.raw(), value.raw(), value.numel() * byte_size(value.dtype()));
  }
}

bool ModelOp::has_statistics() const { return implementation_->evaluation.has_value(); }

Tensor ModelOp::evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                         const Window* initial, Window* final_window) {
  return implementation_->in_evaluation().evaluate(weights, batch, pool, initial, final_window);
}

std::int64_t ModelOp::evaluation_width() const {
  const std::vector<Link>& links = implementation_->in_evaluation().chain().links;
  std::int64_t width = 0;
  for (auto link = links.begin(); link + 1 != links.end(); ++link) width += link->output_width();
  return width;
}

bool ModelOp::is_one_op() const { return implementation_->training.chain().links.size() == 1; }

std::string ModelOp::obstacle() const { return implementation_->training.chain().obstacle(); }

std::vector<PlanCost> ModelOp::plans(std::int64_t batch, std::int64_t steps, int threads) const {
  return implementation_->training.plans(batch, steps, threads);
}
PlanCost ModelOp::choose(std::int64_t batch, std::int64_t steps, int threads) const {
  return implementation_->training.choose(batch, steps, threads);
}
std::vector<PlanCost> ModelOp::choose_each(std::int64_t batch, std::int64_t steps, int threads) const {
  return implementation_->training.choose_each(batch, steps, threads);
}

}  // namespace lagtape
