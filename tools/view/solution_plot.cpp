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

}  // namespace lagtape
