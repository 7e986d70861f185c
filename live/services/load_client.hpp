#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/services/live_service.hpp"
#include "services/latency_record.hpp"

/// The load generator of live mode: sends a service's requests to its server when they are due, and keeps what became of
/// each. A request does not wait for the answers to those before it (an open loop): its latency counts from the time
/// at which it is due, so that a slow server does not hide its own queue.
namespace corun::live {

enum class RequestEnd : std::uint8_t {
  kAnswered,    ///< HTTP status 200 to 299, whole, in time
  kError,       ///< another HTTP status, or no HTTP
  kTimeout,     ///< no whole answer within LiveService::timeout
  kLost,        ///< the connection broke, or could not be made
  kUnanswered,  ///< still open when the run was stopped
};
inline constexpr std::size_t kRequestEnds = 5;
std::string_view name_of(RequestEnd end);

struct LiveRequest {
  Time due{0};          ///< since the load's start
  Duration latency{0};  ///< from `due` to its end
  RequestEnd end = RequestEnd::kUnanswered;
};

/// A load that was sent, and what became of it.
struct SentLoad {
  std::vector<LiveRequest>
      requests;  ///< in the order of `due`; may be dropped once they are written
  std::array<std::uint64_t, kRequestEnds> ends{};  ///< requests by RequestEnd
  LatencyRecord latency;                           ///< of those that were answered
  std::uint64_t within = 0;                        ///< answered within the goal
  Duration span{0};                                ///< in which they were due
  Duration latest{0};   ///< the longest time from `due` to the sending: corun's own lateness
  std::string failure;  ///< why corun gave the load up; empty: it did not
  bool whole = false;   ///< it was sent to its end, and all requests ended

  std::uint64_t count() const;
  std::uint64_t answered() const { return ends[0]; }
  /// "3 of 200 requests were not answered: 2 timeout, 1 error (HTTP 500)"; empty if all were.
  std::string unanswered() const;
  int last_error = 0;  ///< HTTP status of the last one with kError; 0: none
};

/// request,sent_s,latency_ms,state: a row for each request, in the order of `sent_s`, the time at which it was due.
std::string latency_csv(const SentLoad& load);

class LoadClient {
 public:
  enum class Phase : std::uint8_t {
    kWaiting,  ///< for the first answer
    kReady,    ///< the server has answered; the load may begin
    kLoading,
    kOver,  ///< sent, and every request has ended; or failed
  };

  /// `service` must outlive it. Sends nothing before start().
  LoadClient(const LiveService& service, int port, std::uint64_t entity);
  /// Ends as abort() does.
  ~LoadClient();
  LoadClient(const LoadClient&) = delete;
  LoadClient& operator=(const LoadClient&) = delete;

  /// Asks the server again and again until it answers (kReady) or LiveService::ready has passed (kOver).
  void start();
  /// In kReady: sends one round of the load, or rounds until end().
  void begin(bool once);
  /// No further requests; those that are open are waited for.
  void end();
  /// Leaves open requests unanswered.
  void abort();

  Phase phase() const;
  /// Readable when phase() has changed; seen() makes it wait for the next change.
  int descriptor() const;
  void seen() const;
  /// In kOver, or after abort(); once.
  SentLoad take();

 private:
  class Sender;
  std::unique_ptr<Sender> sender_;
};

}  // namespace corun::live
