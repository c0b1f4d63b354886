#include "lagtape/cells/ode_cell.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"

namespace lagtape {
namespace {

CellDefinition with_solver(const Json& solver) {
  JsonErrors errors;
  const Json value = {{"ode", Json::array({"dy = -y"})}, {"history", {{"y", 0.5}}}, {"solver", solver}};
  JsonReader reader(value, "/cells/mine", errors);
  CellDefinition cell;
  read_options(reader, kOdeOptions, cell);
  reader.finish();
  errors.raise("test");
  CHECK(reader.filled() == json_of(kOdeOptions, cell));
  return cell;
}

TEST_CASE("a solver is written as it was read, with its defaults") {
  const Json defaults = {
      {"method", "rk4"}, {"h", 0.5}, {"dense", "hermite"}, {"breaks", "cut"}, {"inputs", "hold"}};
  CHECK(json_of(kOdeOptions, with_solver({{"h", 0.5}})).at("solver") == defaults);
  const Json all = {{"method", "exponential_euler"},
                    {"h", {{"lag", "tau"}, {"parts", 20}}},
                    {"dt", {{"min", 0.1}, {"max", 2.0}}},
                    {"dense", "linear"},
                    {"breaks", "ignore"},
                    {"levels", "all"},
                    {"inputs", "linear"}};
  const CellDefinition read = with_solver(all);
  CHECK(json_of(kOdeOptions, read).at("solver") == all);
  CHECK(read.solver.method == OdeMethod::exponential_euler);
  CHECK(read.solver.parts == 20);
  CHECK(read.solver.given == Bounds{0.1, 2});
  CHECK(read.solver.levels == OdeSolver::kAllLevels);
  CHECK_FALSE((read.solver.hermite || read.solver.cut || read.solver.hold));
  CHECK(with_solver({{"h", 1}, {"dt", 3}, {"levels", 2}}).solver.dt == 3);
}

TEST_CASE("errors of a solver name their keys") {
  const auto error_of = [](const Json& solver) {
    try {
      with_solver(solver);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(error_of({{"h", 0}}).find("/cells/mine/solver/h: ") != std::string::npos);
  for (const auto& [solver, key] :
       std::vector<std::pair<Json, std::string>>{{{{"h", 0}}, "h"},
                                                 {Json::object(), "h"},
                                                 {{{"h", {{"lag", "tau"}}}}, "h/parts"},
                                                 {{{"h", 1}, {"dt", "a"}}, "dt"},
                                                 {{{"h", 1}, {"dt", {{"min", 2}, {"max", 1}}}}, "dt"},
                                                 {{{"h", 1}, {"levels", -1}}, "levels"},
                                                 {{{"h", 1}, {"method", "rk5"}}, "method"},
                                                 {{{"h", 1}, {"step", 1}}, "step"}})
    CHECK_MESSAGE(error_of(solver).find("/cells/mine/solver/" + key + ": ") != std::string::npos,
                  error_of(solver));
}

}  // namespace
}  // namespace lagtape
