#include "lagtape/tools/forecast/closed_loop.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/special_functions.h"

namespace lagtape {

namespace {

/// The inputs of all steps in the model's precision, completed by predictions as they come.
template <class T>
class ClosedLoop {
 public:
  /// Changes the outputs for a step after the past, counted from 0, before they are taken.
  using Change = std::function<void(std::int64_t step, std::vector<T>& output)>;

  ClosedLoop(const ForecastModel& ready, const ForecastInputs& given)
      : model_(ready.model()),
        given_(given),
        normalization_(given.normalization ? given.normalization(model_) : model_.normalization()),
        stream_(ready.stream<T>()),
        inputs_(given.inputs.to(model_.dtype()).clone()),
        width_(given.inputs.size(1)),
        outputs_(model_.output_width()),
        total_(given.inputs.size(0)),
        normalized_(static_cast<std::size_t>(width_)) {
    if (reads_every_step(model_.at())) read_past();
  }

  /// One forecast; all of them begin with the same past.
  Tensor run(const Change& change = {}) {
    const Tensor known = inputs_.clone();
    predicted_ = Tensor({total_ - given_.known, outputs_}, model_.dtype());
    if (reads_every_step(model_.at())) {
      run_through(change);
    } else {
      for (std::int64_t step = given_.known; step < total_; ++step) read_window(step, change);
    }
    inputs_ = known;
    return std::move(predicted_);
  }

 private:
  T* row(std::int64_t step) { return inputs_.template values<T>().data() + step * width_; }

  /// Feeds a step to a stream, in the units of the data.
  void feed(Stream<T>& stream, std::int64_t step, std::vector<T>& output) {
    check(step);
    std::copy_n(row(step), width_, normalized_.begin());
    normalization_.input.normalize(std::span(normalized_));
    stream.step(normalized_.data(), output.data());
    normalization_.output.restore(std::span(output));
  }

  /// The first step whose output is that of a step after the past.
  std::int64_t first_read() const { return std::max<std::int64_t>(given_.known - given_.horizon, 0); }

  void read_past() {
    std::vector<T> output(static_cast<std::size_t>(outputs_));
    for (std::int64_t step = 0; step < first_read(); ++step) feed(stream_, step, output);
  }

  void run_through(const Change& change) {
    Stream<T> stream = stream_;
    std::vector<T> output(static_cast<std::size_t>(outputs_));
    for (std::int64_t step = first_read(); step + given_.horizon < total_; ++step) {
      feed(stream, step, output);
      take(step + given_.horizon, output, change);
    }
  }

  void read_window(std::int64_t step, const Change& change) {
    std::vector<T> output(static_cast<std::size_t>(outputs_));
    stream_.reset();
    const std::int64_t end = step - given_.horizon + 1;
    for (std::int64_t n = end - given_.window; n < end; ++n) feed(stream_, n, output);
    take(step, output, change);
  }

  /// Takes the prediction of a row, which is also the input of the step that reads that row where it is fed back.
  void take(std::int64_t step, std::vector<T>& output, const Change& change) {
    if (step < given_.known) return;
    if (change) change(step - given_.known, output);
    for (std::int64_t i = 0; i < outputs_; ++i)
      predicted_.set((step - given_.known) * outputs_ + i,
                     static_cast<double>(output[static_cast<std::size_t>(i)]));
    for (const Feedback& fed : given_.feedback)
      if (step - fed.shift < total_)
        row(step - fed.shift)[fed.input] = output[static_cast<std::size_t>(fed.output)];
  }

  void check(std::int64_t step) {
    const T* begin = row(step);
    const T* bad = std::find_if_not(begin, begin + width_, [](T value) { return std::isfinite(value); });
    if (bad == begin + width_) return;
    const bool was_fed = step >= given_.known && std::ranges::find(given_.feedback, bad - begin,
                                                                   &Feedback::input) != given_.feedback.end();
    throw InputError(
        {.op = "forecast"}, Rule::not_finite,
        text_of("input ", bad - begin, was_fed ? " is not finite" : " is not known", " at step ", step, ", ",
                step - given_.known + 1, step == given_.known ? " step" : " steps", " after the past."));
  }

  const Model& model_;
  const ForecastInputs& given_;
  Normalization normalization_;
  Stream<T> stream_;
  Tensor inputs_;
  std::int64_t width_, outputs_, total_;
  Tensor predicted_;
  std::vector<T> normalized_;  ///< inputs of a step
};

/// Quantiles as a function of the standard normal distribution's, through those of the levels.
class QuantileFunction {
 public:
  explicit QuantileFunction(const std::vector<double>& levels) {
    for (const double level : levels) normal_.push_back(normal_quantile(level));
  }

  /// `values`: one for each level, in order.
  double at(double normal, const std::vector<double>& values) const {
    if (values.size() == 1) return values.front();
    const auto above = std::ranges::upper_bound(normal_, normal) - normal_.begin();
    const auto i = static_cast<std::size_t>(std::clamp<std::int64_t>(above, 1, std::ssize(values) - 1));
    const double share = (normal - normal_[i - 1]) / (normal_[i] - normal_[i - 1]);
    return values[i - 1] + share * (values[i] - values[i - 1]);
  }

