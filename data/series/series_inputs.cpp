#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/data/series/column_set.h"
#include "lagtape/data/series/series_options.h"

namespace lagtape {

std::string SeriesOptions::where() const {
  if (paths.empty()) return {};
  return paths.size() == 1 ? paths.front() : text_of(paths.front(), " and ", paths.size() - 1, " more");
}

std::string name_of_mask(const std::string& column) { return column + " is there"; }
std::string name_of_word(const std::string& column, const std::string& word) { return column + "=" + word; }
std::string name_of_angle(const std::string& calendar, bool is_sine) {
  return (is_sine ? "sine of " : "cosine of ") + calendar;
}

std::string name_of_input(const std::string& column, std::int64_t shift) {
  if (shift == 0) return column;
  return text_of(column, shift > 0 ? "[+" : "[", shift, "]");
}

bool SeriesOptions::reads_nothing() const {
  return says_input && past.is_array() && past.empty() && inputs().empty() && calendar.empty();
}

bool SeriesOptions::is_category(const Json& column) const {
  return column.is_string() &&
         std::ranges::find(categories, column.get<std::string>(), &Category::column) != categories.end();
}

std::vector<InputColumn> SeriesOptions::inputs() const {
  std::vector<InputColumn> inputs;
  if (reads_all()) return inputs;
  const auto add_all = [&](const Json& list, ColumnRole role) {
    if (list.is_array())
      for (const Json& column : list) inputs.push_back({column, role});
  };
  const ColumnSet targets(target), in_past(past);
  // "input" lists the targets whose past is read.
  if (target.is_array() && past_target.value_or(!says_input && horizon > 0))
    for (const Json& column : target)
      if (!in_past.has(column)) inputs.push_back({column, ColumnRole::target});
  if (past.is_array())
    for (const Json& column : past) {
      const bool is_target = target.is_null() ? !is_category(column) : targets.has(column);
      if (!is_target || past_target.value_or(true))
        inputs.push_back({column, is_target ? ColumnRole::target : ColumnRole::past});
    }
  add_all(future, ColumnRole::future);
  add_all(fixed, ColumnRole::fixed);
  return inputs;
}

std::vector<std::int64_t> SeriesOptions::shifts_of(ColumnRole role) const {
  if (role == ColumnRole::future && horizon > 0) return {0, horizon};
  // A nowcast predicts its step's own row, whose target is not known yet.
  if (role == ColumnRole::target && horizon == 0 && past_target) return {-1};
  return {0};
}

std::vector<std::string> SeriesOptions::input_names() const {
  if (reads_nothing()) return {kNothing};
  std::vector<std::string> names;
  const auto add = [&](const std::string& column, ColumnRole role) {
    for (const std::int64_t shift : shifts_of(role)) names.push_back(name_of_input(column, shift));
  };
  const std::vector<InputColumn> named = inputs();
  const auto text = [](const Json& column) {
    return column.is_string() ? column.get<std::string>() : "column " + column.dump();
  };
  for (const auto& [column, role] : named)
    if (!is_category(column)) add(text(column), role);
  if (missing == Missing::mask)
    for (const auto& [column, role] : named)
      if (!is_category(column)) add(name_of_mask(text(column)), role);
  for (const Category& category : categories) {
    const auto of = std::ranges::find(named, Json(category.column), &InputColumn::column);
    for (const std::string& word : category.values)
      add(name_of_word(category.column, word), of == named.end() ? ColumnRole::past : of->role);
  }
  if (reads_all()) return {};
  for (const std::int64_t shift : shifts_of(ColumnRole::future))
    for (const std::string& angle : calendar)
      for (const bool is_sine : {true, false})
        names.push_back(name_of_input(name_of_angle(angle, is_sine), shift));
  return names;
}

std::pair<std::int64_t, std::int64_t> SeriesOptions::widths() const {
  if (reads_all()) return {0, 0};
  const Json& targets = target.is_null() ? past : target;
  const std::int64_t words =
      std::ranges::count_if(targets, [&](const Json& column) { return is_category(column); });
  return {std::ssize(input_names()), std::ssize(targets) - words};
}

}  // namespace lagtape
