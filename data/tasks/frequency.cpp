#include "lagtape/data/tasks/frequency.h"

#include <cmath>
#include <numbers>

#include "lagtape/core/json/options.h"
#include "lagtape/data/generators/drawn_task.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

namespace {

constexpr std::int64_t kClasses = 100;

struct FrequencyOptions {
  std::int64_t length = 1000;
  double noise = 0;
  bool endpoint = false;
  DrawnSets sets = {};
};

void draw_tone(const FrequencyOptions& options, std::int64_t index, RandomStream& stream, Batch& batch,
               std::int64_t row) {
  const std::int64_t label = index % kClasses;
  const double seconds = static_cast<double>(options.endpoint ? options.length - 1 : options.length);
  const double turn = 2 * std::numbers::pi * class_frequency(label);
  batch.classes[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(label);
  with_scalar(batch.x.dtype(), [&]<class T>() {
    T* x = batch.x.values<T>().data() + row * batch.x.size(1);
    for (std::int64_t n = 0; n < options.length; ++n) {
      const double noise = options.noise == 0 ? 0 : options.noise * stream.next_normal();
      x[n] = static_cast<T>(std::cos(turn * (static_cast<double>(n) / seconds)) + noise);
    }
  });
}

}  // namespace

double class_frequency(std::int64_t index) {
  return 1 + static_cast<double>(index) * 4095 / static_cast<double>(kClasses - 1);
}

namespace {

constexpr Option kFrequencyRows[] = {
    option<&FrequencyOptions::length>("length", between(2, 10'000'000),
                                      "steps of a sequence, which lasts one second"),
    option<&FrequencyOptions::noise>("noise", at_least(0),
                                     "standard deviation of the noise that is added at every step"),
    option<&FrequencyOptions::endpoint>("endpoint",
                                        "the last step is at exactly one second: t_n = n / (length - 1)"),
    rows_of<&FrequencyOptions::sets>(kDrawnSets),
};

TaskLoader read_frequency_task(JsonReader& reader, const TaskHints&) {
  FrequencyOptions options;
  read_options(reader, kFrequencyRows, options);
  const DataShape shape{.length = options.length, .input = 1, .classes = kClasses};
  return drawn_task(shape, options.sets,
                    [options](std::int64_t index, RandomStream stream, Batch& batch, std::int64_t row) {
                      draw_tone(options, index, stream, batch, row);
                    });
}

}  // namespace

/// Classification of a cosine's frequency: x[n] = cos(2 pi f t_n) + noise N(0, 1), t_n = n / length, over one
/// second. Sequence i of a set has class i mod 100. Frequencies above length / 2 Hz alias, and remain
/// distinct. Without noise all sequences of a class are equal, in all sets. With `endpoint`, t_n = n /
/// (length - 1). Source: the tau-GRU paper.
constinit const TaskEntry kFrequencyTask = {
    .name = "frequency",
    .summary = "classify the frequency of a cosine, one of 100",
    .source = "tau-GRU paper",
    .equations =
        "x[n] = cos(2 pi f t_n) + `noise` N(0, 1), t_n = n / length, f = 1 + (4095 / 99) y\n"
        "y: the class, 0..99, each equally often",
    .read = read_frequency_task,
};

}  // namespace lagtape
