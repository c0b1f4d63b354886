#include "lagtape/tools/view/solution_plot.h"

namespace lagtape {

Plot plot_of_solution(const SolvedEquations& solved, const std::string& title) {
  Plot plot{.title = title, .x = {.title = "t"}};
  if (solved.states.size() == 1) plot.y.title = solved.states[0].name;
  for (const SolvedEquations::Series& series : solved.states)
    plot.lines.push_back(
        {.name = solved.states.size() == 1 ? "" : series.name, .x = solved.times, .y = series.y});
  return plot;
}

Plot plot_of_phase(const std::vector<PhaseAxis>& axes, const std::vector<std::vector<double>>& values,
                   const std::string& title) {
  Plot plot{.title = title, .x = {.title = axes[0].title}, .y = {.title = axes[1].title}};
  plot.width = plot.height;
  plot.lines.push_back({.name = "", .x = values[0], .y = values[1]});
  if (!values[0].empty())
    plot.lines.push_back(
        {.name = "begin", .x = {values[0].front()}, .y = {values[1].front()}, .markers = true});
  return plot;
}

}  // namespace lagtape
