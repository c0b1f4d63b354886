#include "lagtape/ops/recurrence/sequence_checks.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape {

namespace {

void check_loss(const StackDefinition& stack) {
  const LossFunction& loss = stack.loss;
  const std::int64_t width = stack.output_width();
  if (const std::string error = loss.error(); !error.empty())
    throw InputError(text_of("[", name_of(loss), "] ", error));
  if (loss.is_signal() && !reads_every_step(stack.at))
    throw InputError(text_of("[", name_of(loss), "] the loss of a signal needs a read-out at every step"));
  if (width % loss.outputs_of_target() != 0)
    throw InputError(text_of("[quantile] an output for each of ", loss.outputs_of_target(),
                             " levels of each target. Got ", width));
  const auto weights = std::ssize(loss.options.class_weights);
  const std::int64_t classes = loss == Loss::binary_cross_entropy ? 2 : width;
  if (!loss.is_real() && loss != Loss::none && weights != 0 && weights != classes)
    throw InputError(text_of("[", name_of(loss), "] class_weights: expected ", classes,
                             " numbers, one a class, or none. Got ", weights));
}

}  // namespace

void check_stack(const StackDefinition& stack, const SequenceSettings& settings) {
  if (stack.layers.empty()) throw InputError("[sequence] a stack has at least one layer");
  for (std::size_t l = 1; l <= stack.layers.size(); ++l) {
    if (l == stack.layers.size() && !stack.readout) break;
    const StepProgram& below = stack.layers[l - 1];
    const StepProgram& here = l < stack.layers.size() ? stack.layers[l] : *stack.readout;
    const std::int64_t gives = below.values[static_cast<std::size_t>(below.output)].shape.width();
    if (gives != here.input.width())
      throw InputError(text_of("[sequence] the output of a layer is the input of the next. Layer ", l - 1,
                               " gives ", gives, ", the next takes ", here.input.width()));
  }
  if (stack.readout && !stack.readout->states.empty())
    throw InputError("[sequence] a read-out has no states");
  check_loss(stack);
  if (settings.chunk < 0 || settings.chunk % recurrence::kRun != 0)
    throw InputError(
        text_of("[sequence] a chunk is a multiple of ", recurrence::kRun, " steps. Got ", settings.chunk));
  const std::int64_t chunk = settings.chunk > 0 ? settings.chunk : recurrence::kDefaultChunk;
  if (settings.checkpoint_interval < 0 || settings.checkpoint_interval % chunk != 0 || settings.levels < 0)
    throw InputError(text_of("[sequence] checkpoints lie a multiple of the chunk, ", chunk,
                             " steps, apart, in 0 or more levels. Got ", settings.checkpoint_interval,
                             " steps, ", settings.levels, " levels"));
  for (std::size_t l = 0; l < stack.layers.size(); ++l) {
    check_grid(stack.layers[l]);
    if (settings.plan != MemoryPlan::reversible) continue;
    if (const UndoOrder order = undo_order(stack.layers[l]); !order.obstacle.empty())
      throw InputError(text_of("[memory] plan reversible runs every layer backwards in time. Layer ", l, ": ",
                               order.obstacle));
  }
}

void check_batch(const StackDefinition& stack, Dtype dtype, const SequenceBatch& batch,
                 std::span<const Tensor> initial) {
  const Tensor& x = batch.x;
  if (x.rank() != 3 || x.size(2) != stack.input_width() || x.size(0) < 1 || x.size(1) < 1 ||
      x.dtype() != dtype)
    throw InputError(text_of("[sequence] x is [B, T, ", stack.input_width(), "] ", name_of(dtype),
                             " with B, T >= 1. Got ", to_string(x.shape()), " ", name_of(x.dtype())));
  const std::int64_t rows = x.size(0), steps = x.size(1);
  if (!batch.lengths.empty() && static_cast<std::int64_t>(batch.lengths.size()) != rows)
    throw InputError(
        text_of("[sequence] one length per row. Got ", batch.lengths.size(), " for ", rows, " rows"));
  for (std::int64_t n : batch.lengths)
    if (n < 1 || n > steps) throw InputError(text_of("[sequence] lengths are in 1 .. ", steps, ". Got ", n));
  if (!batch.draws.sequences.empty() && static_cast<std::int64_t>(batch.draws.sequences.size()) != rows)
    throw InputError(
        text_of("[sequence] one name per row. Got ", batch.draws.sequences.size(), " for ", rows, " rows"));
  if (batch.first_step < 0) throw InputError(text_of("[sequence] first_step >= 0. Got ", batch.first_step));
  if (!initial.empty()) {
    const Window zero = zero_window(stack.layers, rows, dtype);
    if (initial.size() != zero.states.size())
      throw InputError(
          text_of("[sequence] an initial window has ", zero.states.size(), " states. Got ", initial.size()));
    for (std::size_t s = 0; s < initial.size(); ++s)
      if (initial[s].shape() != zero.states[s].shape() || initial[s].dtype() != zero.states[s].dtype())
        throw InputError(text_of("[sequence] state ", s, " of the initial window is ",
                                 to_string(zero.states[s].shape()), " ", name_of(zero.states[s].dtype()),
                                 ". Got ", to_string(initial[s].shape()), " ", name_of(initial[s].dtype())));
    check_grid_window("sequence", stack.layers, initial);
  }
}

void check_targets(const StackDefinition& stack, Dtype dtype, const SequenceBatch& batch) {
  const std::int64_t rows = batch.x.size(0), steps = batch.x.size(1), width = stack.output_width();
  Shape targets = output_shape(stack, batch);
  targets.back() = stack.target_width();
  const std::int64_t scored = reads_every_step(stack.at) ? rows * steps : rows;
  if (stack.loss == Loss::none) throw InputError("[sequence] a loss was asked of a stack that has none");
  if (stack.loss == Loss::cross_entropy) {
    if (static_cast<std::int64_t>(batch.classes.size()) != scored)
      throw InputError(text_of("[cross_entropy] ", scored, " classes. Got ", batch.classes.size()));
    for (std::int32_t c : batch.classes)
      if (c < -1 || c >= width)
        throw InputError(
            text_of("[cross_entropy] classes are in 0 .. ", width - 1, ", or -1 for none. Got ", c));
  } else if (batch.targets.shape() != targets || batch.targets.dtype() != dtype) {
    throw InputError(text_of("[", name_of(stack.loss), "] targets are ", to_string(targets), " ",
                             name_of(dtype), ". Got ", to_string(batch.targets.shape()), " ",
                             name_of(batch.targets.dtype())));
  }
  if (stack.loss == Loss::binary_cross_entropy && width != 1)
    throw InputError(text_of("[binary_cross_entropy] one logit. Got ", width));
}

Shape output_shape(const StackDefinition& stack, const SequenceBatch& batch) {
  if (reads_every_step(stack.at)) return {batch.x.size(0), batch.x.size(1), stack.output_width()};
  return {batch.x.size(0), stack.output_width()};
}

}  // namespace lagtape
