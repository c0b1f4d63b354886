#include "lagtape/tools/train/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

bool is_real(Loss loss) { return loss == Loss::mse; }
bool is_class(Loss loss) { return loss == Loss::cross_entropy || loss == Loss::binary_cross_entropy; }

constexpr std::array kMetrics = {
    MetricEntry{"mse", "mean squared error over all elements, in squared units of the data", false, is_real,
                [](const Scores& s) { return s.squared_error / s.elements; }},
    MetricEntry{"rmse", "root of the mean squared error, in the units of the data", false, is_real,
                [](const Scores& s) { return std::sqrt(s.squared_error / s.elements); }},
    MetricEntry{"nrmse", "root mean squared error divided by the root mean square of the targets", false,
                is_real, [](const Scores& s) { return std::sqrt(s.squared_error / s.squared_target); }},
    MetricEntry{"accuracy", "share of elements whose class is predicted correctly, from 0 to 1", true,
                is_class, [](const Scores& s) { return s.correct / s.elements; }},
    MetricEntry{"cross_entropy", "mean negative log-likelihood of the class, in nats", false,
                [](Loss loss) { return loss == Loss::cross_entropy; },
                [](const Scores& s) { return s.loss / s.elements; }},
    MetricEntry{"bits_per_character", "mean negative log-likelihood of the class, in bits", false,
                [](Loss loss) { return loss == Loss::cross_entropy; },
                [](const Scores& s) { return s.loss / s.elements / std::numbers::ln2; }},
    MetricEntry{"perplexity", "exponential of the mean negative log-likelihood of the class", false,
                [](Loss loss) { return loss == Loss::cross_entropy; },
                [](const Scores& s) { return std::exp(s.loss / s.elements); }},
    MetricEntry{"binary_cross_entropy",
                "mean negative log-likelihood of the class under a single logit, in nats", false,
                [](Loss loss) { return loss == Loss::binary_cross_entropy; },
                [](const Scores& s) { return s.loss / s.elements; }},
};

// Each function scores one target: `z` points to its q outputs, `place` is its position in the batch's
// targets.

template <class T>
void score_real(Scores& scores, const T* z, std::int64_t q, const Batch& batch, std::int64_t place,
                const Scaling& scaling) {
  const T* y = batch.y.values<T>().data() + place * q;
  for (std::int64_t i = 0; i < q; ++i) {
    const auto feature = static_cast<std::size_t>(i);
    const double error = static_cast<double>(z[i]) - static_cast<double>(y[i]);
    const double own_error = scaling.restored_difference(error, feature);
    const double own_target = scaling.restored(y[i], feature);
    scores.loss += error * error;
    scores.squared_error += own_error * own_error;
    scores.squared_target += own_target * own_target;
  }
  scores.elements += static_cast<double>(q);
}

template <class T>
void score_class(Scores& scores, const T* z, std::int64_t q, const Batch& batch, std::int64_t place,
                 const Scaling&) {
  const std::int64_t target = batch.classes[place];
  const T* largest = std::max_element(z, z + q);
  double sum = 0;
  for (std::int64_t i = 0; i < q; ++i) {
    sum += std::exp(static_cast<double>(z[i]) - static_cast<double>(*largest));
  }
  scores.loss += std::log(sum) + static_cast<double>(*largest) - static_cast<double>(z[target]);
  scores.correct += largest - z == target ? 1 : 0;
  scores.elements += 1;
}

template <class T>
void score_logit(Scores& scores, const T* z, std::int64_t, const Batch& batch, std::int64_t place,
                 const Scaling&) {
  const double target = batch.y.empty() ? batch.classes[place] : batch.y.at(place);
  const double logit = z[0];
  scores.loss += std::max(logit, 0.0) - logit * target + std::log1p(std::exp(-std::abs(logit)));
  scores.correct += (logit > 0) == (target > 0.5) ? 1 : 0;
  scores.elements += 1;
}

void check_shapes(Loss loss, const Tensor& outputs, const Batch& batch) {
  const std::int64_t rows = batch.size();
  const bool every_step = outputs.rank() == 3;
  const std::int64_t steps = every_step ? outputs.size(1) : 1;
  const std::int64_t q = outputs.size(-1);
  const std::int64_t targets =
      batch.y.empty() ? static_cast<std::int64_t>(batch.classes.size()) : batch.y.numel() / batch.y.size(-1);
  const bool fits = is_real(loss) ? !batch.y.empty() && batch.y.size(-1) == q
                                  : (loss == Loss::cross_entropy ? batch.y.empty() : q == 1);
  if (outputs.size(0) != rows || targets != rows * steps || !fits) {
    throw InputError(
        text_of("[metrics] the outputs do not fit the targets of ", rows, " sequences. Got outputs ",
                to_string(outputs.shape()), ", targets ",
                batch.y.empty() ? text_of("of ", targets, " classes") : to_string(batch.y.shape()), ", loss ",
                name_of(loss), "."));
  }
}

template <class T>
void add_rows(Scores& scores, Loss loss, const Tensor& outputs, const Batch& batch, const Scaling& scaling) {
  const auto score = is_real(loss)                 ? score_real<T>
                     : loss == Loss::cross_entropy ? score_class<T>
                                                   : score_logit<T>;
  const std::int64_t q = outputs.size(-1);
  const std::int64_t stride = outputs.rank() == 3 ? outputs.size(1) : 1;
  const T* z = outputs.values<T>().data();
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    const std::int64_t steps = stride == 1 ? 1 : batch.lengths[row];
    Scores sequence;
    for (std::int64_t n = 0; n < steps; ++n) {
      const std::int64_t place = row * stride + n;
      score(sequence, z + place * q, q, batch, place, scaling);
    }
    scores.elements += sequence.elements;
    scores.squared_error += sequence.squared_error;
    scores.squared_target += sequence.squared_target;
    scores.loss += sequence.loss;
    scores.correct += sequence.correct;
  }
}

}  // namespace

void add_scores(Scores& scores, Loss loss, const Tensor& outputs, const Batch& batch,
                const Scaling& scaling) {
  check_shapes(loss, outputs, batch);
  if (is_real(loss)) scaling.check(outputs.size(-1), "output");
  with_scalar(outputs.dtype(), [&]<class T>() { add_rows<T>(scores, loss, outputs, batch, scaling); });
}

std::span<const MetricEntry> metrics() { return kMetrics; }

const MetricEntry& metric(std::string_view name) {
  for (const MetricEntry& entry : kMetrics) {
    if (entry.name == name) return entry;
  }
  throw InputError(unknown_name("metric", name, metric_names()));
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricEntry& entry : kMetrics) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> metric_names(Loss loss) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : kMetrics) {
    if (entry.applies(loss)) names.emplace_back(entry.name);
  }
  return names;
}

double loss_value(const Scores& scores) { return scores.loss / scores.elements; }

}  // namespace lagtape
