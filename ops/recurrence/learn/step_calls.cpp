#include "lagtape/ops/recurrence/learn/step_calls.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape::recurrence {
namespace {

/// Maximum operations per stage. The time to compile one grows with the square of their number.
constexpr std::size_t kMostOperations = 160;

}  // namespace

template <class T>
StepCalls<T>::StepCalls(StepProgram program, std::vector<bool> kept, std::string_view second_half,
                        const Kernels<T>& kernels)
    : program_(std::move(program)), kept_(std::move(kept)), kernels_(kernels) {
  kept_[static_cast<std::size_t>(program_.output)] = true;
  lay_out();
  list_calls(second_half);
}

template <class T>
std::int64_t StepCalls<T>::weight_elements(int w) const {
  const Shape& shape = program_.weights[static_cast<std::size_t>(w)].shape;
  return packed_elements<T>(shape.size() == 2 ? shape[1] : 1, shape[0]);
}

/// Weights, the input, and computed values are stored consecutively; a reshaped value is its operand.
template <class T>
void StepCalls<T>::lay_out() {
  const auto place_all = [this](T* memory) {
    std::int64_t used = 0;
    const auto take = [&](std::int64_t elements) {
      T* const at = memory + used;
      used += padded<T>(elements);
      return at;
    };
    weights_.clear(), values_.clear();
    for (int w = 0; w < static_cast<int>(program_.weights.size()); ++w)
      weights_.push_back(take(weight_elements(w)));
    input_ = take(program_.input.width());
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      const Instruction& i = program_.values[v];
      values_.push_back(i.op == StepOp::weight    ? weights_[static_cast<std::size_t>(i.index)]
                        : i.op == StepOp::input   ? input_
                        : i.op == StepOp::reshape ? values_[static_cast<std::size_t>(i.a)]
                                                  : take(i.shape.width()));
    }
    return used;
  };
  const auto bytes = static_cast<std::size_t>(place_all(nullptr)) * sizeof(T);
  memory_ = allocate_aligned(std::max<std::size_t>(bytes, kAlignment));
  T* const numbers = reinterpret_cast<T*>(memory_.get());
  std::fill_n(numbers, bytes / sizeof(T), T(0));
  place_all(numbers);
  for (std::size_t v = 0; v < program_.values.size(); ++v) {
    const Instruction& i = program_.values[v];
    if (i.op == StepOp::constant) std::fill_n(values_[v], kLane<T>, static_cast<T>(i.value));
  }
}

template <class T>
void StepCalls<T>::list_calls(std::string_view second_half) {
  const std::size_t count = program_.values.size();
  std::vector<bool> done(count), second(count), first(count);
  for (std::size_t v = 0; v < count; ++v) {
    const Instruction& i = program_.values[v];
    done[v] = is_leaf(i.op);
    second[v] =
        i.op == StepOp::weight && program_.weights[static_cast<std::size_t>(i.index)].name == second_half;
    for (const int o : {i.a, i.b})
      if (o >= 0 && second[static_cast<std::size_t>(o)]) second[v] = true;
    first[v] = !second[v];
  }
  list_half(first, done, first_);
  list_half(second, done, second_);
}

template <class T>
bool StepCalls<T>::is_ready(int v, const std::vector<bool>& done) const {
  const Instruction& i = program_.values[static_cast<std::size_t>(v)];
  const auto is_done = [&](int o) { return o < 0 || done[static_cast<std::size_t>(o)]; };
  return is_done(i.a) && is_done(i.b);
}

template <class T>
bool StepCalls<T>::is_fused(const Instruction& i) const {
  return i.op == StepOp::element && !function_of(i.element).calls_library;
}

