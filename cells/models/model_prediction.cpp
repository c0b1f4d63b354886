#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/core/error.h"

namespace lagtape {

Tensor Model::predict(const Tensor& x, int threads) const {
  Implementation& m = *implementation_;
  if ((x.rank() != 2 && x.rank() != 3) || x.size(-1) != input_width())
    throw InputError(text_of("[predict] x is [T, ", input_width(), "] or [B, T, ", input_width(), "]. Got ",
                             to_string(x.shape())));
  SequenceBatch batch;
  const bool single = x.rank() == 2;
  batch.x = x.to(m.dtype()).clone();
  if (single) batch.x = batch.x.reshaped({1, x.size(0), x.size(1)});
  const Normalization& n = m.normalization;
  n.check(input_width(), output_width());
  return with_scalar(m.dtype(), [&]<class T>() {
    n.input.normalize(batch.x.values<T>());
    std::unique_ptr<Predictor> predictor = m.predictors.take(threads);
    if (predictor == nullptr) predictor = std::make_unique<Predictor>(m.evaluation_chain, m.dtype(), threads);
    Tensor y = predictor->chain.evaluate(weights(), batch, predictor->pool);
    m.predictors.put_back(std::move(predictor));
    n.output.restore(y.values<T>());
    if (!single) return y;
    return y.reshaped(Shape(y.shape().begin() + 1, y.shape().end()));
  });
}

template <class T>
Stream<T> Model::stream(std::int64_t rows) const {
  if (dtype_of<T> != dtype())
    throw InputError(
        text_of("[stream] the model is ", name_of(dtype()), ". Asked for ", name_of(dtype_of<T>)));
  const ChainDefinition& chain = evaluation_chain();
  if (!chain.obstacle().empty()) throw InputError(text_of("[stream] ", chain.obstacle()));
  std::vector<Tensor> own = weights();
  if (tokens() == 0) return Stream<T>(chain.parts.back().stack, own, rows, best_level(), {}, normalization());
  const std::span<const Tensor> rest = std::span<const Tensor>(own).subspan(1);
  return Stream<T>(chain.parts.back().stack, rest, rows, best_level(), own.front(), normalization());
}

template Stream<float> Model::stream(std::int64_t) const;
template Stream<double> Model::stream(std::int64_t) const;

}  // namespace lagtape
