#include "lagtape/cells/layers/embedding.h"

#include <algorithm>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/embedding.h"

namespace lagtape {
namespace {

constexpr double kLargestVocabulary = 1 << 24;  // numbers up to here are exact in f32

class EmbeddingLayer final : public SequenceLayer {
 public:
  EmbeddingLayer(const Embedding& options, std::int64_t vocabulary)
      : options_(options), vocabulary_(vocabulary) {}

  std::int64_t input_width() const override { return 1; }
  std::int64_t output_width() const override { return options_.units; }
  std::int64_t tokens() const override { return vocabulary_; }
  std::int64_t kept_a_step() const override { return 1; }

  Var record(const LayerRecording& recording, std::span<const Var> weights, const Var& x) const override {
    TokenRows rows = token_rows(x.value(), recording.batch.lengths, vocabulary_);
    if (options_.padding >= 0)  // its row is zeros, and no gradient may change that
      std::ranges::replace(rows.numbers, static_cast<std::int32_t>(options_.padding), -1);
    const bool drops = recording.batch.training && options_.dropout > 0;
    if (drops) leave_out(rows.numbers, recording.batch);
    return embedding(weights[0], std::move(rows), drops ? 1 / (1 - options_.dropout) : 1, recording.pool);
  }

  Tensor evaluate(std::span<const Tensor> weights, const Tensor& x, const SequenceBatch& batch,
                  ThreadPool& pool, std::span<SequenceOp>) const override {
    return look_up(weights[0], token_rows(x, batch.lengths, vocabulary_), pool);
  }

 private:
  /// Removes the tokens dropped from this batch. The draw depends on the batch's first sequence, which
  /// identifies the batch within its epoch.
  void leave_out(std::vector<std::int32_t>& numbers, const SequenceBatch& batch) const {
    constexpr std::uint64_t kUse = 0x726f7773;  // "rows"
    const DrawKey& key = batch.draws;
    const std::int64_t name = key.sequences.empty() ? 0 : key.sequences.front();
    const RandomStream stream(key.seed, stream_name({kUse, key.epoch, static_cast<std::uint64_t>(name),
                                                     static_cast<std::uint64_t>(batch.first_step)}));
    for (std::int32_t& number : numbers)
      if (number >= 0 && stream.uniform_at(static_cast<std::uint64_t>(number)) < options_.dropout)
        number = -1;
  }

  Embedding options_;
  std::int64_t vocabulary_;
};

constexpr Option kEmbeddingOptions[] = {
    required<&Embedding::units>("units", between(1, kLargestUnits), "size of a token's vector"),
    option<&Embedding::vocabulary>("vocabulary", between(0, kLargestVocabulary),
                                   "number of tokens; 0: that of the data"),
    option<&Embedding::padding>("padding", at_least(-1), "token whose vector stays zero; -1: none"),
    option<&Embedding::dropout>(
        "dropout", from_below(0, 1),
        "probability with which a token's vector is set to zero for a batch, in training"),
};

}  // namespace

constinit const LayerEntry Embedding::kEntry = {
    .name = "embedding",
    .kind = "layer",
    .summary = "trained vector for each token: the first layer of a model of tokens",
    .source =
        "dropout of whole rows: A Theoretically Grounded Application of Dropout in Recurrent Neural "
        "Networks (Gal and Ghahramani 2016)",
    .equations =
        "y = E[x], zeros after the end of a sequence\n"
        "in training E[i] * mask(dropout), one mask for a batch; E[padding] = 0 always",
    .options = kEmbeddingOptions,
    .read = read_layer_with_init<Embedding>,
    .takes_tokens = true,
};

Layer Embedding::build(std::int64_t tokens) const {
  require_valid(*this);
  if (tokens == 0 && vocabulary == 0)
    throw InputError({}, Rule::missing, "vocabulary is missing, and the data do not tell it");
  if (tokens > 0 && vocabulary > 0 && tokens != vocabulary)
    throw InputError({}, Rule::conflict,
                     text_of("the vocabulary has ", vocabulary, " tokens, but the data have ", tokens));
  const std::int64_t rows = std::max(tokens, vocabulary);
  if (padding >= rows)
    throw InputError({}, Rule::out_of_range, text_of("padding is one of 0..", rows - 1), text_of(padding));
  Layer layer;
  layer.parameters.push_back({.name = "E", .shape = {rows, units}, .initializer = Initializer::normal(0, 1)});
  layer.parameters.back().zero_row = padding;
  layer.whole = std::make_shared<EmbeddingLayer>(*this, rows);
  return layer;
}

}  // namespace lagtape
