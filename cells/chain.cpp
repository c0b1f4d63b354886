#include "lagtape/cells/chain.h"

#include <algorithm>

#include "lagtape/cells/chain_implementation.h"
#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/ops/recurrence/step_tape.h"

namespace lagtape {
namespace {

/// y = x: the step of a sequence op that has a read-out alone.
StepProgram identity(std::int64_t width) {
  StepTape tape(width);
  tape.set_output(tape.input());
  return tape.finish();
}

bool is_of_a_step(const Layer& layer) {
  return layer.whole ? layer.whole->in_evaluation() != nullptr : layer.program.states.empty();
}

/// The layers, the topmost of whole sequences replaced by what it gives to a read-out at the end of them.
std::vector<Layer> read_at_end(std::span<const Layer> given, ReadAt at) {
  std::vector<Layer> layers(given.begin(), given.end());
  if (at != ReadAt::last_step && at != ReadAt::last_padded_step) return layers;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (is_of_a_step(*layer)) continue;
    if (layer->whole == nullptr) break;
    if (auto end = layer->whole->at_end()) layer->whole = std::move(end);
    break;
  }
  return layers;
}

/// Bytes of the plan that an op would take, were memory of no concern.
std::int64_t wanted_bytes(const std::vector<PlanCost>& plans, Plan plan) {
  for (const PlanCost& cost : plans)
    if (plan == Plan::automatic || cost.plan == plan) return cost.bytes;
  return 0;
}

std::int64_t least_bytes(const std::vector<PlanCost>& plans, Plan plan) {
  std::int64_t least = -1;
  for (const PlanCost& cost : plans)
    if (plan == Plan::automatic || cost.plan == plan)
      least = least < 0 ? cost.bytes : std::min(least, cost.bytes);
  return std::max<std::int64_t>(least, 0);
}

SequenceSettings with_budget(SequenceSettings settings, std::int64_t budget) {
  settings.budget = std::max<std::int64_t>(budget, 1);
  return settings;
}

/// Those of one link out of a window of the whole chain.
Window part_of(const Window& window, std::size_t first, std::size_t count) {
  return {{window.states.begin() + static_cast<std::ptrdiff_t>(first),
           window.states.begin() + static_cast<std::ptrdiff_t>(first + count)}};
}

}  // namespace

// ---- what a chain is --------------------------------------------------------------------------------------

std::int64_t Link::output_width() const { return layer ? layer->output_width() : stack.output_width(); }

std::int64_t ChainDefinition::input_width() const {
  const Link& first = links.front();
  return first.layer ? first.layer->input_width() : first.stack.input_width();
}
std::int64_t ChainDefinition::output_width() const { return links.back().output_width(); }

std::int64_t ChainDefinition::tokens() const {
  return links.front().layer ? links.front().layer->tokens() : 0;
}

std::string ChainDefinition::obstacle() const {
  for (const Link& link : links)
    if (link.layer && !link.layer->obstacle().empty()) return link.layer->obstacle();
  return {};
}

std::vector<Layer> in_evaluation(std::span<const Layer> layers) {
  std::vector<Layer> result;
  for (const Layer& layer : layers) {
    const Layer* of_a_step = layer.whole ? layer.whole->in_evaluation() : nullptr;
    result.push_back(of_a_step != nullptr ? *of_a_step : layer);
  }
  return result;
}

ChainDefinition make_chain(std::span<const Layer> layers, const Layer& readout, ReadAt at, Loss loss) {
  ChainDefinition chain;
  Link open;  // the sequence op that layers are put into
  const auto close = [&] {
    if (open.stack.layers.empty()) return;
    chain.links.push_back(std::move(open));
    open = {};
  };
  for (const Layer& layer : read_at_end(layers, at)) {
    if (layer.whole) {
      close();
      chain.links.push_back({{}, layer.whole, layer.weight_count(), layer.parameters.size()});
      continue;
    }
    open.stack.layers.push_back(layer.program);
    open.weights += layer.weight_count();
    open.parameters += layer.parameters.size();
  }
  if (open.stack.layers.empty()) open.stack.layers.push_back(identity(readout.program.input.size));
  open.stack.readout = readout.program;
  open.stack.at = at;
  open.stack.loss = loss;
  open.weights += readout.weight_count();
  open.parameters += readout.parameters.size();
  close();
  return chain;
}

// ---- sharing the memory -----------------------------------------------------------------------------------

ChainOp::Implementation::Implementation(ChainDefinition definition, Dtype type, const SequenceSettings& given)
    : chain(std::move(definition)), dtype(type), settings(given) {
  for (const Link& link : chain.links) {
    ops.emplace_back();
    auto stacks = link.layer ? link.layer->ops() : std::vector<StackDefinition>{link.stack};
    for (StackDefinition& stack : stacks) {
      for (StepProgram& layer : stack.layers)
        for (StateDefinition& state : layer.states)
          state.arithmetic = chain.states.value_or(state.arithmetic);
      ops.back().emplace_back(stack, dtype, settings);
      made_with.push_back(settings);
    }
  }
}

