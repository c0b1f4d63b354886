#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The JSON value of an experiment with every default filled in.
struct ExperimentDocument {
  Json json;
};

/// Reads the document of an experiment; `base` is absolute. Throws InputError with all of its errors.
Experiment read_document(const Json& document, const std::string& where, const std::filesystem::path& base);

/// The document after the assignments of `--set` ("train.epochs=3"). Throws InputError.
Json assigned(Json document, std::span<const std::string> assignments);

/// The keys of `data` that name files or folders.
inline constexpr std::array kDataPaths = {"path", "vectors"};

/// Replaces the path in a value of one of these keys, or each of a list of paths.
template <class F>
void for_each_path(Json& value, F replaced) {
  if (value.is_string()) value = replaced(value.get<std::string>());
  if (!value.is_array()) return;
  for (Json& path : value)
    if (path.is_string()) path = replaced(path.get<std::string>());
}

/// The value at a JSON Pointer; null when there is none.
const Json& at_pointer(const Json& document, const char* pointer);

}  // namespace lagtape
