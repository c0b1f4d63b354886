#include "lagtape/tools/solve/solved_equations.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tests/core/support/temporary_folder.h"

namespace lagtape {
namespace {

TEST_CASE("times are numbers, a range with both ends, or a column of a file") {
  CHECK(times_of("0,0.5,2") == std::vector<double>{0, 0.5, 2});
  const std::vector<double> range = times_of("0:1:0.1");
  REQUIRE(range.size() == 11);
  CHECK(range[3] == doctest::Approx(0.3));
  CHECK(range.back() == doctest::Approx(1));
  const TemporaryFolder folder;
  write_file_atomically(folder / "a.csv", "x,t\n5,0\n6,0.25\n");
  CHECK(times_of((folder / "a.csv").string()) == std::vector<double>{0, 0.25});
  CHECK_THROWS_AS(times_of("0:1:0"), InputError);
  CHECK_THROWS_AS(times_of("there/is/no/such.csv"), InputError);
}

TEST_CASE("inputs are the columns beside that of ascending times") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "u.csv", "u,time,v\n1,0,2\n3,0.5,4\n");
  const DelayInput input = read_delay_input((folder / "u.csv").string());
  CHECK(input.times == std::vector<double>{0, 0.5});
  CHECK(input.values == std::vector<double>{1, 2, 3, 4});
  write_file_atomically(folder / "u.csv", "u,time\n1,0.5\n3,0\n");
  CHECK_THROWS_AS(read_delay_input((folder / "u.csv").string()), InputError);
}

}  // namespace
}  // namespace lagtape
