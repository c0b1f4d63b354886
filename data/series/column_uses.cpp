#include "lagtape/data/series/column_uses.h"

#include <algorithm>
#include <map>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// The key that lists the inputs with a role.
const char* key_of(const SeriesOptions& options, ColumnRole role) {
  switch (role) {
    case ColumnRole::future: return "future";
    case ColumnRole::fixed: return "static";
    case ColumnRole::past: return options.says_input ? "input" : "past";
    default: return options.says_input ? "input" : "target";
  }
}

}  // namespace

bool ColumnUses::is_target(std::int64_t source) const {
  return std::ranges::find(targets, source) != targets.end();
}

ColumnUses column_uses(const SeriesOptions& options, std::int64_t columns,
                       const std::vector<std::int64_t>& times, const FindColumn& find,
                       const std::string& where) {
  ColumnUses uses;
  std::map<std::int64_t, Json> names;
  const auto found = [&](const Json& column, const char* key) {
    const std::int64_t source = find(column, key);
    const auto [before, is_new] = names.emplace(source, column);
    if (!is_new && before->second != column)
      throw InputError({where}, Rule::conflict,
                       text_of(before->second.dump(), " and ", column.dump(),
                               " are one column, which has one role. Expected it once."));
    return source;
  };
  if (options.target.is_array())
    for (const Json& column : options.target) uses.targets.push_back(found(column, "target"));
  for (const auto& [column, role] : options.inputs())
    if (!options.is_category(column)) uses.inputs.push_back({found(column, key_of(options, role)), role});
  if (options.reads_all())
    for (std::int64_t source = 0; source < columns; ++source) {
      const bool is_target = options.target.is_null() || uses.is_target(source);
      if (std::ranges::find(times, source) == times.end() &&
          (!is_target || options.past_target.value_or(true)))
        uses.inputs.push_back({source, is_target ? ColumnRole::target : ColumnRole::past});
    }
  if (options.target.is_null())
    for (const auto& [source, role] : uses.inputs)
      if (role == ColumnRole::target) uses.targets.push_back(source);
  return uses;
}

}  // namespace lagtape
