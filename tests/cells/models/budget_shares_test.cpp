#include "lagtape/cells/models/budget_shares.h"

#include <doctest/doctest.h>

using namespace lagtape;

namespace {

using Shares = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("bytes are shared in proportion to what is wanted") {
  CHECK(shares_of(600, std::vector<Need>{{1000, 10}, {2000, 10}, {3000, 10}}) == Shares{100, 200, 300});
}

TEST_CASE("an operation that cannot run with its share gets its minimum, and the others the rest") {
  CHECK(shares_of(600, std::vector<Need>{{1000, 300}, {2000, 10}, {1000, 10}}) == Shares{300, 200, 100});
}

TEST_CASE("a minimum may leave too little for an operation before it, which then gets its minimum, too") {
  CHECK(shares_of(600, std::vector<Need>{{1000, 140}, {1000, 10}, {2000, 350}}) == Shares{140, 110, 350});
}

TEST_CASE("shares are never more than there is, nor less than the least") {
  CHECK(shares_of(100, std::vector<Need>{{70, 40}, {90, 60}}) == Shares{40, 60});
  CHECK(shares_of(10, std::vector<Need>{{7, 0}, {7, 0}, {7, 0}}) == Shares{3, 3, 3});
}
