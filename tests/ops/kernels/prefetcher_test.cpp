#include "lagtape/ops/kernels/prefetcher.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace lagtape;

namespace {

constexpr std::int64_t kLine = 64;

std::uintptr_t address(const char* at) { return reinterpret_cast<std::uintptr_t>(at); }

/// The lines that so many spans of so many turns touch, counted from `memory`, without the line at `near`.
std::set<std::int64_t> lines_of(Prefetcher& prefetcher, std::int64_t spans, std::int64_t turns,
                                const char* memory, const char* near) {
  std::set<std::int64_t> lines;
  for (std::int64_t s = 0; s < spans; ++s) {
    const Prefetcher::Span span = prefetcher.next(turns, near);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      const std::uintptr_t at = span.at + static_cast<std::uintptr_t>(turn) * span.step;
      if (at != address(near)) lines.insert(static_cast<std::int64_t>(at - address(memory)) / kLine);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("prefetcher: every line of every piece, and no other, when the turns suffice") {
  alignas(64) static char memory[1 << 16];
  const char near = 0;
  for (const std::int64_t rows : {2, 12, 13}) {
    for (const std::int64_t count : {1, 5, 6, 7}) {
      for (const std::int64_t turns : {16, 64, 256}) {
        CAPTURE(rows);
        CAPTURE(count);
        CAPTURE(turns);
        std::vector<Piece> pieces;
        std::set<std::int64_t> wanted;
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t first = 128 * i, lines = 8 * rows;
          pieces.push_back({memory + first * kLine, lines * kLine});
          for (std::int64_t j = 0; j < lines; ++j) wanted.insert(first + j);
        }
        const std::int64_t spans = count * ((8 * rows + turns - 1) / turns + 1);
        Prefetcher prefetcher(pieces.data(), count, spans);
        CHECK(lines_of(prefetcher, spans, turns, memory, &near) == wanted);
        CHECK(prefetcher.next(turns, &near).at == address(&near));
        CHECK(prefetcher.next(turns, &near).step == 0);
      }
    }
  }
}

TEST_CASE("prefetcher: too few turns leave lines out and overshoot nothing") {
  alignas(64) static char memory[1 << 14];
  const char near = 0;
  const Piece piece{memory, 104 * kLine};
  Prefetcher prefetcher(&piece, 1, 2);
  const auto lines = lines_of(prefetcher, 2, 40, memory, &near);
  CHECK(lines.size() == 80);
  CHECK(*lines.rbegin() < 104);
}

TEST_CASE("prefetcher: more pieces than spans are prefetched as far as the spans go") {
  alignas(64) static char memory[1 << 14];
  const char near = 0;
  const Piece pieces[] = {
      {memory, 4 * kLine}, {memory + 64 * kLine, 4 * kLine}, {memory + 128 * kLine, 4 * kLine}};
  Prefetcher prefetcher(pieces, 3, 2);
  CHECK(lines_of(prefetcher, 2, 8, memory, &near) == std::set<std::int64_t>{0, 1, 2, 3, 64, 65, 66, 67});
}