/// Alternately: all other work that is ready, then all ready element-wise work of one width, with the work that
/// becomes ready as a result.
template <class T>
void StepCalls<T>::list_half(const std::vector<bool>& half, std::vector<bool>& done, Calls& calls) {
  const int count = static_cast<int>(program_.values.size());
  for (bool more = true; more;) {
    more = false;
    std::vector<int> stage;
    for (int v = 0; v < count; ++v) {
      const Instruction& i = program_.values[static_cast<std::size_t>(v)];
      if (!half[static_cast<std::size_t>(v)] || done[static_cast<std::size_t>(v)] || !is_ready(v, done))
        continue;
      if (!is_fused(i)) {
        add_other(v, calls);
        done[static_cast<std::size_t>(v)] = more = true;
      }
    }
    for (int v = 0; v < count && stage.size() < kMostOperations; ++v) {
      const Instruction& i = program_.values[static_cast<std::size_t>(v)];
      if (!half[static_cast<std::size_t>(v)] || done[static_cast<std::size_t>(v)] || !is_fused(i) ||
          !is_ready(v, done))
        continue;
      if (!stage.empty() && width_of(v) != width_of(stage.front())) continue;
      stage.push_back(v);
      done[static_cast<std::size_t>(v)] = more = true;
    }
    if (!stage.empty()) add_stage(stage, calls);
  }
}

template <class T>
bool StepCalls<T>::is_read_outside(int v, const std::vector<int>& stage) const {
  for (int u = 0; u < static_cast<int>(program_.values.size()); ++u) {
    const Instruction& i = program_.values[static_cast<std::size_t>(u)];
    if ((i.a == v || i.b == v) && std::ranges::find(stage, u) == stage.end()) return true;
  }
  return false;
}

/// Values used only in the stage are in registers, as are constants.
template <class T>
ElementStage StepCalls<T>::stage_of(const std::vector<int>& values) const {
  ElementStage stage;
  const std::int64_t width = stage.register_width = width_of(values.front());
  std::map<int, int> operands;  // by value
  const auto add = [&](Operand::Kind kind, int index) {
    stage.operands.push_back({kind, index, 0, width});
    return static_cast<int>(stage.operands.size()) - 1;
  };
  const auto operand = [&](int v) {
    if (v < 0) return -1;
    const auto [found, fresh] = operands.try_emplace(v, -1);
    if (!fresh) return found->second;
    const Instruction& i = program_.values[static_cast<std::size_t>(v)];
    const bool inside = std::ranges::find(values, v) != values.end();
    if (i.op == StepOp::constant) {
      ElementInstruction fill;
      fill.element = ElementOp::fill;
      fill.out = add(Operand::Kind::tile, stage.registers++);
      fill.k = i.value;
      fill.width = width;
      stage.instructions.push_back(fill);
      return found->second = fill.out;
    }
    if (inside && !kept_[static_cast<std::size_t>(v)] && !is_read_outside(v, values))
      return found->second = add(Operand::Kind::tile, stage.registers++);
    return found->second = add(Operand::Kind::array, v);
  };
  for (const int v : values) {
    const Instruction& i = program_.values[static_cast<std::size_t>(v)];
    ElementInstruction t;
    t.element = i.element;
    t.a = operand(i.a);
    t.b = operand(i.b);
    t.out = operand(v);
    t.width = width;
    t.shape = i.shape;
    stage.instructions.push_back(t);
  }
  return stage;
}

template <class T>
void StepCalls<T>::add_stage(const std::vector<int>& values, Calls& calls) {
  const ElementStage stage = stage_of(values);
  std::vector<Array> arrays(program_.values.size());
  for (Array& array : arrays) array.kind = Array::Kind::step;
  const auto compiled = CompiledStage::compile<T>(stage, arrays, kernels_.level);
  if (compiled == nullptr) {
    for (const int v : values) calls.push_back({.kind = Call::Kind::element, .value = v});
    return;
  }
  Call call{.kind = Call::Kind::compiled, .value = values.front(), .stage = compiled};
  for (const int o : compiled->operands())
    call.pointers.push_back(value(stage.operands[static_cast<std::size_t>(o)].index));
  calls.push_back(std::move(call));
}

