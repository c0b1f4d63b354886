#include "lagtape/ops/recurrence/jit/list_scheduler.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "lagtape/ops/recurrence/jit/register_allocator.h"

namespace lagtape::recurrence {

VectorProgram repeated(const VectorProgram& program, int vectors) {
  VectorProgram all = program;
  for (int vector = 1; vector < vectors; ++vector) {
    std::vector<int> number(program.values.size());
    for (std::size_t v = 0; v < number.size(); ++v) {
      VectorValue value = program.values[v];
      number[v] = static_cast<int>(v);
      if (value.kind == VectorValue::Kind::constant) continue;
      value.vector = vector;
      number[v] = static_cast<int>(all.values.size());
      all.values.push_back(value);
    }
    for (VectorInstruction i : program.instructions) {
      for (int* v : {&i.out, &i.a, &i.b, &i.c, &i.d})
        if (*v >= 0) *v = number[static_cast<std::size_t>(*v)];
      i.vector = vector;
      all.instructions.push_back(i);
    }
  }
  return all;
}

namespace {

/// Cycles until a result can be read, on a typical machine.
int latency(VectorOp op) {
  switch (op) {
    case VectorOp::load:
    case VectorOp::load_number: return 6;
    case VectorOp::divide: return 13;
    case VectorOp::square_root: return 18;
    case VectorOp::bit_and:
    case VectorOp::bit_or:
    case VectorOp::bit_xor:
    case VectorOp::shift_left:
    case VectorOp::shift_right:
    case VectorOp::add_integers:
    case VectorOp::subtract_integers: return 1;
    default: return 4;
  }
}

constexpr int kIssuedACycle = 2;
constexpr int kSoon = 4;  // cycles that an instruction on a longer path to the end may still wait

/// List scheduling: among the instructions that will be ready soon, the one with the longest path to the end
/// goes first.
class ListScheduler {
 public:
  ListScheduler(VectorProgram program, int registers)
      : program_(std::move(program)),
        registers_(registers),
        followers_(program_.instructions.size()),
        waits_for_(program_.instructions.size(), 0),
        height_(program_.instructions.size(), 0),
        ready_at_(program_.instructions.size(), 0),
        uses_(program_.values.size(), 0) {
    operands_.reserve(program_.instructions.size());
    for (const VectorInstruction& instruction : program_.instructions)
      operands_.push_back(distinct_operands(instruction));
    find_order();
    for (std::size_t i = program_.instructions.size(); i-- > 0;) {
      for (std::size_t next : followers_[i]) height_[i] = std::max(height_[i], height_[next]);
      height_[i] += latency(program_.instructions[i].op);
    }
  }

  VectorProgram run() {
    std::vector<VectorInstruction> ordered;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < program_.instructions.size(); ++i)
      if (waits_for_[i] == 0) open.push_back(i);
    for (int issued = 0; !open.empty(); ++issued) {
      const std::size_t i = choose(open, issued / kIssuedACycle);
      open.erase(std::find(open.begin(), open.end(), i));
      ordered.push_back(program_.instructions[i]);
      alive_ += growth(i);
      for (int v : operands_[i])
        if (v >= 0) --uses_[static_cast<std::size_t>(v)];
      const int start = std::max(ready_at_[i], issued / kIssuedACycle);
      for (std::size_t next : followers_[i]) {
        ready_at_[next] = std::max(ready_at_[next], start + latency(program_.instructions[i].op));
        if (--waits_for_[next] == 0) open.push_back(next);
      }
    }
    program_.instructions = std::move(ordered);
    return std::move(program_);
  }

 private:
  /// Finds which instructions wait for which: for values, and for other accesses to the same location in an
  /// array.
  void find_order() {
    std::map<int, std::size_t> maker;
    std::map<std::pair<int, int>, std::size_t> last_access;
    const auto follows = [&](std::size_t before, std::size_t after) {
      followers_[before].push_back(after);
      ++waits_for_[after];
    };
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      const VectorInstruction& instruction = program_.instructions[i];
      for (int v : operands_[i]) {
        if (v < 0) continue;
        ++uses_[static_cast<std::size_t>(v)];
        follows(maker.at(v), i);
      }
      if (instruction.out >= 0) maker[instruction.out] = i;
      if (instruction.operand < 0 || instruction.op == VectorOp::product) continue;
      if (instruction.op == VectorOp::grid_step) continue;  // no other instruction uses its operands
      const auto [at, fresh] = last_access.try_emplace({instruction.operand, instruction.vector}, i);
      if (!fresh) follows(std::exchange(at->second, i), i);
    }
  }

  using Operands = std::array<int, 4>;

  /// The computed values that an instruction reads, each once; -1 in the other positions.
  Operands distinct_operands(const VectorInstruction& instruction) const {
    Operands operands = operands_of(instruction);
    for (auto v = operands.begin(); v != operands.end(); ++v)
      if (*v >= 0 && (program_.values[static_cast<std::size_t>(*v)].kind != VectorValue::Kind::computed ||
                      std::find(operands.begin(), v, *v) != v))
        *v = -1;
    return operands;
  }

  /// How many more values are live after instruction i.
  int growth(std::size_t i) const {
    int more = program_.instructions[i].out >= 0 ? 1 : 0;
    for (int v : operands_[i])
      if (v >= 0 && uses_[static_cast<std::size_t>(v)] == 1) --more;
    return more;
  }

  std::size_t choose(const std::vector<std::size_t>& open, int cycle) const {
    const bool full = alive_ >= registers_;
    const auto before = [&](std::size_t a, std::size_t b) {
      if (full) {  // first instructions that free registers, then source order
        const int ga = std::max(growth(a), 0), gb = std::max(growth(b), 0);
        return ga != gb ? ga < gb : a < b;
      }
      const bool late_a = ready_at_[a] > cycle + kSoon, late_b = ready_at_[b] > cycle + kSoon;
      if (late_a != late_b) return late_b;
      return height_[a] != height_[b] ? height_[a] > height_[b] : a < b;
    };
    return *std::min_element(open.begin(), open.end(), before);
  }

  VectorProgram program_;
  const int registers_;
  std::vector<Operands> operands_;  // by instruction
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<int> waits_for_, height_, ready_at_;
  std::vector<int> uses_;  // by value: instructions that have not yet read it
  int alive_ = 0;
};

}  // namespace

VectorProgram list_scheduled(VectorProgram program, int registers) {
  return ListScheduler(std::move(program), registers).run();
}

}  // namespace lagtape::recurrence
