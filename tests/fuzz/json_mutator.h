#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "lagtape/core/json/json.h"

namespace lagtape {

using Draws = std::minstd_rand;

/// A number that readers may stumble over: 0, -1, 1.5, 10^3 .. 10^12, the limits of types.
Json odd_number(Draws& draws);

/// Changes a few values of a document: a number becomes an odd one, a value is removed, copied or put elsewhere.
void mutate(Json& document, Draws& draws);

/// Bytes that stand for a document, mutated as one; bytes that are no JSON are mutated as bytes.
std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed);

/// Bytes mutated as libFuzzer does it.
std::size_t mutate_bytes(std::uint8_t* data, std::size_t size, std::size_t most);

/// Puts bytes in the place of others when there is room for them: the new size.
std::size_t replace(std::uint8_t* data, std::size_t size, std::size_t most, const std::string& bytes);

}  // namespace lagtape
