// Measures the time to send messages between processes, and to add gradients. Two or more ranks:
//
//     mpicxx -O3 -march=native messages.cpp -o messages && mpirun -n 2 messages GRADIENT_BYTES
//
// prints one line of JSON with medians: `latency_us`, of a small message; `gb_per_second`, of a 64 KiB message
// after the latency; `allreduce_us`, MPI's own sum of that many f32 bytes over the ranks, for comparison; and
// `adding_gb_per_second`, the rate at which a processor adds one gradient to another.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

template <class Work>
double median_us(int repeats, const Work& work) {
  std::vector<double> times;
  for (int i = -repeats / 10; i < repeats; ++i) {  // the first are not timed
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (i >= 0) times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// Half of the round-trip time between ranks 0 and 1.
double message_us(int rank, int bytes) {
  std::vector<char> data(bytes);
  return median_us(2000,
                   [&] {
                     const auto send = [&](int to) {
                       MPI_Send(data.data(), bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
                     };
                     const auto receive = [&](int from) {
                       MPI_Recv(data.data(), bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                     };
                     if (rank == 0) {
                       send(1);
                       receive(1);
                     } else if (rank == 1) {
                       receive(0);
                       send(0);
                     }
                   }) /
         2;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks < 2) {
    if (rank == 0) std::fputs("usage: mpirun -n 2 messages GRADIENT_BYTES\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  constexpr int kPiece = 65536;
  const int count = std::atoi(argv[1]) / static_cast<int>(sizeof(float));
  std::vector<float> mine(count, 1.0F), all(count);
  const double latency = message_us(rank, 8), piece = message_us(rank, kPiece);
  const double allreduce = median_us(
      300, [&] { MPI_Allreduce(mine.data(), all.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  const double adding = median_us(300, [&] {
    for (int i = 0; i < count; ++i) all[i] += mine[i];
    asm volatile("" : : "r"(all.data()) : "memory");  // treats the sums as used
  });
  if (rank == 0)
    std::printf(
        "{\"latency_us\": %.4f, \"gb_per_second\": %.4f, \"allreduce_us\": %.3f, \"adding_gb_per_second\": "
        "%.3f}\n",
        latency, 1e-3 * kPiece / (piece - latency), allreduce, 1e-3 * sizeof(float) * count / adding);
  MPI_Finalize();
  return 0;
}
