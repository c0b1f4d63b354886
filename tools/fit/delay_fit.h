#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/core/json/options.h"
#include "lagtape/tools/fit/fit.h"
#include "lagtape/tools/train/experiment_reader.h"

namespace lagtape {

/// "fit" of an experiment.
struct FitSection {
  std::string force =
      "none";  ///< "data": a first fit reads past values from smoothing splines of the readings
  std::vector<std::string> own = {};  ///< params of which each file has its own
  std::string deviation = {};  ///< the column of the readings' standard deviations; empty: all have one
};
extern const OptionTable kFitOptions;

/// Readings of states at times, of one file.
struct DelayReadings {
  std::vector<double> times;  ///< ascending, each once
  std::vector<std::string> states;
  std::vector<std::vector<double>> values;  ///< [states][times]
  std::vector<double> deviations = {};      ///< [times]; empty: 1
  DelayInput input = {};
};

/// The fit of the params of equations in continuous time to the files of "data": the columns "time", "target", which are
/// states, and "input". Its params are those that are trained; own ones are called "y0 of FILE" where there are several
/// files.
class DelayFit final : public FitProblem {
 public:
  /// Whether the document has a cell in continuous time.
  static bool applies(const Json& document);
  /// Throws InputError.
  explicit DelayFit(const ExperimentFile& file);

  const std::vector<FitParam>& params() const override { return params_; }
  std::vector<double> residuals(std::span<const double> values) override;
  DenseMatrix jacobian(std::span<const double> values) override;
  bool has_deviations() const override { return !section_.deviation.empty(); }
  const FitSection& section() const { return section_; }

  /// From now on past values of the states that were read come from smoothing splines (`forced`), or from the solution.
  void read_past(bool forced);
  /// Fits begin with these values.
  void start_from(std::span<const double> values);

 private:
  struct File {
    std::string name;
    DelayReadings readings;
    DelayEquations equations;
    DelayInput free_input = {};  ///< that of the readings, while past values are forced
  };
  struct Number {          ///< one that is fitted
    std::string param;     ///< its name in the equations
    std::size_t file = 0;  ///< whose own it is; kAll: of all
  };
  static constexpr std::size_t kAll = SIZE_MAX;

  void find_numbers();
  SolvedEquations solve(std::size_t file, std::span<const double> values, bool derivatives);
  template <class Visit>
  void visit(std::span<const double> values, bool derivatives, Visit visit_reading);

  Json document_;
  FitSection section_;
  std::vector<File> files_;
  std::vector<Number> numbers_;
  std::vector<FitParam> params_;
  std::int64_t readings_ = 0;
};

/// The fit, after one with forced past values where the section asks for it.
FitResult fit_delay_equations(DelayFit& problem, const FitOptions& options);

}  // namespace lagtape
