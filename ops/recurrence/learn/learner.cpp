#include "lagtape/ops/recurrence/learn/learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/hash.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/learn/learner_state.h"
#include "lagtape/ops/recurrence/learn/learning_step.h"
#include "lagtape/ops/recurrence/learn/state_copy.h"
#include "lagtape/ops/recurrence/learn/step_calls.h"
#include "lagtape/ops/recurrence/learn/weight_memory.h"
#include "lagtape/ops/recurrence/step/real_losses.h"

namespace lagtape {

using namespace recurrence;

namespace {

std::vector<bool> kept_values(const LearningStep& step) {
  std::vector<bool> kept(step.program.values.size());
  for (const StateDefinition& state : step.program.states) kept[static_cast<std::size_t>(state.next)] = true;
  return kept;
}

}  // namespace

template <class T>
struct Learner<T>::Implementation {
  LearnerOptions options;
  LossFunction loss;
  Normalization normalization;
  const Kernels<T>& kernels;
  LearningStep learning;
  StepCalls<T> calls;
  std::vector<WeightMemory<T>> weights;  // one per trained or fixed weight of the layers, in order
  AlignedMemory traces;
  std::int64_t trace_elements = 0;
  std::vector<TraceUpdate<T>> updates;
  std::vector<StateCopy<T>> states;
  AlignedMemory constants;  // a vector of zeros and one of ones
  T *zeros = nullptr, *ones = nullptr, *delta = nullptr;
  std::vector<T> scaled_target;
  std::int64_t steps = 0, waiting = 0, moves = 0, targets = 1;
  LearnerState state;  // the location of all of these

  Implementation(std::vector<LearnedLayer> layers, const LossFunction& l, const Normalization& n,
                 const Window& start, const LearnerOptions& o)
      : options(o),
        loss(l),
        normalization(n),
        kernels(lagtape::kernels<T>(best_level())),
        learning(learning_step(layers)),
        calls(learning.program, kept_values(learning), LearningStep::kDelta, kernels) {
    options.check();
    if (loss.is_signal() || loss == Loss::none)
      throw InputError({.op = "learner"}, Rule::not_supported,
                       text_of("the loss ", name_of(loss.kind), " is none of single steps"));
    if (options.method == LearningMethod::rtrl && !learning.inexact.empty())
      throw InputError({.op = "learner"}, Rule::not_supported,
                       text_of("rtrl is not exact here: ", learning.inexact), {},
                       "The methods e_prop and truncated leave such paths out; or train on sequences.");
    if (loss_row(loss.kind).targets == LossTargets::real) targets = calls_output() / loss.outputs_of_target();
    scaled_target.resize(static_cast<std::size_t>(targets));
    lay_out_constants();
    place_weights(layers);
    place_states(layers, start);
    place_traces();
    if (const int d = learning.weight_named(LearningStep::kDelta); d >= 0) delta = calls.weight(d);
    spare_delta.resize(static_cast<std::size_t>(calls_output()));
    if (delta == nullptr) delta = spare_delta.data();
    reset();
    list_state(layers);
  }

  std::vector<T> spare_delta;  // if nothing is trained

  const RowShape& shape_of(int value) const {
    return learning.program.values[static_cast<std::size_t>(value)].shape;
  }
  std::int64_t calls_output() const { return shape_of(learning.output).width(); }

  void lay_out_constants() {
    std::int64_t widest = kLane<T>;
    for (const WeightUse& use : learning.uses) widest = std::max(widest, padded<T>(use.width));
    constants = allocate_aligned(static_cast<std::size_t>(2 * widest) * sizeof(T));
    zeros = reinterpret_cast<T*>(constants.get());
    ones = zeros + widest;
    std::fill_n(zeros, widest, T(0));
    std::fill_n(ones, widest, T(1));
  }

