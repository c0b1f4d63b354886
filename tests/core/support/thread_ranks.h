#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "lagtape/core/ranks.h"

namespace lagtape::test {

/// Ranks that are threads of this process.
class ThreadRanks {
 public:
  /// Calls work(rank) in a thread for each rank; rethrows what the first of them threw.
  static void run(int count, const std::function<void(Ranks&)>& work) {
    Mail mail;
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
    for (int rank = 0; rank < count; ++rank)
      threads.emplace_back([&, rank] {
        Own own(mail, rank, count);
        try {
          work(own);
        } catch (...) {
          failures[static_cast<std::size_t>(rank)] = std::current_exception();
          mail.lose();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

 private:
  /// Messages sent and not received yet, by sender and receiver.
  class Mail {
   public:
    void put(int from, int to, std::span<const std::byte> data) {
      {
        const std::lock_guard lock(mutex_);
        boxes_[{from, to}].emplace_back(data.begin(), data.end());
      }
      changed_.notify_all();
    }
    void take(int from, int to, std::span<std::byte> data) {
      std::unique_lock lock(mutex_);
      auto& box = boxes_[{from, to}];
      changed_.wait(lock, [&] { return lost_ || !box.empty(); });
      if (box.empty()) throw std::runtime_error("another rank is lost");
      if (box.front().size() != data.size())
        throw std::runtime_error("ranks differ in what they tell each other");
      if (!data.empty()) std::memcpy(data.data(), box.front().data(), data.size());
      box.pop_front();
    }
    void lose() {
      {
        const std::lock_guard lock(mutex_);
        lost_ = true;
      }
      changed_.notify_all();
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes_;
    bool lost_ = false;
  };

  class Own final : public Ranks {
   public:
    Own(Mail& mail, int rank, int count) : mail_(mail), rank_(rank), count_(count) {}
    int rank() const override { return rank_; }
    int count() const override { return count_; }
    void send(int to, std::span<const std::byte> data) override { mail_.put(rank_, to, data); }
    void receive(int from, std::span<std::byte> data) override { mail_.take(from, rank_, data); }
    void broadcast(int from, std::span<std::byte> data) override {
      if (rank_ != from) return receive(from, data);
      for (int to = 0; to < count_; ++to)
        if (to != from) send(to, data);
    }

   private:
    Mail& mail_;
    int rank_, count_;
  };
};

}  // namespace lagtape::test