 private:
  std::vector<double> normal_;
};

/// Standard normal numbers for `places` of each of several paths, those of a place spread evenly over the paths.
std::vector<std::vector<double>> spread_normals(std::int64_t paths, std::int64_t places, std::uint64_t seed) {
  constexpr std::uint64_t kUse = 0x7061746873;  // "paths"
  std::vector<double> even;
  for (std::int64_t path = 0; path < paths; ++path)
    even.push_back(normal_quantile((static_cast<double>(path) + 0.5) / static_cast<double>(paths)));
  std::vector<std::vector<double>> normals;
  for (std::int64_t place = 0; place < places; ++place) {
    RandomStream order(seed, stream_name({kUse, static_cast<std::uint64_t>(place)}));
    std::vector<double>& of_place = normals.emplace_back();
    for (const std::int64_t path : permutation(paths, order))
      of_place.push_back(even[static_cast<std::size_t>(path)]);
  }
  return normals;
}

/// Puts a number drawn from the quantiles or the distribution of a target in place of all its outputs.
template <class T>
void draw_target(std::span<T> outputs, const LossFunction& loss, const QuantileFunction& function,
                 double normal) {
  std::vector<double> values(outputs.begin(), outputs.end());
  double drawn = 0;
  if (const TargetDistribution* distribution = loss.distribution()) {
    drawn = distribution->quantile(values.data(), std::erfc(-normal / std::numbers::sqrt2) / 2);
  } else {
    std::ranges::sort(values);
    drawn = function.at(normal, values);
  }
  std::ranges::fill(outputs, static_cast<T>(drawn));
}

std::variant<Stream<float>, Stream<double>> stream_of(const Model& model) {
  const Normalization none;
  return with_scalar(model.dtype(), [&]<class T>() -> std::variant<Stream<float>, Stream<double>> {
    return model.stream<T>(StreamOptions{.normalization = &none});
  });
}

void check(const Model& model, const ForecastInputs& given) {
  const Tensor& x = given.inputs;
  if (x.rank() != 2 || x.size(1) != model.input_width() || given.known < 1 || given.known >= x.size(0)) {
    throw InputError({.op = "forecast"}, Rule::shape,
                     text_of("inputs are [known + steps, ", model.input_width(),
                             "] with at least one step of either kind"),
                     text_of(to_string(x.shape()), " with ", given.known, " known"));
  }
  for (const Feedback& fed : given.feedback)
    if (fed.shift >= given.horizon)
      throw InputError(
          {.op = "forecast"}, Rule::out_of_range,
          text_of("input ", fed.input, " is the number that the same step predicts: a forecast needs ",
                  "a horizon above ", fed.shift),
          text_of(given.horizon));
  const std::int64_t needed = given.horizon - 1 + (reads_every_step(model.at()) ? 1 : given.window);
  if (given.known < needed)
    throw InputError(Problem{.place = {.op = "forecast"},
                             .rule = Rule::shape,
                             .statement = "the past is too short",
                             .found = text_of(given.known),
                             .expected = text_of("at least ", needed, " steps")});
  for (const Feedback& fed : given.feedback)
    if (fed.input < 0 || fed.input >= model.input_width() || fed.output < 0 ||
        fed.output >= model.output_width())
      throw InputError({.op = "forecast"}, Rule::out_of_range,
                       text_of("the model has no output ", fed.output, " or no input ", fed.input, "."));
}

}  // namespace

ForecastModel::ForecastModel(const Model& model) : model_(&model), stream_(stream_of(model)) {}

Tensor closed_loop(const ForecastModel& ready, const ForecastInputs& given) {
  check(ready.model(), given);
  return with_scalar(ready.model().dtype(), [&]<class T>() { return ClosedLoop<T>(ready, given).run(); });
}

Tensor draw_paths(const ForecastModel& ready, const ForecastInputs& given, std::int64_t paths,
                  std::uint64_t seed) {
  const Model& model = ready.model();
  check(model, given);
  const LossFunction& loss = model.loss();
  if (!loss.has_levels() || paths < 1)
    throw InputError({.op = "forecast"}, Rule::not_supported,
                     "paths are drawn from a model of quantiles or distributions, at least one.");
  const std::int64_t each = loss.outputs_of_target(), targets = model.output_width() / each;
  const std::int64_t steps = given.inputs.size(0) - given.known;
  const QuantileFunction function(loss.options.levels);
  const std::vector<std::vector<double>> normals = spread_normals(paths, steps * targets, seed);
  Tensor drawn({paths, steps, targets}, model.dtype());
  with_scalar(model.dtype(), [&]<class T>() {
    ClosedLoop<T> loop(ready, given);
    for (std::int64_t path = 0; path < paths; ++path) {
      const Tensor one = loop.run([&](std::int64_t step, std::vector<T>& output) {
        for (std::int64_t k = 0; k < targets; ++k) {
          const std::vector<double>& of_place = normals[static_cast<std::size_t>(step * targets + k)];
          draw_target(
              std::span(output).subspan(static_cast<std::size_t>(k * each), static_cast<std::size_t>(each)),
              loss, function, of_place[static_cast<std::size_t>(path)]);
        }
      });
      for (std::int64_t i = 0; i < steps * targets; ++i)
        drawn.set(path * steps * targets + i, one.at(i * each));
    }
  });
  return drawn;
}

}  // namespace lagtape
