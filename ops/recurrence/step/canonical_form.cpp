#include "lagtape/ops/recurrence/step/canonical_form.h"

#include <utility>
#include <vector>

namespace lagtape {
namespace {

class CanonicalForm {
 public:
  explicit CanonicalForm(const StepProgram& from)
      : from_(from),
        value_(from.values.size(), -1),
        weight_(from.weights.size(), -1),
        draw_(from.draws.size(), -1) {
    to_.states = from.states;
    to_.input = from.input;
    for (StateDefinition& state : to_.states) state.next = number(state.next);
    to_.output = number(from.output);
    for (const NamedValue& named : from.named)
      if (value_[named.value] >= 0) to_.named.push_back({named.name, value_[named.value]});
    find_reads(to_);
  }

  StepProgram result() && { return std::move(to_); }

 private:
  /// A loop with its own stack, so a long program needs no deep recursion.
  int number(int root) {
    std::vector<int> stack = {root};
    while (!stack.empty()) {
      const int id = stack.back();
      const Instruction& v = from_.values[id];
      if (value_[id] >= 0) {
        stack.pop_back();
      } else if (v.a >= 0 && value_[v.a] < 0) {
        stack.push_back(v.a);
      } else if (v.b >= 0 && value_[v.b] < 0) {
        stack.push_back(v.b);
      } else {
        emit(id);
        stack.pop_back();
      }
    }
    return value_[root];
  }

  void emit(int id) {
    Instruction v = from_.values[id];
    if (v.a >= 0) v.a = value_[v.a];
    if (v.b >= 0) v.b = value_[v.b];
    if (v.op == StepOp::weight || v.op == StepOp::product)
      v.index = take(v.index, weight_, from_.weights, to_.weights);
    if (v.op == StepOp::draw) v.index = take(v.index, draw_, from_.draws, to_.draws);
    value_[id] = static_cast<int>(to_.values.size());
    to_.values.push_back(v);
  }

  template <class Definition>
  static int take(int index, std::vector<int>& numbers, const std::vector<Definition>& from,
                  std::vector<Definition>& to) {
    if (numbers[index] < 0) {
      numbers[index] = static_cast<int>(to.size());
      to.push_back(from[index]);
    }
    return numbers[index];
  }

  const StepProgram& from_;
  StepProgram to_;
  std::vector<int> value_, weight_, draw_;  // new numbers, -1 until assigned
};

}  // namespace

StepProgram canonical_form(const StepProgram& program) { return CanonicalForm(program).result(); }

}  // namespace lagtape
