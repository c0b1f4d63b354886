#include "lagtape/ops/recurrence/held_sequence.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/run/batch_runner.h"
#include "lagtape/ops/recurrence/sequence_checks.h"

namespace lagtape {
namespace {

/// Throws InputError for a state that steps read only through trained lags: it then has no adjoint of its own.
void check_reads(const std::vector<StepProgram>& layers) {
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (std::size_t s = 0; s < layers[l].states.size(); ++s)
      if (std::ranges::none_of(layers[l].values, [&](const Instruction& value) {
            return (value.op == StepOp::state || value.op == StepOp::lag) &&
                   value.index == static_cast<int>(s);
          }))
        throw InputError(
            {.op = "sequence"}, Rule::not_supported,
            text_of("the final window has a gradient where steps read their states at a fixed lag or at "
                    "once. Layer ",
                    l, " does not read ", layers[l].states[s].name, " so"),
            {}, "Leave its window out of the loss.");
}

void check_alike(const Tensor& gradient, const Tensor& like, const char* name) {
  if (!gradient.is(like.dtype(), like.shape()))
    throw wrong_tensor({.item = text_of("gradient of the ", name), .op = "sequence"}, like.dtype(),
                       like.shape(), gradient);
}

void check_resets(std::span<const std::uint8_t> resets, const Tensor& x) {
  const std::int64_t steps = x.size(0) * x.size(1);
  if (!resets.empty() && std::ssize(resets) != steps)
    throw unexpected({.op = "reset"}, Rule::shape, text_of(steps, " numbers, one a step"),
                     text_of(resets.size()));
}

std::vector<Tensor> zeros_like(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> zeros;
  for (const Tensor& tensor : tensors) zeros.emplace_back(tensor.shape(), tensor.dtype());
  return zeros;
}

}  // namespace

struct HeldSequence::Implementation {
  StackDefinition stack;
  Dtype dtype;
  LargeProductFunction large_product;
  std::unique_ptr<recurrence::BatchRunner> runner;
};

struct HeldOutputs::Implementation {
  std::shared_ptr<HeldSequence::Implementation> op;
  std::vector<Tensor> weights;
  SequenceBatch batch;
  std::vector<Tensor> initial;
  WantedGradients wanted;
  std::vector<std::uint8_t> resets;
  Tensor outputs = {};
  Window final_window = {};
  std::unique_ptr<recurrence::HeldBatch> held = {};  // destroyed first: it refers to everything above

  const std::vector<StepProgram>& layers() const { return op->stack.layers; }
};

HeldSequence::HeldSequence(StackDefinition stack, Dtype dtype, SequenceSettings settings) {
  check_stack(stack, settings);
  implementation_ = std::make_shared<Implementation>(
      Implementation{std::move(stack), dtype, settings.large_product, nullptr});
  implementation_->runner = recurrence::make_batch_runner(implementation_->stack, dtype, settings);
}

const StackDefinition& HeldSequence::stack() const { return implementation_->stack; }
Dtype HeldSequence::dtype() const { return implementation_->dtype; }

std::vector<PlanCost> HeldSequence::plans(std::int64_t batch, std::int64_t steps, int threads) const {
  return implementation_->runner->held_plans(batch, steps, threads);
}

HeldOutputs HeldSequence::forward(std::vector<Tensor> weights, SequenceBatch batch, ThreadPool& pool,
                                  std::vector<Tensor> initial, WantedGradients wanted,
                                  std::vector<std::uint8_t> resets) const {
  check_batch(stack(), dtype(), batch, initial);
  check_resets(resets, batch.x);
  auto own = std::make_unique<HeldOutputs::Implementation>(HeldOutputs::Implementation{
      implementation_, std::move(weights), std::move(batch), std::move(initial), wanted, std::move(resets)});
  own->outputs = Tensor(output_shape(stack(), own->batch), dtype());
  own->final_window = zero_window(own->layers(), own->batch.x.size(0), dtype());
  recurrence::BatchRequest request{own->batch, own->weights, pool};
  request.initial = own->initial.empty() ? nullptr : &own->initial;
  request.final_window = &own->final_window;
  request.outputs = &own->outputs;
  request.resets = own->resets;
  own->held = implementation_->runner->hold(request, wanted.x);
  return HeldOutputs(std::move(own));
}

Tensor HeldSequence::evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                              const std::vector<Tensor>& initial, Window& final_window,
                              std::span<const std::uint8_t> resets) const {
  check_batch(stack(), dtype(), batch, initial);
  check_resets(resets, batch.x);
  Tensor outputs(output_shape(stack(), batch), dtype());
  final_window = zero_window(stack().layers, batch.x.size(0), dtype());
  recurrence::BatchRequest request{batch, weights, pool};
  request.initial = initial.empty() ? nullptr : &initial;
  request.final_window = &final_window;
  request.outputs = &outputs;
  request.resets = resets;
  implementation_->runner->run(request);
  return outputs;
}

HeldOutputs::HeldOutputs(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
HeldOutputs::HeldOutputs(HeldOutputs&&) noexcept = default;
HeldOutputs& HeldOutputs::operator=(HeldOutputs&&) noexcept = default;
HeldOutputs::~HeldOutputs() = default;

const Tensor& HeldOutputs::outputs() const { return implementation_->outputs; }
const Window& HeldOutputs::final_window() const { return implementation_->final_window; }

SequenceGradients HeldOutputs::backward(const Tensor& output_gradient,
                                        const std::vector<Tensor>& final_gradient) {
  Implementation& own = *implementation_;
  std::vector<Tensor> window = final_gradient;
  if (!window.empty()) {
    const std::vector<Tensor>& states = own.final_window.states;
    if (window.size() != states.size())
      throw unexpected({.op = "sequence"}, Rule::shape,
                       text_of("a gradient for each of the final window's ", states.size(), " states"),
                       text_of(window.size()));
    check_reads(own.layers());
    for (std::size_t s = 0; s < window.size(); ++s) {
      if (window[s].empty()) window[s] = Tensor(states[s].shape(), states[s].dtype());
      check_alike(window[s], states[s], "final window");
    }
  }
  if (!output_gradient.empty()) check_alike(output_gradient, own.outputs, "outputs");
  const Tensor zeros =
      output_gradient.empty() ? Tensor(own.outputs.shape(), own.outputs.dtype()) : output_gradient;
  SequenceGradients gradients;
  recurrence::BackwardRequest request;
  request.large_product = own.op->large_product;
  request.output_gradient = &zeros;
  if (!window.empty()) request.final_gradient = &window;
  if (own.wanted.weights) {
    gradients.weights = zeros_like(own.weights);
    request.weight_gradients = &gradients.weights;
  }
  if (own.wanted.x) {
    gradients.x = Tensor(own.batch.x.shape(), own.batch.x.dtype());
    request.x_gradient = &gradients.x;
  }
  if (own.wanted.initial) {
    gradients.initial = zeros_like(own.final_window.states);
    request.initial_gradient = &gradients.initial;
  }
  own.held->backward(request);
  return gradients;
}

}  // namespace lagtape
