// The ways in which a fit of equations in continuous time finds its start, and the fit itself.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/tools/fit/delay_fit.h"
#include "lagtape/tools/fit/forced_past.h"
#include "lagtape/tools/fit/smoothing_spline.h"

namespace lagtape {

namespace {

constexpr double kGapWeights[] = {0.3, 1, 3, 10, 30};
constexpr int kMostReweighings = 5;

/// The root mean squares of the residuals of each target.
std::vector<double> sizes_of(DelayFit& problem, const FitResult& result) {
  std::map<std::string, std::pair<double, double>> sums;
  for (const FitTrace& trace : problem.traces(estimates_of(result)))
    for (std::size_t i = 0; i < trace.t.size(); ++i) {
      if (std::isnan(trace.readings[i])) continue;
      sums[trace.name].first += std::pow(trace.fitted[i] - trace.readings[i], 2);
      sums[trace.name].second += 1;
    }
  std::vector<double> sizes;
  for (const std::string& target : problem.targets())
    sizes.push_back(std::sqrt(sums[target].first / std::max(1.0, sums[target].second)));
  return sizes;
}

/// Fits again with residuals in units of their targets' errors, which come from the residuals themselves, until these
/// stay.
FitResult reweighed(DelayFit& problem, const FitOptions& first, const FitOptions& options) {
  FitResult result = fit_params(problem, first);
  std::vector<double> scales(problem.targets().size(), 1);
  for (int k = 0; k < kMostReweighings; ++k) {
    std::vector<double> sizes = sizes_of(problem, result);
    const double least = 1e-9 * *std::ranges::max_element(sizes);
    for (double& size : sizes) size = size > least && size > 0 ? size : std::max(least, 1e-300);
    bool stays = true;
    for (std::size_t s = 0; s < sizes.size(); ++s) stays = stays && std::abs(sizes[s] / scales[s] - 1) < 1e-4;
    if (stays) break;
    problem.set_scales(scales = sizes);
    problem.start_from(estimates_of(result));
    result = fit_params(problem, first);
  }
  problem.start_from(estimates_of(result));
  result = fit_params(problem, options);
  const std::vector<double> sizes = sizes_of(problem, result);
  double sum = 0;
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    result.rmse_of.emplace_back(problem.targets()[s], sizes[s]);
    sum += sizes[s] * sizes[s];
  }
  result.rmse = std::sqrt(sum / static_cast<double>(sizes.size()));
  return result;
}

/// First fits over rising horizons.
std::vector<double> horizons_of(const DelayFit& problem) {
  std::vector<double> horizons = problem.section().grow;
  if (horizons.size() != 1 || horizons.front() >= 0) return horizons;
  const int count = static_cast<int>(-horizons.front());
  horizons.clear();
  for (int k = count; k >= 1; --k) horizons.push_back(problem.end() / std::pow(2.0, k));
  return horizons;
}

}  // namespace

void DelayFit::read_past(bool forced) {
  has_solution_ = false;
  for (File& file : files_) {
    if (forced) {
      ForcedPast past = force_past(document_, file.readings);
      file.equations = equations_of(past.document, past.readings);
      file.free_input = std::exchange(file.readings.input, std::move(past.readings.input));
    } else {
      file.readings.input = std::move(file.free_input);
      file.equations = equations_of(document_, file.readings);
    }
  }
}

void DelayFit::shoot(std::int64_t parts) {
  const auto of_params = [](const Number& number) { return number.restart < 0; };
  const auto kept = std::ranges::count_if(numbers_, of_params);
  numbers_.resize(static_cast<std::size_t>(kept));
  params_.resize(static_cast<std::size_t>(kept));
  for (std::size_t f = 0; f < files_.size(); ++f) {
    File& file = files_[f];
    file.restarts.clear();
    if (parts < 2) continue;
    std::vector<double> first;
    for (const FitParam& param : params_) first.push_back(param.start);
    const SolvedEquations begin = solve(f, first, {0}, false);
    for (std::int64_t k = 1; k < parts; ++k) {
      const double t = file.readings.times.back() * static_cast<double>(k) / static_cast<double>(parts);
      DelayRestart restart{t};
      for (const SolvedEquations::Series& series : begin.states) {
        const auto& states = file.readings.states;
        const auto s = static_cast<std::size_t>(std::ranges::find(states, series.name) - states.begin());
        double value = series.y.front();
        if (s < states.size()) {
          const auto [times, values] = known_readings(file.readings, s);
          value = SmoothingSpline::chosen(times, values).value(t);
        }
        numbers_.push_back({text_of("restart ", k - 1, "[", restart.states.size(), "]"), f,
                            static_cast<std::ptrdiff_t>(k - 1), std::ssize(restart.states)});
        params_.push_back({text_of(series.name, " at ", t, " of ", file.name), value, {}, {}});
        restart.states.push_back(value);
      }
      file.restarts.push_back(std::move(restart));
    }
  }
}

FitResult fit_delay_equations(DelayFit& problem, const FitOptions& given) {
  FitOptions options = given, first = given;
  const FitSection& section = problem.section();
  first.profile.clear();
  const auto fit_first = [&] {
    problem.start_from(estimates_of(fit_params(problem, first)));
    first.adam = options.adam = 0;
  };
  if (section.force == "data") {
    problem.read_past(true);
    fit_first();
    problem.read_past(false);
  }
  for (const double horizon : horizons_of(problem)) {
    problem.limit_to(horizon);
    fit_first();
  }
  problem.limit_to(INFINITY);
  if (section.shoot > 1) {
    problem.shoot(section.shoot);
    for (const double weight : kGapWeights) {
      problem.weigh_gaps(weight);
      fit_first();
    }
    problem.shoot(0);
  }
  const bool has_scales = problem.targets().size() > 1 && !problem.has_deviations();
  FitResult result = has_scales ? reweighed(problem, first, options) : fit_params(problem, options);
  if (problem.turned_back())
    result.notes.push_back(
        text_of("some values that were tried have no solution: ", message_of(*problem.turned_back())));
  return result;
}

}  // namespace lagtape
