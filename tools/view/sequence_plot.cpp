#include "lagtape/tools/view/sequence_plot.h"

#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"

namespace lagtape {

namespace {

/// Number i of each step of [1, T, width].
PlotLine line_of(const std::string& name, const Tensor& values, std::int64_t i) {
  const std::int64_t width = values.size(2);
  PlotLine line{.name = width == 1 ? name : text_of(name, " ", i), .x = {}, .y = {}};
  for (std::int64_t step = 0; step < values.size(1); ++step) {
    line.x.push_back(static_cast<double>(step));
    line.y.push_back(values.at(step * width + i));
  }
  return line;
}

}  // namespace

Plot plot_of_sequence(const Dataset& split, const std::string& title, ThreadPool& pool) {
  const DataShape& shape = split.shape();
  if (shape.tokens > 0 || (shape.every_step && shape.classes > 0)) {
    throw unexpected({.op = "plot"}, Rule::not_supported, "sequences of real numbers",
                     shape.tokens > 0 ? "tokens as inputs" : "a class at every step");
  }
  const Batch batch = gather(split, indices_in_order(split, 0, 1), Dtype::f64, pool);
  Plot plot{.title = title,
            .x = {.title = "step of the first sequence"},
            .y = {.title = "in the units of the data"}};
  for (std::int64_t i = 0; i < shape.input; ++i) plot.lines.push_back(line_of("input", batch.x, i));
  if (shape.every_step)
    for (std::int64_t i = 0; i < shape.output; ++i) plot.lines.push_back(line_of("target", batch.y, i));
  return plot;
}

}  // namespace lagtape