  void place_weights(const std::vector<LearnedLayer>& layers) {
    for (std::size_t l = 0; l < layers.size(); ++l)
      for (const LearnedWeight& weight : layers[l].weights) {
        const int own = learning.weight_named(LearningStep::name_of(l, weight.name));
        const int transposed = learning.weight_named(LearningStep::transposed(l, weight.name));
        const bool is_row = own >= 0 &&
                            learning.program.weights[static_cast<std::size_t>(own)].shape.size() == 1 &&
                            weight.value.rank() == 2;
        weights.emplace_back(weight, static_cast<int>(l), own < 0 ? nullptr : calls.weight(own),
                             transposed < 0 ? nullptr : calls.weight(transposed), is_row, kernels);
      }
  }
  WeightMemory<T>& weight_of(const WeightUse& use) {
    return *(std::ranges::find(weights, use.layer, &WeightMemory<T>::layer) + use.weight);
  }

  void place_states(const std::vector<LearnedLayer>& layers, const Window& start) {
    std::size_t window = 0;
    for (std::size_t l = 0; l < layers.size(); ++l)
      for (std::size_t s = 0; s < layers[l].program.states.size(); ++s, ++window) {
        const std::int64_t width = layers[l].program.states[s].shape.width();
        // The state `steps` before the first step.
        const auto first = [&](std::int64_t before) {
          std::vector<T> values(static_cast<std::size_t>(width));
          if (start.states.empty()) return values;
          const Tensor& states = start.states[window];
          for (std::int64_t i = 0; i < width; ++i)
            values[static_cast<std::size_t>(i)] =
                static_cast<T>(states.at((states.size(0) - 1 - before) * width + i));
          return values;
        };
        const T* const next = calls.value(learning.next[l][s]);
        if (const int now = learning.states[l][s]; now >= 0)
          states.push_back({calls.weight(now), next, width, {first(0)}, {}});
        for (const PastState& past : learning.past_states) {
          if (static_cast<std::size_t>(past.layer) != l || static_cast<std::size_t>(past.state) != s)
            continue;
          StateCopy<T> copy{calls.weight(past.weight), next, width, {}, {}};
          for (std::int64_t before = past.lag; before >= 0; --before) copy.start.push_back(first(before));
          copy.between.resize(static_cast<std::size_t>(past.lag * width));
          states.push_back(std::move(copy));
        }
      }
  }

  T* vector_at(int value, T* otherwise) const { return value < 0 ? otherwise : calls.value(value); }

  void place_traces() {
    const auto elements = [](const WeightUse& use, std::int64_t k) {
      return packed_elements<T>(k, use.width);
    };
    const auto k_of = [this](const WeightUse& use) { return use.x < 0 ? 1 : shape_of(use.x).width(); };
    for (const WeightUse& use : learning.uses)
      trace_elements += static_cast<std::int64_t>(use.entry.size()) * elements(use, k_of(use));
    traces =
        allocate_aligned(static_cast<std::size_t>(std::max<std::int64_t>(trace_elements, 1)) * sizeof(T));
    T* next = reinterpret_cast<T*>(traces.get());
    for (const WeightUse& use : learning.uses) {
      TraceUpdate<T> update{};
      update.k = k_of(use);
      update.columns = padded<T>(use.width);
      update.x = use.x < 0 ? ones : calls.value(use.x);
      update.w = moves_directly() ? weight_of(use).weight() : weight_of(use).gradient();
      update.states = static_cast<int>(use.entry.size());
      for (int s = 0; s < update.states; ++s, next += elements(use, update.k)) update.traces[s] = next;
      update.direct = vector_at(use.direct, nullptr);
      const bool reads_before = std::ranges::any_of(use.before, [](int value) { return value >= 0; });
      for (int s = 0; s < update.states; ++s) {
        for (int r = 0; r < update.states; ++r)
          update.carry[s * update.states + r] =
              vector_at(use.carry[static_cast<std::size_t>(s * update.states + r)], zeros);
        update.entry[s] = vector_at(use.entry[static_cast<std::size_t>(s)], zeros);
        update.credit[s] = vector_at(use.credit[static_cast<std::size_t>(s)], zeros);
        if (reads_before) update.before[s] = vector_at(use.before[static_cast<std::size_t>(s)], zeros);
      }
      if (!moves_with_product(use, update)) updates.push_back(update);
    }
  }

