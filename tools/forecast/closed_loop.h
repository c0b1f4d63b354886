#pragma once

#include <algorithm>
#include <functional>
#include <variant>
#include <vector>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// An output of a model that is one of its inputs at a later step.
struct Feedback {
  std::int64_t input = 0, output = 0;
  std::int64_t shift = 0;  ///< rows from a step's row to the row that it reads
};

/// A past to continue, and known values for the time after it.
struct ForecastInputs {
  Tensor inputs;  ///< [known + steps, input] by step; after the past, inputs with feedback are not read
  std::int64_t known = 0;    ///< steps in the past
  std::int64_t horizon = 1;  ///< steps from an input to the output that predicts it, as in training
  std::int64_t window = 1;   ///< steps that a model with a single read-out reads, as in training
  std::vector<Feedback> feedback = {};
  /// The normalization of a model for the series; null: the model's for all series.
  std::function<Normalization(const Model&)> normalization = {};

  /// Whether predictions replace an input.
  bool is_fed(std::int64_t input) const {
    return std::ranges::find(feedback, input, &Feedback::input) != feedback.end();
  }
};

/// A model that is ready to forecast: its stream is made once, because its machine code takes longer to make
/// than a short forecast.
class ForecastModel {
 public:
  /// The model must outlive it. Throws InputError for a model that cannot stream.
  ForecastModel(const Model& model);

  const Model& model() const { return *model_; }
  /// A stream of normalized numbers, before its first step. T is the scalar of the model.
  template <class T>
  Stream<T> stream() const {
    return std::get<Stream<T>>(stream_);
  }

 private:
  const Model* model_;
  std::variant<Stream<float>, Stream<double>> stream_;
};

/// Predicts the steps after the past: [steps, output], in the units of the data and the model's precision. A
/// model that reads out at every step runs once, from the first step of the past; one that reads out once
/// reads, for each prediction, the `window` steps that end `horizon` steps before it. Predictions replace
/// inputs that are not known yet. Throws InputError if the past is too short or an input is neither known nor
/// fed back.
Tensor closed_loop(const ForecastModel& model, const ForecastInputs& given);

/// Several forecasts of a model of quantiles or distributions, each with numbers drawn from these instead of
/// the predictions, which become inputs: [paths, steps, targets]. Between and beyond the levels, a quantile is
/// a linear function of the normal distribution's. The draws for a step are spread evenly over the paths, in an
/// order determined by the seed. Throws InputError as closed_loop does, and for a model with another loss.
Tensor draw_paths(const ForecastModel& model, const ForecastInputs& given, std::int64_t paths,
                  std::uint64_t seed);

}  // namespace lagtape
