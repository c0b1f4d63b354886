#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/json/options.h"
#include "lagtape/tools/train/experiment_reader.h"

namespace lagtape {

/// The "fit" section of an experiment.
struct FitSection {
  std::string force =
      "none";  ///< "data": a first fit reads past values from smoothing splines of the readings
  std::vector<double> grow =
      {};                  ///< horizons of first fits; a negative one: that many, each twice the one before
  std::int64_t shoot = 0;  ///< parts that start from their own states in first fits; 0: none
  std::vector<std::string> only = {};       ///< params that are fitted; empty: all trained ones
  std::vector<std::string> own = {};        ///< params with a separate value for each file or series
  std::vector<std::string> deviation = {};  ///< standard deviations: a column or a number for each target
  std::vector<std::string> profile = {};    ///< params whose intervals come from refitting all others
  std::int64_t adam = 0;                    ///< steps of Adam before that
  double lr = 0.01;                         ///< learning rate of Adam
};
extern const OptionTable kFitOptions;

/// Reads "fit" from a document. Throws InputError.
FitSection read_fit_section(const ExperimentFile& file);

/// Reads a section of a document, which may be missing.
template <class T>
T read_section(const Json& given, const std::string& pointer, const OptionTable& table, JsonErrors& errors) {
  T section;
  const Json none = Json::object();
  JsonReader reader(given.is_null() ? none : given, pointer, errors);
  read_options(reader, table, section);
  reader.finish();
  return section;
}

}  // namespace lagtape
