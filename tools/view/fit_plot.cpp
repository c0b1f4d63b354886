#include "lagtape/tools/view/fit_plot.h"

#include <cctype>
#include <cmath>

#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

/// A part of a file's name: what is neither a letter nor a digit is a dash.
std::string plain(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  return text;
}

std::string title_of(const FitTrace& trace) {
  return trace.file.empty() ? trace.name : text_of(trace.name, " of ", trace.file);
}

/// Points without lines between them.
PlotLine points(const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
  PlotLine line{.name = name, .x = {}, .y = {}, .markers = true};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i])) continue;
    line.x.insert(line.x.end(), {x[i], x[i]});
    line.y.insert(line.y.end(), {y[i], NAN});
  }
  return line;
}

Plot plot_of(const FitTrace& trace, const std::string& title) {
  Plot plot{.title = title, .x = {.title = "t"}, .y = {.title = title_of(trace)}};
  plot.lines.push_back(trace.curve.empty() ? PlotLine{.name = "fit", .x = trace.t, .y = trace.fitted}
                                           : PlotLine{.name = "fit", .x = trace.curve_t, .y = trace.curve});
  plot.lines.push_back(points("readings", trace.t, trace.readings));
  return plot;
}

Plot plot_of_residuals(const FitTrace& trace, const std::string& title) {
  std::vector<double> residuals;
  for (std::size_t i = 0; i < trace.t.size(); ++i) residuals.push_back(trace.readings[i] - trace.fitted[i]);
  Plot plot{
      .title = title, .subtitle = "readings less fit", .x = {.title = "t"}, .y = {.title = title_of(trace)}};
  plot.height /= 2;
  if (!trace.t.empty())
    plot.lines.push_back({.name = "", .x = {trace.t.front(), trace.t.back()}, .y = {0, 0}, .faint = true});
  plot.lines.push_back(points("", trace.t, residuals));
  return plot;
}

/// The ratio of likelihoods along a param, and how high it is at the ends of the interval.
Plot plot_of(const FitProfile& profile, const FitResult& result, const std::string& title) {
  const FitStatistics& statistics = result.statistics;
  double least = INFINITY;
  for (const double cost : profile.costs) least = std::min(least, cost);
  std::vector<double> ratio;
  for (const double cost : profile.costs)
    ratio.push_back((cost - least) / (statistics.variance > 0 ? statistics.variance : 1));
  const double bound = statistics.quantile * statistics.quantile;
  Plot plot{.title = title,
            .subtitle = text_of("interval ", profile.low, " to ", profile.high),
            .x = {.title = profile.name},
            .y = {.title = "rise of the sum of squares / sigma^2"}};
  plot.lines.push_back({.name = "profile", .x = profile.values, .y = ratio, .markers = true});
  if (!profile.values.empty())
    plot.lines.push_back({.name = "end of the interval",
                          .x = {profile.values.front(), profile.values.back()},
                          .y = {bound, bound},
                          .faint = true});
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> plots_of_fit(const FitResult& result, const std::string& title) {
  std::vector<std::pair<std::string, Plot>> plots;
  for (const FitTrace& trace : result.traces) {
    const std::string of = result.traces.size() == 1 ? "" : "-" + plain(title_of(trace));
    plots.emplace_back("fit" + of, plot_of(trace, title));
    plots.emplace_back("residuals" + of, plot_of_residuals(trace, title));
  }
  for (const FitProfile& profile : result.profiles)
    plots.emplace_back("profile-" + plain(profile.name), plot_of(profile, result, title));
  return plots;
}

}  // namespace lagtape
