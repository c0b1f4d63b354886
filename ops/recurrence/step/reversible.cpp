#include "lagtape/ops/recurrence/step/reversible.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/grid.h"

namespace lagtape {
namespace {

bool is_state(const StepProgram& program, int value, int state) {
  const Instruction& v = program.values[static_cast<std::size_t>(value)];
  return v.op == StepOp::state && v.index == state;
}

/// The states before the step that a value depends on, other than through states after it.
std::vector<bool> states_read(const StepProgram& program, int value) {
  std::vector<bool> next(program.values.size(), false), needed(program.values.size(), false);
  for (const StateDefinition& state : program.states) next[static_cast<std::size_t>(state.next)] = true;
  std::vector<bool> states(program.states.size(), false);
  needed[static_cast<std::size_t>(value)] = true;
  for (int v = value; v >= 0; --v) {
    if (!needed[static_cast<std::size_t>(v)]) continue;
    const Instruction& i = program.values[static_cast<std::size_t>(v)];
    if (i.op == StepOp::state) states[static_cast<std::size_t>(i.index)] = true;
    if (next[static_cast<std::size_t>(v)]) continue;
    for (int o : {i.a, i.b})
      if (o >= 0) needed[static_cast<std::size_t>(o)] = true;
  }
  return states;
}

}  // namespace

std::optional<GridUpdate> grid_update(const StepProgram& program, int state) {
  const int next = program.states[static_cast<std::size_t>(state)].next;
  const Instruction& v = program.values[static_cast<std::size_t>(next)];
  const bool negated = v.computes(ElementOp::subtract);
  if (!negated && !v.computes(ElementOp::add)) return std::nullopt;
  if (is_state(program, v.a, state)) return GridUpdate{v.b, negated};
  if (!negated && is_state(program, v.b, state)) return GridUpdate{v.a, false};
  return std::nullopt;
}

void check_grid(const StepProgram& program) {
  for (int s = 0; s < static_cast<int>(program.states.size()); ++s) {
    const StateDefinition& state = program.states[static_cast<std::size_t>(s)];
    if (state.arithmetic != Arithmetic::grid) continue;
    if (program.history(s) > 0)
      throw InputError({.op = "grid"}, Rule::not_supported, "a state on the grid has no lags or dilations",
                       text_of(state.name, "[-", program.history(s), "]"),
                       "Use \"arithmetic\": \"float\" for others");
    const auto shared = [&](const StateDefinition& other) { return other.next == state.next; };
    if (!grid_update(program, s) || std::ranges::count_if(program.states, shared) > 1)
      throw InputError({.op = "grid"}, Rule::not_supported,
                       text_of("a state on the grid is updated as ", state.name, "' = ", state.name,
                               " + ... or ", state.name, " - ..."),
                       {}, "Use \"arithmetic\": \"float\" for others");
  }
}

double nearest_on_grid(double v) { return std::ldexp(std::nearbyint(std::ldexp(v, 32)), -32); }

void check_grid_window(std::string_view place, std::span<const StepProgram> layers,
                       std::span<const Tensor> window) {
  std::size_t tensor = 0;
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (const StateDefinition& state : layers[l].states) {
      const Tensor& given = window[tensor++];
      if (state.arithmetic != Arithmetic::grid) continue;
      const std::int64_t width = state.shape.width();
      for (std::int64_t i = 0; i < given.numel(); ++i)
        if (std::abs(nearest_on_grid(given.at(i))) > kGridLimit)
          throw InputError(
              {.op = std::string(place)}, Rule::out_of_range,
              text_of("the window holds ", given.at(i), " for state ", state.name, " of layer ", l, ", row ",
                      i / width, ", unit ", i % width, ". This state is on the grid, which ends at 2^",
                      kGridExponent, " = ", static_cast<std::int64_t>(kGridLimit)));
    }
}

UndoOrder undo_order(const StepProgram& program) {
  UndoOrder order;
  const std::size_t count = program.states.size();
  std::vector<bool> undone(count, false);
  for (const StateDefinition& state : program.states)
    if (state.arithmetic != Arithmetic::grid) {
      order.obstacle = text_of("state ", state.name, " is not on the grid");
      return order;
    }
  while (order.states.size() < count) {
    const std::size_t before = order.states.size();
    for (std::size_t s = 0; s < count; ++s) {
      if (undone[s]) continue;
      const auto read = states_read(program, grid_update(program, static_cast<int>(s))->increment);
      bool ready = true;
      for (std::size_t other = 0; other < count; ++other) ready = ready && (!read[other] || undone[other]);
      if (!ready) continue;
      undone[s] = true;
      order.states.push_back(static_cast<int>(s));
    }
    if (order.states.size() == before) {
      const auto stuck = static_cast<std::size_t>(std::ranges::find(undone, false) - undone.begin());
      order.obstacle = text_of("the increment of state ", program.states[stuck].name,
                               " depends on states that cannot be undone before it");
      return order;
    }
  }
  return order;
}

}  // namespace lagtape
