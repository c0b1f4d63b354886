#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/cells/models/model_rate.h"
#include "lagtape/core/error.h"

namespace lagtape {

template <class T>
Stream<T> Model::stream(const StreamOptions& options) const {
  if (dtype_of<T> != dtype())
    throw InputError(
        text_of("[stream] the model is ", name_of(dtype()), ". Asked for ", name_of(dtype_of<T>)));
  const ChainDefinition& chain = evaluation_chain();
  if (!chain.obstacle().empty()) throw InputError(text_of("[stream] ", chain.obstacle()));
  if (options.weights == ProductFormat::bf16 && dtype() != Dtype::f32)
    throw InputError(
        text_of("[stream] weights in bf16 are for models of f32; this one is ", name_of(dtype())));
  StackDefinition stack = stack_at_rate(chain.parts.back().stack, options);
  if (options.weights == ProductFormat::bf16) stack.products = options.weights;
  const Window start = at_rate(start_window(chain, options.rows, dtype()), stack, options.rate, dtype());
  std::vector<Tensor> own = weights();
  const bool has_table = tokens() > 0;
  const std::span<const Tensor> weights = std::span<const Tensor>(own).subspan(has_table ? 1 : 0);
  const auto made = [&](std::int64_t rows, const Window& first) {
    return Stream<T>(stack, weights, rows, best_level(), has_table ? own.front() : Tensor(), normalization(),
                     first);
  };
  if (options.rate != std::floor(options.rate) && !has_table) check_stability(*this, stack, options);
  return made(options.rows, start);
}

template <class T>
Stream<T> Model::stream(std::int64_t rows) const {
  return stream<T>(StreamOptions{.rows = rows});
}

template Stream<float> Model::stream(const StreamOptions&) const;
template Stream<double> Model::stream(const StreamOptions&) const;
template Stream<float> Model::stream(std::int64_t) const;
template Stream<double> Model::stream(std::int64_t) const;

}  // namespace lagtape
