#include "lagtape/cells/layers/bidirectional.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/core/json/options.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/reverse_time.h"
#include "lagtape/ops/shape.h"

namespace lagtape {
namespace {

/// The layers of the two directions, and how their outputs are merged.
class BidirectionalLayer final : public SequenceLayer {
 public:
  BidirectionalLayer(std::vector<Layer> forward, std::vector<Layer> backward, std::string merge, bool at_end)
      : directions_{std::move(forward), std::move(backward)}, merge_(std::move(merge)), at_end_(at_end) {}

  std::int64_t input_width() const override { return directions_[0].front().program.input.width(); }
  std::int64_t output_width() const override { return (merge_ == "concat" ? 2 : 1) * units(); }

  std::vector<StackDefinition> ops() const override {
    std::vector<StackDefinition> stacks(2);
    for (std::size_t i = 0; i < 2; ++i) {
      for (const Layer& layer : directions_[i]) stacks[i].layers.push_back(layer.program);
      stacks[i].at = at_end_ ? ReadAt::last_step : ReadAt::every_step;
    }
    return stacks;
  }

  std::vector<Var> weights(std::span<const Var> parameters) const override {
    std::vector<Var> all;
    for (const auto& direction : directions_)
      for (const Layer& layer : direction) {
        for (const Var& w : layer.step_weights(parameters.first(layer.parameters.size()))) all.push_back(w);
        parameters = parameters.subspan(layer.parameters.size());
      }
    return all;
  }

  std::string obstacle() const override {
    return "a bidirectional layer reads sequences from both ends, and needs them whole";
  }
  std::shared_ptr<const SequenceLayer> at_end() const override {
    return std::make_shared<BidirectionalLayer>(directions_[0], directions_[1], merge_, true);
  }
  bool ends_sequences() const override { return at_end_; }
  /// Counts the reversed input and its gradient, the gradient of a second op, and both outputs, one of them
  /// twice.
  std::int64_t kept_a_step() const override { return 3 * input_width() + (at_end_ ? 0 : 6 * units()); }

  Var record(const LayerRecording& recording, std::span<const Var> weights, const Var& x) const override {
    const std::size_t own = weights_of(directions_[0]);
    const auto& lengths = recording.batch.lengths;
    const Var ahead =
        recording.ops[0].outputs(recording.tape, weights.first(own), x, recording.batch, recording.pool);
    const Var back = recording.ops[1].outputs(recording.tape, weights.subspan(own),
                                              reverse_time(x, lengths, recording.pool),
                                              backward_batch(recording.batch), recording.pool);
    if (!at_end_) return merged(ahead, reverse_time(back, lengths, recording.pool));
    const Var y = merged(ahead, back);
    return reshape(y, {y.shape()[0], 1, y.shape()[1]});
  }

  Tensor evaluate(std::span<const Tensor> weights, const Tensor& x, const SequenceBatch& batch,
                  ThreadPool& pool, std::span<SequenceOp> ops) const override {
    const std::size_t own = weights_of(directions_[0]);
    SequenceBatch ahead = batch, back = backward_batch(batch);
    ahead.x = x;
    back.x = reversed_in_time(x, batch.lengths, pool);
    Tensor y = ops[0].evaluate(weights.first(own), ahead, pool);
    Tensor z = ops[1].evaluate(weights.subspan(own), back, pool);
    if (!at_end_) z = reversed_in_time(z, batch.lengths, pool);
    Tape tape;
    const Tensor both = merged(tape.constant(y), tape.constant(z)).value().clone();
    return at_end_ ? both.reshaped({both.size(0), 1, both.size(1)}) : both;
  }

 private:
  std::int64_t units() const { return directions_[0].back().output().width(); }

  static std::size_t weights_of(const std::vector<Layer>& layers) {
    std::size_t count = 0;
    for (const Layer& layer : layers) count += layer.weight_count();
    return count;
  }

  /// The batch of the backward direction, which has its own random draws.
  static SequenceBatch backward_batch(const SequenceBatch& batch) {
    SequenceBatch own = batch;
    own.draws = draws_of_part(batch.draws, 1);
    return own;
  }

  Var merged(const Var& ahead, const Var& back) const {
    if (merge_ == "sum") return ahead + back;
    if (merge_ == "mean") return 0.5 * (ahead + back);
    const Var both[] = {ahead, back};
    return concatenate(both, -1);
  }

  std::vector<Layer> directions_[2];
  std::string merge_;
  bool at_end_;
};

constexpr Option kBidirectionalOptions[] = {
    option<&Bidirectional::merge>("merge", {"concat", "sum", "mean"}, "how the two outputs become one"),
};

BuildLayer read_bidirectional(JsonReader& reader, const ReadInner& inner) {
  Bidirectional options;
  options.cell = inner(reader, "cell");
  read_options(reader, kBidirectionalOptions, options);
  return [options](std::int64_t input) { return LayerGroup{{options.build(input)}, false}; };
}

}  // namespace

constinit const LayerEntry Bidirectional::kEntry = {
    .name = "bidirectional",
    .kind = "layer",
    .summary = "two copies of a cell, one reading the sequence forwards and one backwards",
    .source = "Bidirectional Recurrent Neural Networks (Schuster and Paliwal 1997)",
    .equations =
        "y[n] = merge(forward[n], backward[n]); backward begins at the last step of each sequence\n"
        "a read-out of the last step L - 1 reads merge(forward[L - 1], backward[0])\n"
        "the parameters are 0.W of the forward cell and 1.W of the backward cell",
    .options = kBidirectionalOptions,
    .read_around = read_bidirectional,
};

Layer Bidirectional::build(std::int64_t input) const {
  require_valid(*this);
  if (!cell)
    throw InputError(Problem{
        .place = {.file = "bidirectional", .pointer = "/cell"}, .rule = Rule::missing, .expected = "a cell"});
  const LayerGroup ahead = cell(input), back = cell(input);
  Layer layer;
  for (const LayerGroup* group : {&ahead, &back}) {
    const std::string direction = group == &ahead ? "0." : "1.";
    for (std::size_t i = 0; i < group->layers.size(); ++i) {
      const std::string prefix = group->nested ? text_of(direction, i, ".") : direction;
      for (ParameterDefinition p : group->layers[i].parameters) {
        p.name = prefix + p.name;
        if (!p.draws_of.empty()) p.draws_of = prefix + p.draws_of;
        layer.parameters.push_back(std::move(p));
      }
    }
  }
  layer.whole = std::make_shared<BidirectionalLayer>(ahead.layers, back.layers, merge, false);
  return layer;
}

}  // namespace lagtape
