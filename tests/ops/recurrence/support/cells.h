#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape::test {

// Steps that tests name.

StepProgram tau_gru(std::int64_t units, std::int64_t input, std::int64_t tau);
StepProgram delay_gru(std::int64_t units, std::int64_t input, std::int64_t tau);
StepProgram lstm(std::int64_t units, std::int64_t input);
/// y = W x + b
StepProgram linear_readout(std::int64_t input, std::int64_t outputs);

/// One state h [units] and the input x [input], by equations; weights are given as "W1 [units, input]".
StepProgram equations(std::int64_t units, std::int64_t input, const std::vector<std::string>& weights,
                      const std::vector<std::string>& step, const std::string& output = "h'");
/// Several states, "h [units]" each, and real lags, "tau at most 9".
StepProgram equations_of(std::int64_t units, std::int64_t input, const std::vector<std::string>& states,
                         const std::vector<std::string>& weights, const std::vector<std::string>& lags,
                         const std::vector<std::string>& step, const std::string& output);

/// States on the grid: z' = z - s (tanh(w y + V x) + y), y' = y + s z'.
StepProgram oscillators(std::int64_t units, std::int64_t input);

/// Two states of different widths with different lags, three sequential levels of products, an output that is not a
/// state.
StepProgram two_states(std::int64_t units, std::int64_t input, std::int64_t first_lag,
                       std::int64_t second_lag);

}  // namespace lagtape::test
