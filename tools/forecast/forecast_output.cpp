#include <charconv>
#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/tools/forecast/series_forecast.h"

namespace lagtape {

namespace {

/// The shortest digits that read back to a number in its precision; nothing for NaN.
std::string digits_of(const Tensor& numbers, std::int64_t index) {
  if (std::isnan(numbers.at(index))) return "";
  char text[32];
  return with_scalar(numbers.dtype(), [&]<class T>() {
    return std::string(text, std::to_chars(text, text + sizeof(text), numbers.values<T>()[index]).ptr);
  });
}

/// A cell of a .csv file, in quotes where it needs them.
std::string cell_of(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted += '"';
  return quoted;
}

/// The columns of the predictions, in their order, by what each is called.
std::vector<std::pair<std::string, const Tensor*>> parts_of(const SeriesForecast& forecast) {
  std::vector<std::pair<std::string, const Tensor*>> parts = {{"prediction", &forecast.prediction}};
  if (!forecast.low.empty()) {
    parts.emplace_back("low", &forecast.low);
    parts.emplace_back("high", &forecast.high);
  }
  parts.emplace_back("truth", &forecast.truth);
  return parts;
}

/// A line of one column of numbers, whose first has the step `first`.
PlotLine line_of(std::string name, const Tensor& numbers, std::int64_t column, std::int64_t from,
                 std::int64_t first) {
  PlotLine line{.name = std::move(name), .x = {}, .y = {}};
  for (std::int64_t row = from; row < numbers.size(0); ++row) {
    line.x.push_back(static_cast<double>(first + row - from));
    line.y.push_back(numbers.at(row * numbers.size(1) + column));
  }
  return line;
}

}  // namespace

ForecastScores scores_of(const SeriesForecast& forecast, std::int64_t target) {
  const std::int64_t width = std::ssize(forecast.targets), past = forecast.past.size(0);
  ForecastScores scores;
  const auto past_value = [&](std::int64_t row) { return forecast.past.at(row * width + target); };
  const bool has_season = forecast.season > 0 && forecast.season <= past;
  for (std::int64_t step = 0; step < forecast.steps(); ++step) {
    const double truth = forecast.truth.at(step * width + target);
    if (std::isnan(truth)) continue;
    const auto squared = [&](double guess) { return (guess - truth) * (guess - truth); };
    scores.known += 1;
    scores.rmse += squared(forecast.prediction.at(step * width + target));
    scores.persistence += squared(past_value(past - 1));
    if (has_season) scores.seasonal += squared(past_value(past - forecast.season + step % forecast.season));
  }
  const auto root = [&](double sum) { return std::sqrt(sum / static_cast<double>(scores.known)); };
  scores.rmse = root(scores.rmse);
  scores.persistence = root(scores.persistence);
  scores.seasonal = has_season ? root(scores.seasonal) : std::numeric_limits<double>::quiet_NaN();
  return scores;
}

std::string csv_of(const SeriesForecast& forecast) {
  const std::int64_t width = std::ssize(forecast.targets);
  std::string text = forecast.times.empty() ? "step" : "time,step";
  for (const std::string& target : forecast.targets)
    for (const auto& [name, values] : parts_of(forecast))
      text += text_of(",", cell_of(width == 1 ? name : text_of(target, " ", name)));
  text += '\n';
  for (std::int64_t step = 0; step < forecast.steps(); ++step) {
    if (!forecast.labels.empty()) text += text_of(forecast.labels[static_cast<std::size_t>(step)], ",");
    text += std::to_string(step + 1);
    for (std::int64_t i = 0; i < width; ++i)
      for (const auto& [name, values] : parts_of(forecast))
        text += text_of(",", digits_of(*values, step * width + i));
    text += '\n';
  }
  return text;
}

Plot plot_of(const SeriesForecast& forecast, const std::string& title) {
  const std::int64_t past = forecast.past.size(0);
  const std::int64_t shown = std::min(past, std::max<std::int64_t>(3 * forecast.steps(), 50));
  Plot plot{.title = title, .x = {.title = "steps after the past"}, .y = {.title = "target"}};
  if (forecast.targets.size() == 1) plot.y.title = forecast.targets.front();
  for (std::int64_t i = 0; i < std::ssize(forecast.targets); ++i) {
    const std::string which =
        forecast.targets.size() > 1 ? forecast.targets[static_cast<std::size_t>(i)] + " " : std::string();
    PlotLine truth = line_of(which + "past and truth", forecast.past, i, past - shown, 1 - shown);
    const PlotLine later = line_of("", forecast.truth, i, 0, 1);
    truth.x.insert(truth.x.end(), later.x.begin(), later.x.end());
    truth.y.insert(truth.y.end(), later.y.begin(), later.y.end());
    truth.broad = true;
    plot.lines.push_back(std::move(truth));
    for (const auto& [name, values] : parts_of(forecast))
      if (name != "truth") plot.lines.push_back(line_of(which + name, *values, i, 0, 1));
  }
  return plot;
}

}  // namespace lagtape
