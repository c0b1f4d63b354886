#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/exchange/export/c99/c_layer.h"
#include "lagtape/tools/exchange/export/c99/c_loops.h"
#include "lagtape/tools/exchange/export/c99/c_names.h"

namespace lagtape {

/// A part of an equation in C.
struct CExpression {
  std::string text;
  int strength = 3;  ///< how tightly it binds: 3 a name or call, 2 a product, 1 a sum, 0 a choice
  int depth = 0;     ///< depth of nested operations
};

/// The equations of a layer's step in C. While they are written, this class collects what they need: constants,
/// helper functions, and names of states that the function must declare.
class CExpressions {
 public:
  CExpressions(const ExportedLayer& layer, const CStyle& style);

  const CLoops& loops() const { return loops_; }
  /// Whether the value is available before the loops start.
  bool is_given(int id) const { return given_[id]; }
  /// Whether a loop stores the value in a variable.
  bool has_variable(int id) const;
  const std::string& name(int id) const { return names_[id]; }
  /// The member of the state that holds the last values of state s.
  const std::string& member(int state) const { return members_[state]; }

  /// Element `index` of a value, computed from its operands.
  CExpression computed(int id, const std::string& index);
  /// Element `index` of a value: of its variable, or as an expression.
  CExpression element(int id, const std::string& index);
  /// An unused function name.
  std::string unique(const std::string& wished) { return locals_.unique(wished); }

  /// The declarations of the states that the equations read.
  std::string state_pointers() const;

  std::string constants;
  /// The integer vectors, declared and computed, that are read by loops written since the last call of
  /// `preparations`.
  std::string preparations() { return std::exchange(preparations_, {}); }
  std::set<std::string> helpers;
  CCosts costs;
  bool counts_steps = false, reads_input = false, reads_state = false;

 private:
  CExpression fixed(int id, const std::string& index);
  CExpression product(const Instruction& v, const std::string& index);
  CExpression function(const Instruction& v, const std::string& index);
  CExpression call(const std::string& helper, const std::string& arguments, int depth);
  std::string viewed(const Instruction& v, const std::string& index);
  CExpression real_lag(const Instruction& v, const std::string& index);
  /// The vector that holds a value, as a pointer.
  std::string vector(int id);
  /// The name of an integer vector; with _scale, the value of one unit.
  std::string whole_vector(const std::string& vector, std::int64_t width);
  std::string past(int state, std::int64_t lag);
  std::string matrix(int weight);
  void name_values();

  const ExportedLayer& layer_;
  const CStyle& style_;
  std::vector<std::vector<double>> fixed_;
  std::vector<bool> given_;
  CLoops loops_;
  CNames locals_, globals_;
  std::vector<std::string> members_, names_;
  std::vector<bool> is_named_;
  std::map<int, std::string> fixed_names_, matrices_;
  std::string preparations_;
  std::map<std::string, std::string> whole_;                   // vector -> its integer form
  std::map<std::pair<int, std::int64_t>, std::string> pasts_;  // (state, lag) -> variable
};

}  // namespace lagtape
