#include <algorithm>

#include "lagtape/cells/models/budget_shares.h"
#include "lagtape/cells/models/model_op_implementation.h"
#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/system_memory.h"

namespace lagtape {
namespace {

/// The bytes that an op uses under the plan chosen when memory does not matter.
std::int64_t wanted_bytes(const std::vector<PlanCost>& plans, MemoryPlan plan) {
  for (const PlanCost& cost : plans)
    if (plan == MemoryPlan::automatic || cost.plan == plan) return cost.bytes;
  return 0;
}

std::int64_t least_bytes(const std::vector<PlanCost>& plans, MemoryPlan plan) {
  std::int64_t least = -1;
  for (const PlanCost& cost : plans)
    if (plan == MemoryPlan::automatic || cost.plan == plan)
      least = least < 0 ? cost.bytes : std::min(least, cost.bytes);
  return std::max<std::int64_t>(least, 0);
}

SequenceSettings with_budget(SequenceSettings settings, std::int64_t budget) {
  settings.budget = std::max<std::int64_t>(budget, 1);
  return settings;
}

}  // namespace

std::vector<std::int64_t> ModelOp::Implementation::steps_of_parts(std::int64_t steps) const {
  std::vector<std::int64_t> all;
  for (const ChainPart& part : training.definition.parts) {
    all.push_back(steps);
    if (part.layer && part.layer->ends_sequences()) steps = 1;
  }
  return all;
}

std::int64_t ModelOp::Implementation::bytes_between(std::int64_t batch, std::int64_t steps) const {
  const std::vector<ChainPart>& parts = training.definition.parts;
  const std::vector<std::int64_t> lengths = steps_of_parts(steps);
  std::int64_t numbers = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ChainPart& part = parts[i];
    if (i > 0)  // its input and the gradient, which a sequence op first accumulates in its own array
      numbers += (part.layer ? 2 : 3) * parts[i - 1].output_width() * lengths[i];
    if (part.layer) numbers += part.layer->kept_a_step() * lengths[i];
  }
  return numbers * batch * static_cast<std::int64_t>(byte_size(training.dtype));
}

std::vector<SequenceSettings> ModelOp::Implementation::shares(std::int64_t batch, std::int64_t steps,
                                                              int threads) const {
  if (training.is_one_op()) return {settings};
  const auto& ops = training.ops;
  const std::vector<std::int64_t> lengths = steps_of_parts(steps);
  const std::int64_t budget = settings.budget > 0 ? settings.budget : system_memory() / 2;
  const std::int64_t between = bytes_between(batch, steps);
  std::vector<Need> all;
  std::int64_t wanted = 0, least = 0;
  for (std::size_t l = 0; l < ops.size(); ++l) {
    for (const SequenceOp& op : ops[l]) {
      all.push_back({.wanted = wanted_bytes(op.plans(batch, lengths[l], threads), settings.plan)});
      wanted += all.back().wanted;
    }
  }
  const std::int64_t left = budget - between;
  if (wanted <= left) return std::vector<SequenceSettings>(all.size(), settings);

  auto next = all.begin();
  for (std::size_t l = 0; l < ops.size(); ++l) {
    for (const SequenceOp& op : ops[l]) {
      const SequenceOp smallest(op.stack(), training.dtype, with_budget(settings, 1));
      next->least = least_bytes(smallest.plans(batch, lengths[l], threads), settings.plan);
      least += (next++)->least;
    }
  }
  if (least > left) {
    throw InputError({.op = "memory"}, Rule::no_memory,
                     text_of("no plan fits a budget of ", exact_bytes_of(budget), ": the sequence ops need ",
                             exact_bytes_of(least), " and what lies between them ", exact_bytes_of(between)),
                     {}, "Give a larger budget, fewer threads or a smaller batch");
  }
  std::vector<SequenceSettings> result;
  for (const std::int64_t share : shares_of(left, all)) result.push_back(with_budget(settings, share));
  return result;
}

void ModelOp::Implementation::prepare(std::int64_t batch, std::int64_t steps, int threads) {
  if (training.is_one_op()) return;
  const std::vector<SequenceSettings> wanted = shares(batch, steps, threads);
  std::size_t i = 0;
  for (auto& of_part : training.ops) {
    for (SequenceOp& op : of_part) {
      if (wanted[i].budget != made_with[i].budget) op = SequenceOp(op.stack(), training.dtype, wanted[i]);
      made_with[i] = wanted[i];
      ++i;
    }
  }
}

std::vector<PlanCost> ModelOp::plans(std::int64_t batch, std::int64_t steps, int threads) const {
  const Implementation& model = *implementation_;
  const auto& ops = model.training.ops;
  if (is_one_op()) return ops[0][0].plans(batch, steps, threads);
  const std::vector<std::int64_t> lengths = model.steps_of_parts(steps);
  std::vector<PlanCost> sums;
  for (const MemoryPlan plan :
       {MemoryPlan::full, MemoryPlan::states, MemoryPlan::reversible, MemoryPlan::checkpoint}) {
    PlanCost sum;
    sum.plan = plan;
    sum.bytes = model.bytes_between(batch, steps);
    bool all = true;
    for (std::size_t l = 0; l < ops.size(); ++l) {
      for (const SequenceOp& one : ops[l]) {
        const std::vector<PlanCost> costs = one.plans(batch, lengths[l], threads);
        const auto found = std::ranges::find(costs, plan, &PlanCost::plan);
        all = all && found != costs.end();
        if (found == costs.end()) continue;
        sum.bytes += found->bytes;
        sum.extra_flops += found->extra_flops;
        sum.chunk = std::max(sum.chunk, found->chunk);
        if (l + 1 == ops.size()) continue;
        for (const StepProgram& layer : one.stack().layers)  // the forward pass runs once more
          sum.extra_flops += static_cast<double>(layer.product_flops() * batch * lengths[l]);
      }
    }
    if (all) sums.push_back(sum);
  }
  return sums;
}

std::vector<PlanCost> ModelOp::choose_each(std::int64_t batch, std::int64_t steps, int threads) const {
  const Implementation& model = *implementation_;
  const auto& ops = model.training.ops;
  if (is_one_op()) return {ops[0][0].choose(batch, steps, threads)};
  const std::vector<std::int64_t> lengths = model.steps_of_parts(steps);
  const std::vector<SequenceSettings> shares = model.shares(batch, steps, threads);
  std::vector<PlanCost> chosen;
  for (std::size_t l = 0; l < ops.size(); ++l)
    for (const SequenceOp& one : ops[l])
      chosen.push_back(SequenceOp(one.stack(), model.training.dtype, shares[chosen.size()])
                           .choose(batch, lengths[l], threads));
  return chosen;
}

PlanCost ModelOp::choose(std::int64_t batch, std::int64_t steps, int threads) const {
  const std::vector<PlanCost> each = choose_each(batch, steps, threads);
  PlanCost sum = each.front();
  if (is_one_op()) return sum;
  sum.bytes += implementation_->bytes_between(batch, steps);
  for (auto cost = each.begin() + 1; cost != each.end(); ++cost) {
    if (cost->plan != sum.plan) sum.plan = MemoryPlan::automatic;
    sum.bytes += cost->bytes;
    sum.extra_flops += cost->extra_flops;
  }
  return sum;
}

}  // namespace lagtape
