#include "lagtape/data/generators/generated_series.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/generators/forecast.h"
#include "lagtape/data/streams.h"

namespace lagtape {

namespace {

struct SeriesOptions {
  std::int64_t length, train = 128, valid = 128, test;
};

constexpr Range kGenerated = between(0, 10'000'000);

constexpr Option kGeneratedSeries[] = {
    option<&SeriesOptions::length>("length", between(1, 1'000'000), "steps of a sequence"),
    option<&SeriesOptions::train>("train", between(1, 10'000'000), "number of training sequences"),
    option<&SeriesOptions::valid>("valid", kGenerated, "number of validation sequences"),
    option<&SeriesOptions::test>("test", kGenerated, "number of test sequences"),
};

std::shared_ptr<const Dataset> generate(const GeneratedSeries& generated, const TaskContext& context,
                                        Split split, std::int64_t size, std::int64_t length) {
  const std::int64_t points = length + generated.horizon;
  Tensor series({size, points, generated.width}, Dtype::f64);
  context.pool.run(static_cast<int>(size), [&](int index, int) {
    const std::vector<double> values = generated.series(sequence_stream(context.seed, split, index), points);
    std::copy(values.begin(), values.end(),
              series.values<double>().begin() + index * points * generated.width);
  });
  return std::make_shared<ForecastDataset>(std::move(series), generated.horizon);
}

/// Throws InputError for sequences that cannot all fit into memory, where they are kept.
void check_memory(const SeriesOptions& options, const GeneratedSeries& generated) {
  const std::pair<const char*, std::int64_t> sets[] = {
      {"train", options.train}, {"valid", options.valid}, {"test", options.test}};
  double sequences = 0;
  for (const auto& [name, size] : sets) sequences += static_cast<double>(size);
  const double bytes = sequences *
                       static_cast<double>((options.length + generated.horizon) * generated.width) *
                       sizeof(double);
  if (bytes <= static_cast<double>(system_memory())) return;
  const auto largest = std::ranges::max_element(sets, {}, &std::pair<const char*, std::int64_t>::second);
  throw InputError(
      {.pointer = text_of("/data/", largest->first)}, Rule::no_memory,
      text_of("all sets together are ", std::llround(sequences), " sequences of ", options.length,
              " steps, which take ", bytes_of(static_cast<std::int64_t>(std::min(bytes, 9e18))),
              ", more than the memory, which is ", bytes_of(system_memory()),
              ". Give fewer, or a smaller length."));
}

}  // namespace

TaskLoader read_generated_series(JsonReader& reader, const GeneratedSeries& generated) {
  SeriesOptions options{.length = generated.length, .test = generated.test};
  read_options(reader, kGeneratedSeries, options);
  TaskLoader loader;
  loader.shape = DataShape{
      .length = options.length, .input = generated.width, .output = generated.width, .every_step = true};
  loader.load = [options, generated, shape = *loader.shape](const TaskContext& context) {
    check_memory(options, generated);
    auto split = [&](Split name, std::int64_t size) {
      return generate(generated, context, name, size, options.length);
    };
    return Task{.shape = shape,
                .train = split(Split::train, options.train),
                .valid = split(Split::valid, options.valid),
                .test = split(Split::test, options.test)};
  };
  return loader;
}

}  // namespace lagtape
