#include "lagtape/ops/recurrence/sequence_checks.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape {

namespace {

/// "[sequence] ITEM: expected EXPECTED, got FOUND".
InputError refused(const char* item, Rule rule, const std::string& expected, const std::string& found) {
  return unexpected({.item = item, .op = "sequence"}, rule, expected, found);
}

void check_loss(const StackDefinition& stack) {
  const LossFunction& loss = stack.loss;
  const Place place{.op = std::string(name_of(loss))};
  const std::int64_t width = stack.output_width();
  if (const std::optional<Problem> error = loss.error()) throw InputError(error->within(place));
  if (loss.is_signal() && !reads_every_step(stack.at))
    throw InputError(place, Rule::not_supported, "the loss of a signal needs a read-out at every step");
  if (width % loss.outputs_of_target() != 0)
    throw unexpected(place, Rule::shape,
                     text_of("an output for each of ", loss.outputs_of_target(),
                             loss == Loss::quantile ? " levels" : " parameters", " of each target"),
                     text_of(width));
  const auto weights = std::ssize(loss.options.class_weights);
  const std::int64_t classes = loss == Loss::binary_cross_entropy ? 2 : width;
  if (!loss.is_real() && loss != Loss::none && weights != 0 && weights != classes)
    throw unexpected({.item = "class_weights", .op = place.op}, Rule::shape,
                     text_of(classes, " numbers, one a class, or none"), text_of(weights));
}

}  // namespace

void check_stack(const StackDefinition& stack, const SequenceSettings& settings) {
  if (stack.layers.empty()) throw refused("layers", Rule::missing, "at least one", "none");
  for (std::size_t l = 1; l <= stack.layers.size(); ++l) {
    if (l == stack.layers.size() && !stack.readout) break;
    const StepProgram& below = stack.layers[l - 1];
    const StepProgram& here = l < stack.layers.size() ? stack.layers[l] : *stack.readout;
    const std::int64_t gives = below.values[static_cast<std::size_t>(below.output)].shape.width();
    if (gives != here.input.width())
      throw InputError({.op = "sequence"}, Rule::shape,
                       text_of("the output of a layer is the input of the next. Layer ", l - 1, " gives ",
                               gives, ", the next takes ", here.input.width()));
  }
  if (stack.readout && !stack.readout->states.empty())
    throw InputError({.op = "sequence"}, Rule::not_supported, "a read-out has no states");
  check_loss(stack);
  if (settings.chunk < 0 || settings.chunk % recurrence::kRun != 0)
    throw refused("chunk", Rule::out_of_range, text_of("a multiple of ", recurrence::kRun, " steps"),
                  text_of(settings.chunk));
  const std::int64_t chunk = settings.chunk > 0 ? settings.chunk : recurrence::kDefaultChunk;
  if (settings.checkpoint_interval < 0 || settings.checkpoint_interval % chunk != 0 || settings.levels < 0)
    throw refused("checkpoints", Rule::out_of_range,
                  text_of("a multiple of the chunk, ", chunk, " steps, apart, in 0 or more levels"),
                  text_of(settings.checkpoint_interval, " steps, ", settings.levels, " levels"));
  for (std::size_t l = 0; l < stack.layers.size(); ++l) {
    check_grid(stack.layers[l]);
    if (settings.plan != MemoryPlan::reversible) continue;
    if (const UndoOrder order = undo_order(stack.layers[l]); !order.obstacle.empty())
      throw InputError(
          {.op = "memory"}, Rule::not_supported,
          text_of("plan reversible runs every layer backwards in time. Layer ", l, ": ", order.obstacle));
  }
}

void check_batch(const StackDefinition& stack, Dtype dtype, const SequenceBatch& batch,
                 std::span<const Tensor> initial) {
  const Tensor& x = batch.x;
  if (x.rank() != 3 || x.size(2) != stack.input_width() || x.size(0) < 1 || x.size(1) < 1 ||
      x.dtype() != dtype)
    throw refused("x", Rule::shape,
                  text_of(name_of(dtype), " [B, T, ", stack.input_width(), "] with B, T >= 1"),
                  to_string(x.dtype(), x.shape()));
  const std::int64_t rows = x.size(0), steps = x.size(1);
  const auto check_count = [&](const char* item, std::int64_t count) {
    if (count != 0 && count != rows)
      throw refused(item, Rule::shape, text_of("one for each of ", rows, " rows"), text_of(count));
  };
  check_count("lengths", std::ssize(batch.lengths));
  for (std::int64_t n : batch.lengths)
    if (n < 1 || n > steps) throw refused("lengths", Rule::out_of_range, text_of("1 .. ", steps), text_of(n));
  check_count("names of the draws", std::ssize(batch.draws.sequences));
  if (batch.first_step < 0)
    throw refused("first_step", Rule::out_of_range, "at least 0", text_of(batch.first_step));
  if (!initial.empty()) {
    const Window zero = zero_window(stack.layers, rows, dtype);
    if (initial.size() != zero.states.size())
      throw refused("initial window", Rule::shape, text_of(zero.states.size(), " states"),
                    text_of(initial.size()));
    for (std::size_t s = 0; s < initial.size(); ++s)
      if (const Tensor& like = zero.states[s]; !initial[s].is(like.dtype(), like.shape()))
        throw wrong_tensor({.item = text_of("state ", s, " of the initial window"), .op = "sequence"},
                           like.dtype(), like.shape(), initial[s]);
    check_grid_window("sequence", stack.layers, initial);
  }
}

void check_targets(const StackDefinition& stack, Dtype dtype, const SequenceBatch& batch) {
  const std::int64_t rows = batch.x.size(0), steps = batch.x.size(1), width = stack.output_width();
  Shape targets = output_shape(stack, batch);
  targets.back() = stack.target_width();
  if (stack.loss == Loss::negative_binomial && !batch.targets.empty() &&
      batch.targets.size(-1) == 2 * targets.back())
    targets.back() *= 2;  // with their units
  const std::int64_t scored = reads_every_step(stack.at) ? rows * steps : rows;
  const auto place = [&](const char* item) {
    return Place{.item = item, .op = std::string(name_of(stack.loss))};
  };
  if (stack.loss == Loss::none)
    throw InputError({.op = "sequence"}, Rule::missing, "a loss was asked of a stack that has none");
  if (stack.loss == Loss::cross_entropy) {
    if (std::ssize(batch.classes) != scored)
      throw unexpected(place("classes"), Rule::shape, text_of(scored), text_of(batch.classes.size()));
    for (std::int32_t c : batch.classes)
      if (c < -1 || c >= width)
        throw unexpected(place("classes"), Rule::out_of_range,
                         text_of("0 .. ", width - 1, ", or -1 for none"), text_of(c));
  } else if (!batch.targets.is(dtype, targets)) {
    throw wrong_tensor(place("targets"), dtype, targets, batch.targets);
  }
  if (stack.loss == Loss::binary_cross_entropy && width != 1)
    throw unexpected(place(""), Rule::shape, "one logit", text_of(width));
}

Shape output_shape(const StackDefinition& stack, const SequenceBatch& batch) {
  if (reads_every_step(stack.at)) return {batch.x.size(0), batch.x.size(1), stack.output_width()};
  return {batch.x.size(0), stack.output_width()};
}

}  // namespace lagtape
