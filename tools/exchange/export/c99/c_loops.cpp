#include "lagtape/tools/exchange/export/c99/c_loops.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lagtape {
namespace {

/// Whether element i of `value` needs element i of this operand alone.
bool is_element_wise(const StepProgram& program, const Instruction& value, int operand) {
  const bool by_element =
      value.op == StepOp::element || value.op == StepOp::reshape || value.op == StepOp::real_lag;
  return by_element && program.values[operand].shape.width() == value.shape.width();
}

/// Calls f(operand, 0 or 1) for each operand that loops compute: by how much later than it the value must be.
template <class F>
void for_each_operand(const StepProgram& program, const std::vector<bool>& given, int id, F f) {
  const Instruction& v = program.values[id];
  for (const int operand : {v.a, v.b})
    if (operand >= 0 && !given[operand]) f(operand, is_element_wise(program, v, operand) ? 0 : 1);
}

/// The number of the round in which each value is computed: as late as its readers allow, so that few values
/// need arrays.
std::vector<int> rounds_of(const StepProgram& program, const std::vector<bool>& given) {
  const int count = static_cast<int>(program.values.size());
  std::vector<int> round(count);
  for (int id = 0; id < count; ++id) {
    if (given[id]) continue;
    for_each_operand(program, given, id, [&](int operand, int later) {
      round[id] = std::max(round[id], round[operand] + later);
    });
  }
  std::vector<int> latest(count, count);
  for (int id = count - 1; id >= 0; --id) {
    if (given[id]) continue;
    if (latest[id] < count) round[id] = latest[id];
    for_each_operand(program, given, id, [&](int operand, int later) {
      latest[operand] = std::min(latest[operand], round[id] - later);
    });
  }
  return round;
}

}  // namespace

CLoops loops_of(const StepProgram& program, const std::vector<bool>& given) {
  const int count = static_cast<int>(program.values.size());
  const std::vector<int> round = rounds_of(program, given);
  CLoops result{{}, std::vector<bool>(count), std::vector<int>(count)};
  std::map<std::pair<int, std::int64_t>, CLoop> loops;
  for (int id = 0; id < count; ++id) {
    if (given[id]) continue;
    const std::int64_t width = program.values[id].shape.width();
    CLoop& loop = loops[{round[id], width}];
    loop.width = width;
    loop.values.push_back(id);
    for_each_operand(program, given, id, [&](int operand, int later) {
      ++result.uses[operand];
      if (later == 1 || round[operand] != round[id]) result.is_array[operand] = true;
    });
  }
  for (const StateDefinition& state : program.states)
    if (!given[state.next]) result.is_array[state.next] = true;
  if (!given[program.output]) result.is_array[program.output] = true;
  for (auto& [key, loop] : loops) result.loops.push_back(std::move(loop));
  return result;
}

}  // namespace lagtape
