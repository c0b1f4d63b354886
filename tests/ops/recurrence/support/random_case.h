#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lagtape/core/random.h"
#include "lagtape/tests/ops/recurrence/support/sequence_case.h"

namespace lagtape::test {

/// Limits on the size of random cases.
struct CaseLimits {
  std::int64_t steps = 40;
  std::int64_t rows = 9;
  std::int64_t width = 20;
  int layers = 3;
  int values = 40;          ///< values of a step after which no further operation is begun
  bool reversible = false;  ///< states on the grid that can be undone
};

/// A random step: one to three states of different shapes, their lags (whole and real), products in several
/// sequential levels, every operation of the step language, draws, the step index. Values stay of order one
/// and away from kinks and poles, so that central differences apply. `steps` is the length that lags are
/// chosen around.
StepProgram random_step(RandomStream& random, std::int64_t input_width, std::int64_t steps,
                        const CaseLimits& limits);

/// The same with states on the grid that can be undone, without lags.
StepProgram random_coupled_step(RandomStream& random, std::int64_t input_width, const CaseLimits& limits);

/// A step without states, from `input_width` to a vector.
StepProgram random_readout(RandomStream& random, std::int64_t input_width, std::int64_t output_width);

/// A random stack in f64 with numbers for all of it: weights, inputs, lengths, targets, initial windows,
/// draws. Equal seeds give equal cases. The numbers beyond a row's length are large, and nothing may read
/// them.
SequenceCase random_case(std::uint64_t seed, const CaseLimits& limits = {});

/// Numbers for a stack: weights, rows x steps of input, targets, a draw key; every row is as long as the
/// batch, in training, and starts from zeros.
SequenceCase filled(StackDefinition stack, std::int64_t rows, std::int64_t steps, std::uint64_t seed);
/// Random windows before the first step.
void add_initial(SequenceCase& c, std::uint64_t seed);
/// Random lengths. The numbers beyond them are large, and nothing may read them.
void add_lengths(SequenceCase& c, std::uint64_t seed);

/// Numbers for the weights of a program: lags between whole numbers or beyond their ends, weights named s..
/// away from zero, others of the size of U(-1/sqrt(n), 1/sqrt(n)).
std::vector<Tensor> random_weights(RandomStream& random, const StepProgram& program);
Tensor random_tensor(RandomStream& random, Shape shape, double scale);

/// Calls check(seed) for the seeds 1..count, for a tenth of them where the environment has LAGTAPE_FEW_SEEDS, or only for
/// the one of the option -rs=SEED. A text that is not empty fails the test `name`, with the command that runs that case
/// again; so does an exception.
void for_each_seed(const std::string& name, std::uint64_t count,
                   const std::function<std::string(std::uint64_t)>& check);

}  // namespace lagtape::test