  /// If a weight's update consists only of products of two vectors, one pass over it computes its backward
  /// product and updates it.
  bool moves_with_product(const WeightUse& use, const TraceUpdate<T>& update) {
    WeightMemory<T>& weight = weight_of(use);
    const auto is_same = [&](const WeightUse& other) {
      return other.layer == use.layer && other.weight == use.weight;
    };
    const int transposed =
        learning.weight_named(LearningStep::transposed(static_cast<std::size_t>(use.layer), weight.name()));
    if (!moves_directly() || update.states > 0 || transposed < 0 || weight.is_bounded() ||
        std::ranges::count_if(learning.uses, is_same) != 1 || !calls.move_with_product(transposed, update))
      return false;
    weight.drop_transposed();
    return true;
  }

  void list_state(const std::vector<LearnedLayer>& layers) {
    std::string origin =
        text_of(to_string(learning.program), lagtape::name_of(loss.kind), sizeof(T), ' ', options.window, ' ',
                static_cast<int>(options.method), static_cast<int>(options.rule));
    const LossOptions& of_loss = loss.options;
    const std::vector<double> others = {of_loss.delta, of_loss.label_smoothing};
    const Scaling &in = normalization.input, &out = normalization.output;
    for (const std::vector<double>* numbers :
         {&others, &of_loss.levels, &of_loss.scale, &of_loss.class_weights, &in.mean, &in.scale, &out.mean,
          &out.scale})
      for (const double number : *numbers) origin += text_of(' ', number);
    for (const LearnedLayer& layer : layers)
      for (const LearnedWeight& weight : layer.weights)
        origin += text_of(' ', weight.name, to_string(weight.value.shape()), weight.trainable,
                          weight.bounds.low, ' ', weight.bounds.high);
    state.set_origin(fnv1a(origin), static_cast<std::int32_t>(kernels.level));
    for (std::int64_t* count : {&steps, &waiting, &moves}) state.add(count, 1);
    for (WeightMemory<T>& weight : weights) weight.list_state(state);
    for (StateCopy<T>& copy : states) {
      state.add(copy.to, static_cast<std::size_t>(copy.count));
      state.add(copy.between.data(), copy.between.size());
      state.add(&copy.oldest, 1);
    }
    state.add(reinterpret_cast<T*>(traces.get()), static_cast<std::size_t>(trace_elements));
  }

  /// Whether gradients, times the rate, are added directly to the weights.
  bool moves_directly() const {
    return options.rule == LearningRule::sgd && options.every == 1 && options.lr > 0;
  }

  void reset() {
    steps = waiting = 0;
    clear_traces();
    for (StateCopy<T>& state : states) state.reset();
    for (WeightMemory<T>& weight : weights) weight.clear();
  }

  void clear_traces() { std::fill_n(reinterpret_cast<T*>(traces.get()), trace_elements, T(0)); }

  double step(const T* input, const T* target, T* output) {
    if (options.method == LearningMethod::truncated && steps % options.window == 0) clear_traces();
    for (std::int64_t i = 0; i < learning.program.input.width(); ++i)
      calls.input()[i] =
          static_cast<T>(normalization.input.normalized(input[i], static_cast<std::size_t>(i)));
    calls.run_first();
    const T* y = calls.value(learning.output);
    double scored = target == nullptr ? 0 : score(y, target);
    if (target == nullptr || !std::isfinite(scored)) std::fill_n(delta, calls_output(), T(0));
    if (output != nullptr) {
      std::copy_n(y, calls_output(), output);
      restore_units(output);
    }
    calls.run_second();
    for (const TraceUpdate<T>& update : updates) kernels.update_traces(update);
    for (StateCopy<T>& state : states) state.advance();
    ++steps;
    if (options.lr > 0 && ++waiting >= options.every) move();
    return scored;
  }

  void restore_units(T* output) const {
    if (!normalization.output.empty()) normalization.output.restore(std::span<T>(output, calls_output()));
  }