SequenceBatch ChainOp::Implementation::seen(const SequenceBatch& batch) const {
  SequenceBatch result = batch;
  if (chain.at() == ReadAt::last_padded_step) result.lengths.clear();
  return result;
}

std::vector<std::int64_t> ChainOp::Implementation::steps_of_links(std::int64_t steps) const {
  std::vector<std::int64_t> all;
  for (const Link& link : chain.links) {
    all.push_back(steps);
    if (link.layer && link.layer->ends_sequences()) steps = 1;
  }
  return all;
}

std::int64_t ChainOp::Implementation::bytes_between(std::int64_t batch, std::int64_t steps) const {
  const std::vector<std::int64_t> lengths = steps_of_links(steps);
  std::int64_t numbers = 0;
  for (std::size_t l = 0; l < chain.links.size(); ++l) {
    const Link& link = chain.links[l];
    if (l > 0)  // its input with the gradient, which a sequence op adds up in an array of its own first
      numbers += (link.layer ? 2 : 3) * chain.links[l - 1].output_width() * lengths[l];
    if (link.layer) numbers += link.layer->kept_a_step() * lengths[l];
  }
  return numbers * batch * static_cast<std::int64_t>(byte_size(dtype));
}

std::vector<SequenceSettings> ChainOp::Implementation::shares(std::int64_t batch, std::int64_t steps,
                                                              int threads) const {
  if (is_one_op()) return {settings};
  struct Op {
    std::int64_t wanted = 0, least = 0, given = -1;
  };
  const std::vector<std::int64_t> lengths = steps_of_links(steps);
  const std::int64_t budget = settings.budget > 0 ? settings.budget : system_memory() / 2;
  const std::int64_t between = bytes_between(batch, steps);
  std::vector<Op> all;
  std::int64_t wanted = 0, least = 0;
  for (std::size_t l = 0; l < ops.size(); ++l) {
    for (const SequenceOp& op : ops[l]) {
      all.push_back({wanted_bytes(op.plans(batch, lengths[l], threads), settings.plan)});
      wanted += all.back().wanted;
    }
  }
  const std::int64_t left = budget - between;
  if (wanted <= left) return std::vector<SequenceSettings>(all.size(), settings);

  auto next = all.begin();
  for (std::size_t l = 0; l < ops.size(); ++l) {
    for (const SequenceOp& op : ops[l]) {
      const SequenceOp smallest(op.stack(), dtype, with_budget(settings, 1));
      next->least = least_bytes(smallest.plans(batch, lengths[l], threads), settings.plan);
      least += (next++)->least;
    }
  }
  if (least > left) {
    throw InputError(concat("[memory] no plan fits a budget of ", exact_bytes_of(budget),
                            ": the sequence ops need ", exact_bytes_of(least), " and what lies between them ",
                            exact_bytes_of(between),
                            ". Give a larger budget, fewer threads or a smaller batch"));
  }
  // Each in proportion to what it would like; what cannot do with that has its least, and the others the
  // rest.
  std::int64_t free = left;
  for (bool again = true; again;) {
    again = false;
    for (Op& op : all) {
      const double share =
          static_cast<double>(free) * static_cast<double>(op.wanted) / static_cast<double>(wanted);
      if (op.given >= 0 || share >= static_cast<double>(op.least)) continue;
      op.given = op.least;
      free -= op.least;
      wanted -= op.wanted;
      again = true;
      break;
    }
  }
  std::vector<SequenceSettings> result;
  for (const Op& op : all) {
    const double share =
        static_cast<double>(free) * static_cast<double>(op.wanted) / static_cast<double>(wanted);
    result.push_back(with_budget(settings, op.given >= 0 ? op.given : static_cast<std::int64_t>(share)));
  }
  return result;
}

void ChainOp::Implementation::prepare(std::int64_t batch, std::int64_t steps, int threads) {
  if (is_one_op()) return;
  const std::vector<SequenceSettings> wanted = shares(batch, steps, threads);
  std::size_t i = 0;
  for (auto& of_link : ops) {
    for (SequenceOp& op : of_link) {
      if (wanted[i].budget != made_with[i].budget) op = SequenceOp(op.stack(), dtype, wanted[i]);
      made_with[i] = wanted[i];
      ++i;
    }
  }
}

std::size_t state_count(const StackDefinition& stack) {
  std::size_t count = 0;
  for (const StepProgram& layer : stack.layers) count += layer.states.size();
  return count;
}

