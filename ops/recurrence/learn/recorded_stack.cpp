#include "lagtape/ops/recurrence/learn/recorded_stack.h"

#include <algorithm>

namespace lagtape::recurrence {

InputError not_learned(std::string_view what) {
  return InputError({.op = "learner"}, Rule::not_supported, what, {},
                    "Train on sequences; \"truncate\" keeps them short.");
}

RecordedStack::RecordedStack(const std::vector<LearnedLayer>& layers)
    : layers_(layers), tape_(layers.front().program.input.width()), matrices_(layers.size()) {
  output_ = tape_.input();
  for (std::size_t l = 0; l < layers_.size(); ++l) output_ = record_layer(l, output_);
}

StepVar RecordedStack::record_layer(std::size_t l, StepVar x) {
  const LearnedLayer& layer = layers_[l];
  RecordedLayer& recorded = recorded_.emplace_back();
  recorded.input = x.id();
  for (const StateDefinition& state : layer.program.states) {
    StepVar before = tape_.vector(LearningStep::state(l, state.name), state.shape.width());
    if (state.shape.rank != 1) before = tape_.reshape(before, state.shape);
    recorded.states.push_back(before);
  }
  std::map<std::string, StepVar> derived;
  if (layer.derived) {
    const std::vector<StepVar> values = replay(*layer.derived, l, {}, {});
    for (const StateDefinition& state : layer.derived->states) derived[state.name] = values[state.next];
  }
  const std::vector<StepVar> values = replay(layer.program, l, x, derived);
  for (const StateDefinition& state : layer.program.states)
    recorded.next.push_back(shaped(values[state.next], state.shape));
  return shaped(values[layer.program.output], layer.program.values[layer.program.output].shape);
}

std::vector<StepVar> RecordedStack::replay(const StepProgram& program, std::size_t l, StepVar x,
                                           const std::map<std::string, StepVar>& derived) {
  std::vector<StepVar> values;
  for (const Instruction& i : program.values) {
    const auto weight = [&] { return program.weights[i.index].name; };
    switch (i.op) {
      case StepOp::input: values.push_back(x); break;
      case StepOp::state: values.push_back(recorded_[l].states[i.index]); break;
      case StepOp::constant: values.push_back(tape_.constant(i.value)); break;
      case StepOp::draw: values.push_back(tape_.constant(program.draws[i.index].evaluation)); break;
      case StepOp::weight: {
        const auto found = derived.find(weight());
        values.push_back(found != derived.end() ? found->second : vector(l, weight()));
        break;
      }
      case StepOp::product: values.push_back(product(l, weight(), values[i.a])); break;
      case StepOp::lag: values.push_back(past(l, program.states[i.index], i)); break;
      case StepOp::real_lag: throw not_learned("a step with trained lags has no traces");
      case StepOp::step_index: throw not_learned("a step that reads its index n has no traces");
      case StepOp::slice:
        if (i.shape == values[i.a].shape()) {  // all of it
          values.push_back(values[i.a]);
          break;
        }
        [[fallthrough]];
      default: values.push_back(tape_.replay(i, values[i.a], i.b < 0 ? StepVar() : values[i.b]));
    }
  }
  return values;
}

/// A state several steps ago, which no trace follows.
StepVar RecordedStack::past(std::size_t l, const StateDefinition& state, const Instruction& read) {
  const std::string name = LearningStep::past(l, state.name, read.lag);
  const auto [known, fresh] = past_.try_emplace(name);
  if (fresh) {
    known->second = tape_.vector(name, state.shape.width());
    reads_of_past_.push_back({static_cast<int>(l), read.index, known->second.id(), read.lag});
  }
  return state.shape.rank == 1 ? known->second : tape_.reshape(known->second, state.shape);
}

int RecordedStack::place_of(std::size_t l, const std::string& name) const {
  const auto& weights = layers_[l].weights;
  const auto found = std::ranges::find(weights, name, &LearnedWeight::name);
  if (found == weights.end())
    throw not_learned(text_of("the weight '", name, "' is derived by what no step computes"));
  return static_cast<int>(found - weights.begin());
}

StepVar RecordedStack::vector(std::size_t l, const std::string& name) {
  const int place = place_of(l, name);
  const Shape& shape = layers_[l].weights[place].value.shape();
  if (shape.empty())
    throw not_learned(text_of("the number '", name, "' is shared by all units, which traces keep apart"));
  if (shape.size() > 1)
    throw not_learned(text_of("the elements of the matrix '", name, "' are read one by one"));
  const auto known = vectors_.find({l, place});
  if (known != vectors_.end()) return known->second;
  const StepVar v = tape_.vector(LearningStep::name_of(l, name), shape[0]);
  reads_.push_back({static_cast<int>(l), place, v.id()});
  return vectors_.emplace(std::pair(l, place), v).first->second;
}

RecordedStack::Matrices& RecordedStack::matrices(std::size_t l, const std::string& name) {
  const auto [found, fresh] = matrices_[l].try_emplace(name);
  if (fresh) {
    const Shape& shape = layers_[l].weights[place_of(l, name)].value.shape();
    found->second.matrix = tape_.matrix(LearningStep::name_of(l, name), shape[0], shape[1]);
  }
  return found->second;
}

/// A row of a stateless layer times a vector: a sum, which needs no packed one-column matrix.
StepVar RecordedStack::row_product(std::size_t l, const std::string& name, StepVar v) {
  const int place = place_of(l, name);
  const auto known = vectors_.find({l, place});
  StepVar row = known == vectors_.end() ? StepVar() : known->second;
  if (known == vectors_.end()) {
    row = tape_.vector(LearningStep::name_of(l, name), v.shape().width());
    reads_.push_back({static_cast<int>(l), place, row.id()});
    vectors_.emplace(std::pair(l, place), row);
  }
  return tape_.broadcast(tape_.sum(row * v), RowShape::vector(1));
}

StepVar RecordedStack::product(std::size_t l, const std::string& name, StepVar v) {
  const int place = place_of(l, name);
  const Shape& shape = layers_[l].weights[place].value.shape();
  if (v.shape().rank == 1 && shape[0] == 1 && shape[1] > 1 && layers_[l].program.states.empty())
    return row_product(l, name, v);
  if (v.shape().rank > 1) throw not_learned(text_of("the matrix '", name, "' multiplies several vectors"));
  const StepVar result = tape_.product(matrices(l, name).matrix, v);
  if (std::ranges::find(reads_, result.id(), &Read::value) == reads_.end())
    reads_.push_back({static_cast<int>(l), place, result.id(), v.id()});
  return result;
}
const Read& RecordedStack::read_at(int value) const {
  return *std::ranges::find(reads_, value, &Read::value);
}

StepVar RecordedStack::shaped(StepVar v, const RowShape& shape) {
  return v.shape() == shape ? v : tape_.broadcast(v, shape);
}

StepMatrix RecordedStack::transposed(const Read& read) {
  const std::string& name = layers_[read.layer].weights[read.weight].name;
  Matrices& known = matrices(static_cast<std::size_t>(read.layer), name);
  if (known.transposed.tape == nullptr) {
    const Shape& shape = known.matrix.shape;
    known.transposed = tape_.matrix(LearningStep::transposed(read.layer, name), shape[1], shape[0]);
  }
  return known.transposed;
}

}  // namespace lagtape::recurrence