  /// The loss of outputs, with its gradient, times minus the rate if weights are updated directly.
  double score(const T* y, const T* target) {
    const std::int64_t width = calls_output();
    const double sign = moves_directly() ? -options.lr : 1;
    switch (loss_row(loss.kind).targets) {
      case LossTargets::classes: {
        if (!(*target >= 0 && *target < static_cast<T>(width))) break;  // NaN included
        const auto c = static_cast<std::int32_t>(*target);
        return smoothed_cross_entropy_row(y, width, c, loss.class_weight(c), loss.options.label_smoothing,
                                          sign, delta);
      }
      case LossTargets::bit: {
        if (!(*target >= 0)) break;
        const std::int32_t bit = *target != 0 ? 1 : 0;
        return smoothed_binary_cross_entropy_row(y, bit, loss.class_weight(bit), loss.options.label_smoothing,
                                                 sign, delta);
      }
      default: {
        for (std::size_t i = 0; i < scaled_target.size(); ++i)
          scaled_target[i] = static_cast<T>(normalization.output.normalized(target[i], i));
        const double each = 1 / static_cast<double>(targets * loss.terms_of_target());
        double sum = 0;
        with_real_loss<T>(loss, targets,
                          [&](auto row) { sum = row(y, scaled_target.data(), sign * each, delta); });
        return sum * each;
      }
    }
    std::fill_n(delta, width, T(0));
    return 0;
  }

  void move() {
    waiting = 0;
    ++moves;
    if (moves_directly()) {
      for (WeightMemory<T>& weight : weights) weight.settle();
      return;
    }
    const MoveRule rule{
        options.rule == LearningRule::adam, options.lr, options.beta1, options.beta2, options.epsilon, moves};
    for (WeightMemory<T>& weight : weights) weight.move(rule);
  }
};

template <class T>
Learner<T>::Learner(std::vector<LearnedLayer> layers, const LossFunction& loss,
                    const Normalization& normalization, const Window& start, const LearnerOptions& options)
    : implementation_(
          std::make_unique<Implementation>(std::move(layers), loss, normalization, start, options)) {}
template <class T>
Learner<T>::Learner(Learner&&) noexcept = default;
template <class T>
Learner<T>& Learner<T>::operator=(Learner&&) noexcept = default;
template <class T>
Learner<T>::~Learner() = default;

template <class T>
std::int64_t Learner<T>::input_width() const {
  return implementation_->learning.program.input.width();
}
template <class T>
std::int64_t Learner<T>::output_width() const {
  return implementation_->calls_output();
}
template <class T>
std::int64_t Learner<T>::target_width() const {
  return implementation_->targets;
}
template <class T>
std::int64_t Learner<T>::steps() const {
  return implementation_->steps;
}
template <class T>
const std::string& Learner<T>::inexact() const {
  return implementation_->learning.inexact;
}

template <class T>
double Learner<T>::step(const T* input, const T* target, T* output) noexcept {
  const FlushSubnormals flush;
  return implementation_->step(input, target, output);
}
template <class T>
void Learner<T>::reset() noexcept {
  implementation_->reset();
}

template <class T>
bool Learner<T>::is_finite() const {
  for (const auto& state : implementation_->states)
    for (std::int64_t i = 0; i < state.count; ++i)
      if (!std::isfinite(state.to[i])) return false;
  return std::ranges::all_of(implementation_->weights, [](const auto& weight) { return weight.is_finite(); });
}

template <class T>
std::size_t Learner<T>::state_size() const {
  return implementation_->state.size();
}
template <class T>
void Learner<T>::save(std::span<std::byte> to) const {
  implementation_->state.save(to);
}
template <class T>
void Learner<T>::restore(std::span<const std::byte> from) {
  implementation_->state.restore(from);
}

template <class T>
std::vector<Tensor> Learner<T>::weights() const {
  std::vector<Tensor> all;
  for (const WeightMemory<T>& weight : implementation_->weights) all.push_back(weight.value_now());
  return all;
}
template <class T>
std::vector<Tensor> Learner<T>::gradients() const {
  std::vector<Tensor> all;
  for (const WeightMemory<T>& weight : implementation_->weights) all.push_back(weight.gradient_now());
  return all;
}

template class Learner<float>;
template class Learner<double>;

}  // namespace lagtape
