#include "lagtape/cells/layers/batch_norm.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/ops/batch_norm.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {
namespace {

/// The factor of the layer's affine map in evaluation.
Var scale_of(const Var& variance, double eps) { return 1 / sqrt(variance + eps); }

Layer affine_map(const BatchNorm& options, std::int64_t width) {
  LayerRecorder step(width, Initializer::constant(0));
  const std::vector<std::string> names = options.affine
                                             ? std::vector<std::string>{"gain", "bias", "mean", "variance"}
                                             : std::vector<std::string>{"mean", "variance"};
  for (const std::string& name : names) step.parameter(name, {width});
  for (const std::string& name : names)
    step.start(name, Initializer::constant(name == "gain" || name == "variance" ? 1 : 0));
  const double eps = options.eps;
  const bool affine = options.affine;
  const StepVar scale = step.derived_vector("scale", width, names, [=](std::span<const Var> of) {
    const Var scale = scale_of(of.back(), eps);
    return affine ? of[0] * scale : scale;
  });
  std::vector<std::string> with_scale = names;
  with_scale.push_back("scale");
  const StepVar shift = step.derived_vector("shift", width, with_scale, [=](std::span<const Var> of) {
    const Var moved = of[of.size() - 3] * of.back();
    return affine ? of[1] - moved : -moved;
  });
  return step.finish(step.input() * scale + shift);
}

class BatchNormLayer final : public SequenceLayer {
 public:
  BatchNormLayer(const BatchNorm& options, std::int64_t width, Layer affine)
      : options_(options), width_(width), affine_(std::move(affine)) {}

  std::int64_t input_width() const override { return width_; }
  std::int64_t output_width() const override { return width_; }
  const Layer* in_evaluation() const override { return &affine_; }

  Var record(const LayerRecording& recording, std::span<const Var> weights, const Var& x) const override {
    if (!recording.batch.training) {
      const std::vector<Var> map = affine_.step_weights(weights);
      return x * map[0] + map[1];
    }
    const Dtype dtype = x.dtype();
    const auto constant = [&](double value) {
      return recording.tape.constant(Tensor::full({width_}, dtype, value));
    };
    BatchMoments batch;
    const Var y =
        batch_norm(x, options_.affine ? weights[0] : constant(1), options_.affine ? weights[1] : constant(0),
                   recording.batch.lengths, options_.eps, recording.pool, batch);
    const double n = static_cast<double>(batch.count);
    const std::size_t mean = options_.affine ? 2 : 0, variance = mean + 1;
    recording.statistics.emplace_back(mean, moved(weights[mean].value(), batch.mean, 1));
    recording.statistics.emplace_back(
        variance, moved(weights[variance].value(), batch.variance, n > 1 ? n / (n - 1) : 1));
    return y;
  }

  Tensor evaluate(std::span<const Tensor>, const Tensor&, const SequenceBatch&, ThreadPool&,
                  std::span<SequenceOp>) const override {
    throw Error("[batch_norm] in evaluation it is a layer of a step.");
  }

 private:
  Tensor moved(const Tensor& running, const Tensor& of_batch, double factor) const {
    Tensor result(running.shape(), running.dtype());
    for (std::int64_t i = 0; i < result.numel(); ++i)
      result.set(i, (1 - options_.momentum) * running.at(i) + options_.momentum * factor * of_batch.at(i));
    return result;
  }

  BatchNorm options_;
  std::int64_t width_;
  Layer affine_;
};

constexpr Option kBatchNormOptions[] = {
    option<&BatchNorm::eps>("eps", above(0), "added to the variance"),
    option<&BatchNorm::momentum>("momentum", between(0, 1),
                                 "share of a batch in the running mean and variance"),
    option<&BatchNorm::affine>("affine", "whether gain and bias are trained; otherwise they are 1 and 0"),
};

}  // namespace

constinit const LayerEntry BatchNorm::kEntry = {
    .name = "batch_norm",
    .kind = "layer",
    .summary = "batch normalization: every feature gets mean 0 and variance 1 over a batch",
    .source =
        "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift "
        "(Ioffe and Szegedy 2015)",
    .equations =
        "y = gain * (x - m) / sqrt(v + eps) + bias\n"
        "in training m, v: mean and variance of each feature over all steps of the sequences of the batch\n"
        "mean' = (1 - momentum) * mean + momentum * m\n"
        "variance' = (1 - momentum) * variance + momentum * v * count / (count - 1)\n"
        "in evaluation m = mean, v = variance",
    .options = kBatchNormOptions,
    .read = read_layer_with_init<BatchNorm>,
};

Layer BatchNorm::build(std::int64_t input) const {
  require_valid(*this);
  const Layer affine = affine_map(*this, input);
  Layer layer;
  layer.parameters = affine.parameters;
  for (ParameterDefinition& p : layer.parameters) {
    p.trainable = p.name != "mean" && p.name != "variance";
    if (p.name == "variance") p.bounds.low = 0;
  }
  layer.whole = std::make_shared<BatchNormLayer>(*this, input, affine);
  return layer;
}

}  // namespace lagtape
