#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// Makes the paths in a value absolute that is assigned to a place of an experiment: they begin at `base`. `keys` lead
/// to the place: {"data", "path"}, {"data", "path", "1"}, {"data"}, {"train", "init"}. Of an experiment that has the
/// task `series` input and target name columns, and are left as they are.
void make_assigned_paths_absolute(Json& value, std::span<const std::string> keys, const Json& experiment,
                                  const std::filesystem::path& base);

}  // namespace lagtape
