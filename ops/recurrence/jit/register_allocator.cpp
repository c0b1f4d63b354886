#include "lagtape/ops/recurrence/jit/register_allocator.h"

#include <algorithm>

namespace lagtape::recurrence {

RegisterAllocator::RegisterAllocator(const VectorProgram& program, int registers, Residents residents)
    : program_(program),
      last_use_(program.values.size(), program.instructions.size()),
      reads_(program.values.size()),
      register_(program.values.size(), -1),
      spill_(program.values.size(), -1),
      holder_(static_cast<std::size_t>(registers), -1) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    if (program.instructions[i].out >= 0)
      last_use_[static_cast<std::size_t>(program.instructions[i].out)] = i;
    for (int v : operands_of(program.instructions[i]))
      if (v >= 0) {
        last_use_[static_cast<std::size_t>(v)] = i;
        reads_[static_cast<std::size_t>(v)].push_back(i);
      }
  }
  choose_residents(residents == Residents::none ? 0 : std::max(0, registers - pressure()), residents);
}

/// The largest number of computed values that are live at once.
int RegisterAllocator::pressure() const {
  std::vector<int> dying(program_.instructions.size() + 1,
                         0);  // values whose last use is in an instruction
  for (std::size_t v = 0; v < program_.values.size(); ++v)
    if (is_computed(static_cast<int>(v))) ++dying[last_use_[v]];
  int alive = 0, most = 0;
  for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
    if (program_.instructions[i].out >= 0) most = std::max(most, ++alive);
    alive -= dying[i];
  }
  return most;
}

void RegisterAllocator::choose_residents(int count, Residents residents) {
  std::vector<int> uses(program_.values.size(), 0), candidates;
  for (const VectorInstruction& instruction : program_.instructions)
    for (int v : operands_of(instruction))
      if (v >= 0) ++uses[static_cast<std::size_t>(v)];
  for (std::size_t v = 0; v < program_.values.size(); ++v) {
    const VectorValue::Kind kind = program_.values[v].kind;
    const bool stays = kind == VectorValue::Kind::constant ||
                       (kind == VectorValue::Kind::weight && residents == Residents::constants_and_weights);
    if (stays && uses[v] > 0) candidates.push_back(static_cast<int>(v));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) {
    return uses[static_cast<std::size_t>(a)] > uses[static_cast<std::size_t>(b)];
  });
  candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(count)));
  residents_ = std::move(candidates);
  int reg = static_cast<int>(holder_.size());
  for (int v : residents_) {
    register_[static_cast<std::size_t>(v)] = --reg;
    holder_[static_cast<std::size_t>(reg)] = v;
  }
}

std::size_t RegisterAllocator::next_use(int value, std::size_t after) const {
  const std::vector<std::size_t>& reads = reads_[static_cast<std::size_t>(value)];
  const auto next = std::upper_bound(reads.begin(), reads.end(), after);
  return next == reads.end() ? program_.instructions.size() : *next;
}

bool RegisterAllocator::place_result(std::size_t at, int preferred, Eviction& eviction) {
  const VectorInstruction& instruction = program_.instructions[at];
  const auto release = [&] {
    for (int v : operands_of(instruction))
      if (v >= 0 && is_computed(v) && dies(v, at) && register_of(v) >= 0)
        holder_[static_cast<std::size_t>(register_of(v))] = -1;
  };
  // A step on the grid writes half of its result before it reads the other half of its operand.
  const bool apart = instruction.op == VectorOp::grid_step;
  if (!apart) release();
  if (instruction.out < 0) return true;

  int reg = preferred;
  if (reg < 0 || holder_[static_cast<std::size_t>(reg)] >= 0)
    reg = static_cast<int>(std::find(holder_.begin(), holder_.end(), -1) - holder_.begin());
  if (reg == static_cast<int>(holder_.size())) {
    std::size_t furthest = at;
    for (std::size_t r = 0; r < holder_.size(); ++r) {
      const auto operands = operands_of(instruction);
      if (!is_computed(holder_[r]) ||
          std::find(operands.begin(), operands.end(), holder_[r]) != operands.end())
        continue;
      if (const std::size_t use = next_use(holder_[r], at); use > furthest) {
        furthest = use;
        reg = static_cast<int>(r);
      }
    }
    if (reg == static_cast<int>(holder_.size())) return false;
    const auto victim = static_cast<std::size_t>(holder_[static_cast<std::size_t>(reg)]);
    eviction = {reg, spill_slots_};
    spill_[victim] = spill_slots_++;
    register_[victim] = -1;
  }
  register_[static_cast<std::size_t>(instruction.out)] = reg;
  holder_[static_cast<std::size_t>(reg)] = instruction.out;
  if (apart) release();
  if (dies(instruction.out, at)) holder_[static_cast<std::size_t>(reg)] = -1;
  return true;
}

}  // namespace lagtape::recurrence
