#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/core/json/json.h"
#include "lagtape/data/table/csv.h"

namespace lagtape {

/// Times as a user writes them: "0,0.5,2", "0:10:0.1" (both ends included), or the name of a file, whose column
/// "t" or "time" is used, else the first column. Throws InputError.
std::vector<double> times_of(const std::string& text);

/// Inputs from a table: a column of ascending times, "time" or "t" or else the first, and the others in order.
/// Throws InputError.
DelayInput read_delay_input(const std::string& file);

/// Reads histories from a table: a time column, as above, and one column for each state. Throws InputError.
void read_histories(DelayEquations& equations, const std::string& file);

/// Sets a param from "tau=18", or one number of it from "c[1]=2". Throws InputError.
void set_param(DelayEquations& equations, const std::string& assignment);

/// The estimates in a `lagtape fit --json` file, by name. Throws InputError.
std::vector<std::pair<std::string, double>> read_estimates(const std::string& file);
/// Sets params and weights to the estimates in such a file.
void set_estimates(DelayEquations& equations, const std::string& file);

/// {"t": [...], "y": {STATE: [...]}, "d": {PARAM: {STATE: [...]}}}; the numbers of a vector are lists, one per
/// time.
Json json_of(const SolvedEquations& solved);
/// The solution as a file with the ending .csv, .json or .npz: a table, the object above, or an array for each
/// column.
std::string file_of(const SolvedEquations& solved, const std::string& ending);

/// One axis of a chart that plots states against each other: a state, or "y(t - tau)" or "y(t - 17)", a past
/// state, where `lag` is a number or a param.
struct PhaseAxis {
  std::string title, state;
  double lag = 0;
};
/// Reads "x,y". Throws InputError.
std::vector<PhaseAxis> phase_axes(const std::string& text, const DelayEquations& equations);
/// The values of an axis at the times; if there is a lag, the equations are solved again.
std::vector<double> values_on(const PhaseAxis& axis, const DelayEquations& equations,
                              const std::vector<double>& times, const DelayInput& input);

/// Columns t, STATE, ..., d STATE / d PARAM, ...
Csv csv_of(const SolvedEquations& solved);

/// The convergence of a solution: the largest differences between the solutions with steps h, h / 2, h / 4 and
/// h / 8, and the resulting orders, log2 of the ratio of successive differences.
struct MeasuredOrder {
  struct Row {
    std::string of;  ///< "y", or the param for its derivatives
    std::vector<double> differences, orders;
  };
  std::vector<Row> rows;
};
MeasuredOrder measure_order(DelayEquations equations, const std::vector<double>& times,
                            const DelayInput& input);
Json json_of(const MeasuredOrder& order);
std::string to_string(const MeasuredOrder& order);

}  // namespace lagtape
