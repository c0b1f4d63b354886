#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/core/problem.h"
#include "lagtape/tools/fit/delay_readings.h"
#include "lagtape/tools/fit/fit.h"
#include "lagtape/tools/fit/fit_section.h"
#include "lagtape/tools/train/experiment_reader.h"

namespace lagtape {

/// Fits the params of equations in continuous time to the files in "data": the columns "time", "target", which
/// are states, and "input". It fits the trained params; those specific to a file are called "y0 of FILE" if
/// there are several files.
class DelayFit final : public FitProblem {
 public:
  /// Whether the document contains a cell in continuous time.
  static bool applies(const Json& document);
  /// Throws InputError.
  explicit DelayFit(const ExperimentFile& file);

  const std::vector<FitParam>& params() const override { return params_; }
  std::vector<double> residuals(std::span<const double> values) override;
  DenseMatrix jacobian(std::span<const double> values) override;
  bool has_deviations() const override { return !section_.deviation.empty(); }
  std::vector<FitTrace> traces(std::span<const double> values) override;
  void start_from(std::span<const double> values) override;
  bool fix(const std::string& param, double value) override;
  /// Why trial values had no solution, such as a lag that reaches before the readings; not set for non-finite
  /// numbers.
  const std::optional<Problem>& turned_back() const { return turned_back_; }
  const FitSection& section() const { return section_; }
  const std::vector<std::string>& targets() const { return files_.front().readings.states; }

  // Ways to find starting values, each in effect until it is called again.

  /// Past values of measured states come from smoothing splines, or from the solution.
  void read_past(bool forced);
  /// Readings later than this are ignored.
  void limit_to(double horizon) { horizon_ = horizon; }
  double end() const;
  /// Files are cut into this many parts, whose initial states are fitted too; 0: whole files.
  void shoot(std::int64_t parts);
  /// The weight of the gaps between parts.
  void weigh_gaps(double weight) { gap_weight_ = weight; }
  /// Residuals of each target are divided by these.
  void set_scales(std::vector<double> scales) { scales_ = std::move(scales); }

 private:
  struct File {
    std::string name;
    DelayReadings readings;
    DelayEquations equations;
    DelayInput free_input = {};  ///< how past values are read while they are forced
    std::vector<DelayRestart> restarts = {};
  };
  struct Number {                         ///< a fitted param
    std::string param;                    ///< its name in the derivatives of the solution
    std::size_t file = 0;                 ///< the file to which it belongs; kAll: all
    std::ptrdiff_t restart = -1, at = 0;  /// its index in the restarts of the file
  };
  /// One residual: its value, and its derivative with respect to the solution's param number `by`.
  struct Row {
    double residual = 0;
    std::function<double(std::size_t by)> derivative;
  };
  static constexpr std::size_t kAll = SIZE_MAX;

  void find_numbers();
  DelayEquations equations_of(const Json& document, const DelayReadings& readings) const;
  std::vector<double> times_of(const File& file) const;
  SolvedEquations solve(std::size_t file, std::span<const double> values, const std::vector<double>& times,
                        bool derivatives);
  const SolvedEquations::Series& series_of(const SolvedEquations& solved, const std::string& state) const;
  /// The unit for a state's gap: the deviation of its first reading.
  double unit_of(std::size_t file, const std::string& state) const;
  std::int64_t count_rows() const;
  template <class Visit>
  void visit(std::span<const double> values, bool derivatives, Visit visit_row);

  Json document_;
  FitSection section_;
  std::vector<File> files_;
  std::vector<std::pair<std::string, double>> fixed_;  ///< values of params that are not fitted
  std::vector<Number> numbers_;
  std::vector<FitParam> params_;
  std::vector<double> scales_;
  double horizon_ = INFINITY, gap_weight_ = 1;
  bool has_solution_ = false;                ///< set once some trial values had a solution
  std::optional<Problem> turned_back_ = {};  ///< why later trial values had none
};

/// The fit, after the first fits configured in the section.
FitResult fit_delay_equations(DelayFit& problem, const FitOptions& options);

}  // namespace lagtape
