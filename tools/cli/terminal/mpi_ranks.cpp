#include "lagtape/tools/cli/terminal/mpi_ranks.h"

#include <cstdlib>
#include <exception>
#include <string>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/terminal/exit_code.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/cli/terminal/signals.h"

#ifdef LAGTAPE_MPI
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#endif

namespace lagtape::cli {

namespace {

/// The number of processes, from the launchers of Open MPI, MPICH and Slurm.
long launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (const char* value = std::getenv(name); value != nullptr) return std::strtol(value, nullptr, 10);
  return 1;
}

#ifdef LAGTAPE_MPI

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Ranks of MPI_COMM_WORLD. While a rank waits for others it looks whether it was asked to stop: when mpirun loses a
/// process it asks all others, which then do not hear from the lost one.
class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_dup(MPI_COMM_WORLD, &end_);
  }

  /// Whether all ranks come to their end within some seconds. Those that go on wait for this one.
  bool meet() {
    constexpr auto kPatience = std::chrono::seconds(10);
    MPI_Request request;
    MPI_Ibarrier(end_, &request);
    const auto begin = Clock::now();
    for (int done = 0; Clock::now() - begin < kPatience; std::this_thread::yield()) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done) return true;
    }
    return false;
  }

  int rank() const override { return rank_; }
  int count() const override { return count_; }

  void send(int to, std::span<const std::byte> data) override {
    in_pieces(data.size(), [&](std::size_t begin, int size, MPI_Request* request) {
      MPI_Isend(data.data() + begin, size, MPI_BYTE, to, 0, MPI_COMM_WORLD, request);
    });
  }
  void receive(int from, std::span<std::byte> data) override {
    in_pieces(data.size(), [&](std::size_t begin, int size, MPI_Request* request) {
      MPI_Irecv(data.data() + begin, size, MPI_BYTE, from, 0, MPI_COMM_WORLD, request);
    });
  }
  void broadcast(int from, std::span<std::byte> data) override {
    in_pieces(data.size(), [&](std::size_t begin, int size, MPI_Request* request) {
      MPI_Ibcast(data.data() + begin, size, MPI_BYTE, from, MPI_COMM_WORLD, request);
    });
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Starts the transfer of each piece that a count of MPI can express, and waits for it.
  template <class F>
  void in_pieces(std::size_t bytes, F start) {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    for (std::size_t begin = 0; begin < bytes; begin += kMost) {
      MPI_Request request;
      start(begin, static_cast<int>(std::min(kMost, bytes - begin)), &request);
      wait(request);
    }
  }

  void wait(MPI_Request& request) {
    constexpr auto kPatience = std::chrono::milliseconds(500);
    std::optional<Clock::time_point> asked;
    for (int done = 0, tries = 0;; ++tries) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done) return;
      if (tries % 1024 != 1023) continue;
      std::this_thread::yield();
      if (!stop_requested()) continue;
      if (!asked) asked = Clock::now();
      if (Clock::now() - *asked > kPatience)
        throw Error(
            "another rank is lost. The saved state is whole: continue with --resume, on any number of "
            "ranks.");
    }
  }

  int rank_ = 0, count_ = 1;
  MPI_Comm end_ = MPI_COMM_NULL;  ///< where all ranks meet at their end
};

#endif

}  // namespace

void run_among_ranks(const std::function<void(Ranks*)>& work) {
  if (launched_processes() <= 1) return work(nullptr);
#ifdef LAGTAPE_MPI
  MpiRanks ranks;
  std::exception_ptr of_all;
  try {
    work(&ranks);
  } catch (const InputError&) {
    of_all = std::current_exception();
  } catch (const DivergenceError&) {
    of_all = std::current_exception();
  } catch (const Interrupted&) {
    of_all = std::current_exception();
  } catch (const std::exception& error) {
    report(text_of("rank ", ranks.rank(), ": ", error.what()));
    MPI_Abort(MPI_COMM_WORLD, kFailed);
  }
  if (!ranks.meet()) {  // a rank failed alone, as without a file
    if (of_all) report(text_of("rank ", ranks.rank(), ": ", message_of(of_all)));
    MPI_Abort(MPI_COMM_WORLD, kWrongInput);
  }
  MPI_Finalize();
  if (ranks.rank() > 0)
    _exit(kDone);  // mpirun would end the first rank, which speaks for all, if this one failed
  if (of_all) std::rethrow_exception(of_all);
#else
  throw InputError({}, Rule::not_supported,
                   "mpirun started several processes, and this lagtape was built without MPI", {},
                   "Build it with -DLAGTAPE_MPI=ON (Debian: libopenmpi-dev).");
#endif
}

}  // namespace lagtape::cli
