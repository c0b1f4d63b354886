#include "lagtape/tools/bench/random_batch.h"

#include "lagtape/core/random.h"

namespace lagtape::bench {

Tensor normal_tensor(Shape shape, Dtype dtype, std::uint64_t stream_number) {
  RandomStream stream(1, stream_number);
  Tensor tensor(std::move(shape), dtype);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, stream.next_normal());
  return tensor;
}

Tensor random_inputs(const Model& model, Shape shape, std::uint64_t stream_number) {
  if (model.tokens() == 0) return normal_tensor(std::move(shape), model.dtype(), stream_number);
  RandomStream stream(1, stream_number);
  Tensor tensor(std::move(shape), model.dtype());
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.set(i, static_cast<double>(stream.next_below(static_cast<std::uint64_t>(model.tokens()))));
  return tensor;
}

SequenceBatch random_batch(const Model& model, const DataShape& data, std::int64_t batch) {
  SequenceBatch result;
  result.x = random_inputs(model, {batch, data.length, data.input}, 1);
  const std::int64_t q = model.output_width(), places = data.every_step ? batch * data.length : batch;
  const Loss loss = model.loss();
  if (loss == Loss::cross_entropy) {
    RandomStream stream(1, 2);
    for (std::int64_t i = 0; i < places; ++i) {
      result.classes.push_back(static_cast<std::int32_t>(stream.next_below(static_cast<std::uint64_t>(q))));
    }
  } else {
    const std::int64_t width = q / model.loss().outputs_of_target();
    result.targets = normal_tensor(data.every_step ? Shape{batch, data.length, width} : Shape{batch, width},
                                   model.dtype(), 2);
    for (std::int64_t i = 0; loss == Loss::binary_cross_entropy && i < result.targets.numel(); ++i) {
      result.targets.set(i, result.targets.at(i) > 0 ? 1 : 0);
    }
    for (std::int64_t i = 0; loss == Loss::negative_binomial && i < result.targets.numel(); ++i)
      result.targets.set(i, std::floor(std::abs(4 * result.targets.at(i))));
  }
  result.training = true;
  return result;
}

}  // namespace lagtape::bench
