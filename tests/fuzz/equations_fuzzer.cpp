#include <string>

#include "lagtape/ops/recurrence/equations/equations.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// The lines of a text as the equations of a step; the first one is a derived weight, and the last one the output.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    EquationCell cell;
    cell.hyper = {{"tau", 3}, {"alpha", 0.5}};
    cell.weights = {
        {"W", {"units", "units"}}, {"U", {"units", "input"}},      {"b", {"units"}},         {"s", {}},
        {"theta", {"units"}},      {"G", {"2", "units", "units"}}, {"M", {"units", "units"}}};
    cell.lags = {{"theta", "8"}};
    cell.states = {{"h", {"units"}}, {"c", {"2", "units"}}};
    std::size_t at = text.find('\n');
    cell.derived = {{"A", std::string(text.substr(0, at))}};
    while (at != std::string_view::npos) {
      text.remove_prefix(at + 1);
      at = text.find('\n');
      cell.step.emplace_back(text.substr(0, at));
    }
    if (!cell.step.empty()) {
      cell.output = cell.step.back();
      cell.step.pop_back();
    }
    compile_cell(cell, 3, 2);
  });
}
