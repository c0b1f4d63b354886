#include "lagtape/data/series_task.h"

#include <algorithm>

#include "lagtape/data/next_step.h"
#include "lagtape/data/streams.h"

namespace lagtape {

namespace {

struct SeriesOptions {
  std::int64_t length = 2000, train = 128, valid = 128, test = 1024;
};

std::shared_ptr<const Dataset> generate(const SeriesGenerator& generator, const TaskContext& context,
                                        Split split, std::int64_t size, std::int64_t length) {
  Tensor series({size, length + 1, 1}, Dtype::f64);
  context.pool.run(static_cast<int>(size), [&](int index, int) {
    const double start = sequence_stream(context.seed, split, index).next_uniform();
    const std::vector<double> values = generator.series(start, generator.transient + length);
    std::copy(values.begin() + generator.transient, values.end(),
              series.values<double>().begin() + index * (length + 1));
  });
  return std::make_shared<NextStepDataset>(std::move(series));
}

}  // namespace

TaskPlan read_series_task(JsonReader& reader, const SeriesGenerator& generator) {
  SeriesOptions options;
  reader.optional("length", options.length, between(1, 1'000'000), "steps of a sequence");
  reader.optional("train", options.train, between(1, 10'000'000), "training sequences");
  reader.optional("valid", options.valid, between(0, 10'000'000), "validation sequences");
  reader.optional("test", options.test, between(0, 10'000'000), "test sequences");
  TaskPlan plan;
  plan.shape = DataShape{.length = options.length, .input = 1, .output = 1, .classes = 0, .every_step = true};
  plan.load = [options, generator, shape = *plan.shape](const TaskContext& context) {
    auto split = [&](Split name, std::int64_t size) {
      return generate(generator, context, name, size, options.length);
    };
    return Task{.shape = shape,
                .train = split(Split::train, options.train),
                .valid = split(Split::valid, options.valid),
                .test = split(Split::test, options.test),
                .fresh = false,
                .normalization = {}};
  };
  return plan;
}

}  // namespace lagtape
