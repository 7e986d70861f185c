#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/arrivals.hpp"
#include "services/load.hpp"
#include "sim/time.hpp"

/// A workload that is a service: a server of HTTP/1.1 on a loopback port, and the requests that corun sends to it.
namespace corun::live {

struct LiveService {
  std::optional<int> port;  ///< of 127.0.0.1; nullopt: corun chooses a free one
  std::string path = "/";
  std::optional<std::string> body;  ///< sent as JSON by POST; nullopt: GET
  RequestLoad load;                 ///< from 0 to `seconds`, if `trace` is empty
  std::vector<Time> trace;          ///< arrivals from 0 to load.end
  std::string trace_file;           ///< empty: the load is one of rates
  Spacing spacing = Spacing::kPoisson;
  std::uint64_t seed = 1;
  Duration goal{0};        ///< of a request's latency
  double percentile = 99;  ///< share of the requests that should be within it [%]
  Duration timeout = std::chrono::seconds{10};  ///< of a request, from its arrival
  Duration ready = std::chrono::seconds{60};    ///< from the server's start to its first answer
  int most_open = 256;                          ///< requests without an answer at a time
};

/// Requests of a run that corun keeps in memory at most.
inline constexpr std::uint64_t kMostLiveRequests = 10'000'000;

/// The requests of a service, over and over: round r has those of the load, r times its length later. Each round draws
/// anew; a trace is repeated. The draws depend on the service's seed and `entity` alone.
class RepeatedRequests final : public RequestSource {
 public:
  /// `service` must outlive it. `once`: one round.
  RepeatedRequests(const LiveService& service, std::uint64_t entity, bool once);
  std::size_t next(std::span<Time> out) override;

 private:
  std::size_t next_of_round(std::span<Time> out);

  const LiveService& service_;
  std::uint64_t entity_;
  bool once_;
  std::uint64_t round_ = 0;
  std::optional<LoadRequests> drawn_;
  std::size_t traced_ = 0;  ///< requests of the trace in this round
};

/// A port of 127.0.0.1 on which nothing listens: `asked`, or one that the system chooses. Throws InputError at `place` if
/// `asked` is in use, DeviceError if there is none.
int free_port(std::optional<int> asked, const std::string& place);

}  // namespace corun::live