DrawKey draws_of_part(const DrawKey& draws, std::size_t part) {
  constexpr std::uint64_t kUse = 0x70617274;  // "part"
  DrawKey own = draws;
  if (part > 0) own.seed = stream_name({kUse, draws.seed, part});
  return own;
}

// ---- the chain at work ------------------------------------------------------------------------------------

ChainOp::ChainOp(ChainDefinition chain, Dtype dtype, SequenceSettings settings)
    : implementation_(std::make_unique<Implementation>(std::move(chain), dtype, settings)) {}
ChainOp::~ChainOp() = default;
ChainOp::ChainOp(ChainOp&&) noexcept = default;
ChainOp& ChainOp::operator=(ChainOp&&) noexcept = default;

const ChainDefinition& ChainOp::chain() const { return implementation_->chain; }
const Statistics& ChainOp::statistics() const { return implementation_->statistics; }

Tensor ChainOp::evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                         const Window* initial, Window* final_window) {
  Implementation& op = *implementation_;
  if (op.is_one_op()) return op.ops[0][0].evaluate(weights, batch, pool, initial, final_window);
  SequenceBatch now = op.seen(batch);
  if (final_window != nullptr) *final_window = {};
  std::size_t state = 0;
  for (std::size_t l = 0; l < op.chain.links.size(); ++l) {
    const Link& link = op.chain.links[l];
    const auto own = weights.first(link.weights);
    weights = weights.subspan(link.weights);
    if (link.layer) {
      now.x = link.layer->evaluate(own, now.x, now, pool, op.ops[l]);
      if (link.layer->ends_sequences()) now.lengths.clear();
      continue;
    }
    const std::size_t states = state_count(link.stack);
    const Window begin = initial != nullptr ? part_of(*initial, state, states) : Window{};
    Window end;
    now.x = op.ops[l][0].evaluate(own, now, pool, initial != nullptr ? &begin : nullptr,
                                  final_window != nullptr ? &end : nullptr);
    if (final_window != nullptr) std::ranges::move(end.states, std::back_inserter(final_window->states));
    state += states;
  }
  return now.x;
}

std::vector<PlanCost> ChainOp::plans(std::int64_t batch, std::int64_t steps, int threads) const {
  const Implementation& op = *implementation_;
  if (op.is_one_op()) return op.ops[0][0].plans(batch, steps, threads);
  const std::vector<std::int64_t> lengths = op.steps_of_links(steps);
  std::vector<PlanCost> sums;
  for (const Plan plan : {Plan::full, Plan::states, Plan::reversible, Plan::checkpoint}) {
    PlanCost sum;
    sum.plan = plan;
    sum.bytes = op.bytes_between(batch, steps);
    bool all = true;
    for (std::size_t l = 0; l < op.ops.size(); ++l) {
      for (const SequenceOp& one : op.ops[l]) {
        const std::vector<PlanCost> costs = one.plans(batch, lengths[l], threads);
        const auto found = std::ranges::find(costs, plan, &PlanCost::plan);
        all = all && found != costs.end();
        if (found == costs.end()) continue;
        sum.bytes += found->bytes;
        sum.extra_flops += found->extra_flops;
        sum.chunk = std::max(sum.chunk, found->chunk);
        if (l + 1 == op.ops.size()) continue;
        for (const StepProgram& layer : one.stack().layers)  // forward once more
          sum.extra_flops += static_cast<double>(layer.product_flops() * batch * lengths[l]);
      }
    }
    if (all) sums.push_back(sum);
  }
  return sums;
}

std::vector<PlanCost> ChainOp::choose_each(std::int64_t batch, std::int64_t steps, int threads) const {
  const Implementation& op = *implementation_;
  if (op.is_one_op()) return {op.ops[0][0].choose(batch, steps, threads)};
  const std::vector<std::int64_t> lengths = op.steps_of_links(steps);
  const std::vector<SequenceSettings> shares = op.shares(batch, steps, threads);
  std::vector<PlanCost> chosen;
  for (std::size_t l = 0; l < op.ops.size(); ++l)
    for (const SequenceOp& one : op.ops[l])
      chosen.push_back(
          SequenceOp(one.stack(), op.dtype, shares[chosen.size()]).choose(batch, lengths[l], threads));
  return chosen;
}

PlanCost ChainOp::choose(std::int64_t batch, std::int64_t steps, int threads) const {
  const Implementation& op = *implementation_;
  const std::vector<PlanCost> each = choose_each(batch, steps, threads);
  PlanCost sum = each.front();
  if (op.is_one_op()) return sum;
  sum.bytes += op.bytes_between(batch, steps);
  for (auto cost = each.begin() + 1; cost != each.end(); ++cost) {
    if (cost->plan != sum.plan) sum.plan = Plan::automatic;
    sum.bytes += cost->bytes;
    sum.extra_flops += cost->extra_flops;
  }
  return sum;
}

}  // namespace lagtape
