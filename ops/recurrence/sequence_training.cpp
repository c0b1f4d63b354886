#include <algorithm>

#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/ops/recurrence/sequence_checks.h"
#include "lagtape/ops/recurrence/sequence_implementation.h"

namespace lagtape {
namespace {

std::vector<Tensor> values_of(std::span<const Var> vars) {
  std::vector<Tensor> values;
  for (const Var& v : vars) values.push_back(v.value());
  return values;
}

/// Zeros where a gradient is wanted, empty tensors elsewhere.
std::vector<Tensor> gradients_for(std::span<const Var> vars) {
  std::vector<Tensor> gradients;
  for (const Var& v : vars) gradients.push_back(v.requires_grad() ? Tensor(v.shape(), v.dtype()) : Tensor());
  return gradients;
}

bool any_wanted(std::span<const Var> vars) {
  return std::any_of(vars.begin(), vars.end(), [](const Var& v) { return v.requires_grad(); });
}

/// Adds a gradient times a factor to the gradient of input i, if it is wanted.
void add_scaled(InputGradients& inputs, int i, const Tensor& gradient, double factor) {
  if (gradient.empty() || !inputs.wanted(i)) return;
  with_scalar(gradient.dtype(), [&]<class T>() {
    const auto to = inputs.accumulator(i).template values<T>();
    const auto from = gradient.template values<T>();
    for (std::size_t j = 0; j < to.size(); ++j) to[j] += static_cast<T>(factor) * from[j];
  });
}

/// Gradients of one pass: of the weights, x, and the initial window, in the order of the node's inputs.
struct Gradients {
  std::vector<Tensor> weights, initial;
  Tensor x;

  Gradients(std::span<const Var> w, const Var& input, std::span<const Var> window)
      : weights(gradients_for(w)), initial(gradients_for(window)) {
    if (input.requires_grad()) x = Tensor(input.shape(), input.dtype());
    if (any_wanted(window))  // all or none
      for (std::size_t s = 0; s < window.size(); ++s)
        initial[s] = Tensor(window[s].shape(), window[s].dtype());
    want_weights = any_wanted(w);
    want_initial = any_wanted(window);
  }
  bool wanted() const { return want_weights || want_initial || !x.empty(); }
  void attach(recurrence::BatchRequest& request) {
    if (want_weights) request.backward.weight_gradients = &weights;
    if (!x.empty()) request.backward.x_gradient = &x;
    if (want_initial) request.backward.initial_gradient = &initial;
  }
  void add_to(InputGradients& inputs, double factor) const {
    int i = 0;
    for (const Tensor& g : weights) add_scaled(inputs, i++, g, factor);
    add_scaled(inputs, i++, x, factor);
    for (const Tensor& g : initial) add_scaled(inputs, i++, g, factor);
  }
  bool want_weights = false, want_initial = false;
};

std::vector<Var> inputs_of(std::span<const Var> weights, const Var& x, std::span<const Var> initial) {
  std::vector<Var> all(weights.begin(), weights.end());
  all.push_back(x);
  all.insert(all.end(), initial.begin(), initial.end());
  return all;
}

}  // namespace

Var SequenceOp::loss(Tape& tape, std::span<const Var> weights, Var x, const SequenceBatch& batch,
                     ThreadPool& pool, std::span<const Var> initial, Window* final_window) {
  Implementation& op = *implementation_;
  SequenceBatch own = batch;
  own.x = x.value();
  const std::vector<Tensor> weight_values = values_of(weights), window = values_of(initial);
  check_batch(op.stack, op.dtype, own, window);
  check_targets(op.stack, op.dtype, own);
  if (final_window != nullptr) *final_window = zero_window(op.stack.layers, own.x.size(0), op.dtype);
  auto gradients = std::make_shared<Gradients>(weights, x, initial);
  recurrence::BatchRequest request{own, weight_values, pool};
  request.initial = window.empty() ? nullptr : &window;
  request.final_window = final_window;
  request.loss = true;
  request.backward.large_product = op.settings.large_product;
  gradients->attach(request);
  const double loss = op.runner->run(request);
  return tape.record(
      Tensor::scalar(loss, op.dtype), inputs_of(weights, x, initial),
      [gradients](const Tensor& d, InputGradients& inputs) { gradients->add_to(inputs, d.item()); });
}

Var SequenceOp::outputs(Tape& tape, std::span<const Var> weights, Var x, const SequenceBatch& batch,
                        ThreadPool& pool, std::span<const Var> initial, Window* final_window) {
  auto own = std::make_shared<SequenceBatch>(batch);
  own->x = x.value();
  Window window{values_of(initial)};
  const std::vector<Tensor> weight_values = values_of(weights);
  const Tensor outputs =
      evaluate(weight_values, *own, pool, initial.empty() ? nullptr : &window, final_window);
  const std::vector<Var> inputs = inputs_of(weights, x, initial);
  const std::size_t weight_count = weights.size();
  return tape.record(
      outputs, inputs,
      [op = implementation_, &pool, own, inputs, weight_count](const Tensor& d, InputGradients& to) {
        const std::span<const Var> all(inputs);
        const auto w = all.first(weight_count), first = all.subspan(weight_count + 1);
        const std::vector<Tensor> weight_tensors = values_of(w), start = values_of(first);
        Gradients gradients(w, inputs[weight_count], first);
        recurrence::BatchRequest request{*own, weight_tensors, pool};
        request.initial = start.empty() ? nullptr : &start;
        request.backward.output_gradient = &d;
        request.backward.large_product = op->settings.large_product;
        gradients.attach(request);
        op->runner->run(request);
        gradients.add_to(to, 1);
      });
}

}  // namespace lagtape
