#include "lagtape/data/series/panel.h"

#include <algorithm>

namespace lagtape {

std::string Panel::name_of_input(std::int64_t i) const {
  return lagtape::name_of_input(input_column(i).name, input_column(i).kind, input_at(i).shift);
}

std::int64_t Panel::lead() const {
  std::int64_t lead = 0;
  for (const PanelInput& one : input) lead = std::max(lead, -one.shift);
  return lead;
}

void Panel::add_input(std::int64_t column, const SeriesOptions& options) {
  const Column& of = this->column(column);
  for (const std::int64_t shift : options.shifts_of(of.role, of.kind)) input.push_back({column, shift});
}

}  // namespace lagtape