template <class T>
void StepCalls<T>::add_other(int v, Calls& calls) {
  const Instruction& i = program_.values[static_cast<std::size_t>(v)];
  if (i.op == StepOp::reshape) return;
  Call call{.value = v};
  switch (i.op) {
    case StepOp::element: call.kind = Call::Kind::element; break;
    case StepOp::sum: call.kind = Call::Kind::sum; break;
    case StepOp::broadcast: call.kind = Call::Kind::broadcast; break;
    case StepOp::product: {
      call.kind = Call::Kind::product;
      call.operand = {value(i.a), width_of(i.a),
                      program_.values[static_cast<std::size_t>(i.a)].shape.width()};
      for (std::int64_t c = 0; c < width_of(v); c += kLane<T>) {
        call.pointers.push_back(value(v) + c);
        call.strides.push_back(width_of(v));
      }
      break;
    }
    default:
      throw InputError({.op = "learner"}, Rule::not_supported,
                       text_of("a step with '", name_of(i), "' has no traces"), {},
                       "Train on sequences; \"truncate\" keeps them short.");
  }
  calls.push_back(std::move(call));
}

template <class T>
bool StepCalls<T>::move_with_product(int transposed, TraceUpdate<T> move) {
  const auto multiplies = [&](const Call& call) {
    return call.kind == Call::Kind::product &&
           program_.values[static_cast<std::size_t>(call.value)].index == transposed;
  };
  const auto call = std::ranges::find_if(second_, multiplies);
  if (call == second_.end() ||
      std::ranges::count_if(second_, multiplies) + std::ranges::count_if(first_, multiplies) != 1 ||
      value(program_.values[static_cast<std::size_t>(call->value)].a) != move.direct)
    return false;
  scratch_.push_back(
      allocate_aligned(static_cast<std::size_t>(TraceUpdate<T>::kScratch * move.k) * sizeof(T)));
  move.scratch = reinterpret_cast<T*>(scratch_.back().get());
  move.backward = value(call->value);
  call->kind = Call::Kind::moving_product;
  call->move = move;
  return true;
}

template <class T>
void StepCalls<T>::run_element(int v) {
  const Instruction& i = program_.values[static_cast<std::size_t>(v)];
  const auto operand = [&](int o) -> const T* {
    if (o < 0) return nullptr;
    const Instruction& of = program_.values[static_cast<std::size_t>(o)];
    if (of.op != StepOp::constant || width_of(o) >= width_of(v)) return value(o);
    return nullptr;
  };
  // For an operation on a number and a vector, the number is repeated first, in the result's place, or next to
  // it if the other operand is the number.
  const T *a = operand(i.a), *b = operand(i.b);
  T* const out = value(v);
  const auto repeated = [&](int o) {
    std::fill_n(out, width_of(v), *value(o));
    return out;
  };
  if (i.a >= 0 && a == nullptr)
    a = repeated(i.a);
  else if (i.b >= 0 && b == nullptr)
    b = repeated(i.b);
  kernels_.element[static_cast<int>(i.element)](out, a, b, nullptr, T(0), width_of(v));
}

template <class T>
void StepCalls<T>::run(const Calls& calls) {
  for (const Call& call : calls) {
    const Instruction& i = program_.values[static_cast<std::size_t>(call.value)];
    switch (call.kind) {
      case Call::Kind::compiled:
        call.stage->template run<T>(call.pointers.data(),
                                    width_of(call.value) * static_cast<std::int64_t>(sizeof(T)));
        break;
      case Call::Kind::element: run_element(call.value); break;
      case Call::Kind::product:
        kernels_.product({.rows = 1,
                          .operands = &call.operand,
                          .operand_count = 1,
                          .packed = weight(i.index),
                          .columns = width_of(call.value),
                          .out = call.pointers.data(),
                          .ldc = call.strides.data()});
        break;
      case Call::Kind::moving_product: kernels_.update_traces(call.move); break;
      case Call::Kind::sum: {
        const RowShape& shape = program_.values[static_cast<std::size_t>(i.a)].shape;
        kernels_.sum_groups(value(call.value), value(i.a), 1, shape.groups, shape.size);
        break;
      }
      case Call::Kind::broadcast:
        kernels_.broadcast_groups(value(call.value), value(i.a), 1, i.shape.groups, i.shape.size);
        break;
    }
  }
}

template class StepCalls<float>;
template class StepCalls<double>;

}  // namespace lagtape::recurrence
