#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/core/json/options.h"
#include "lagtape/tools/fit/delay_readings.h"
#include "lagtape/tools/fit/fit.h"
#include "lagtape/tools/train/experiment_reader.h"

namespace lagtape {

/// "fit" of an experiment.
struct FitSection {
  std::string force =
      "none";  ///< "data": a first fit reads past values from smoothing splines of the readings
  std::vector<double> grow = {};  ///< horizons of first fits; one below 0: so many, each twice the one before
  std::int64_t shoot = 0;         ///< parts that begin from states of their own in first fits; 0: none
  std::vector<std::string> only = {};       ///< params that are fitted; empty: all that are trained
  std::vector<std::string> own = {};        ///< params of which each file has its own
  std::vector<std::string> deviation = {};  ///< standard deviations: a column or a number for each target
  std::vector<std::string> profile = {};    ///< params whose intervals come from refits of all others
  std::int64_t adam = 0;                    ///< steps of Adam before
  double lr = 0.01;                         ///< of Adam
};
extern const OptionTable kFitOptions;

/// Reads "fit" of a document, for readings of these targets. Throws InputError.
FitSection read_fit_section(const ExperimentFile& file, const std::vector<std::string>& targets = {});

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
  std::vector<FitTrace> traces(std::span<const double> values) override;
  void start_from(std::span<const double> values) override;
  bool fix(const std::string& param, double value) override;
  const FitSection& section() const { return section_; }
  const std::vector<std::string>& targets() const { return files_.front().readings.states; }

  // Ways to a start, each until it is called again.

  /// Past values of the states that were read come from smoothing splines, or from the solution.
  void read_past(bool forced);
  /// Readings later than this do not count.
  void limit_to(double horizon) { horizon_ = horizon; }
  double end() const;
  /// The files are cut into so many parts, the states at whose begins are fitted too; 0: they are whole.
  void shoot(std::int64_t parts);
  /// The weight of the gaps between these parts.
  void weigh_gaps(double weight) { gap_weight_ = weight; }
  /// Residuals of each target are divided by these.
  void set_scales(std::vector<double> scales) { scales_ = std::move(scales); }

 private:
  struct File {
    std::string name;
    DelayReadings readings;
    DelayEquations equations;
    DelayInput free_input = {};  ///< that of the readings, while past values are forced
    std::vector<DelayRestart> restarts = {};
  };
  struct Number {                         ///< one that is fitted
    std::string param;                    ///< its name in the derivatives of the solution
    std::size_t file = 0;                 ///< whose own it is; kAll: of all
    std::ptrdiff_t restart = -1, at = 0;  /// where it is in the restarts of the file
  };
  /// One residual: its value, and its derivative by the number `by` of the solution's params.
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
  /// What a gap of a state is measured by: the deviation of its first reading.
  double unit_of(std::size_t file, const std::string& state) const;
  std::int64_t count_rows() const;
  template <class Visit>
  void visit(std::span<const double> values, bool derivatives, Visit visit_row);

  Json document_;
  FitSection section_;
  std::vector<File> files_;
  std::vector<std::pair<std::string, double>> fixed_;  ///< of params that are not fitted
  std::vector<Number> numbers_;
  std::vector<FitParam> params_;
  std::vector<double> scales_;
  double horizon_ = INFINITY, gap_weight_ = 1;
};

/// The fit, after those that the section asks for first.
FitResult fit_delay_equations(DelayFit& problem, const FitOptions& options);

}  // namespace lagtape
