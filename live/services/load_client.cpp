#include "live/services/load_client.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "sim/base/csv_text.hpp"
#include "sim/error.hpp"

namespace corun::live {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMostAnswerBytes = 64ULL << 20;
constexpr Duration kAskAgain = std::chrono::milliseconds{20};

}  // namespace

std::string_view name_of(RequestEnd end) {
  constexpr std::array<std::string_view, kRequestEnds> kNames{"answered", "error", "timeout",
                                                              "lost", "unanswered"};
  return kNames.at(static_cast<std::size_t>(end));
}

std::uint64_t SentLoad::count() const {
  std::uint64_t all = 0;
  for (const std::uint64_t n : ends) all += n;
  return all;
}

std::string SentLoad::unanswered() const {
  if (answered() == count()) return "";
  std::string text =
      fmt::format("{} of {} requests were not answered", count() - answered(), count());
  const char* mark = ": ";
  for (std::size_t e = 1; e < kRequestEnds; ++e) {
    if (ends.at(e) == 0) continue;
    text += fmt::format("{}{} {}", mark, ends.at(e), name_of(static_cast<RequestEnd>(e)));
    if (static_cast<RequestEnd>(e) == RequestEnd::kError && last_error != 0) {
      text += fmt::format(" (HTTP {})", last_error);
    }
    mark = ", ";
  }
  return text;
}

std::string latency_csv(const SentLoad& load) {
  std::string text = "request,sent_s,latency_ms,state\n";
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const LiveRequest& r = load.requests[i];
    text += fmt::format("{},{},{},{}\n", i + 1, csv_number(to_seconds(r.due)),
                        csv_number(static_cast<double>(r.latency.count()) / 1e6), name_of(r.end));
  }
  return text;
}

/// Works in a thread of its own, which alone touches what is below the thread.
class LoadClient::Sender {
 public:
  Sender(const LiveService& service, int port, std::uint64_t entity)
      : service_(service),
        entity_(entity),
        server_(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)),
        changed_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        timer_(io_) {
    if (changed_ < 0) throw DeviceError("no descriptor is left for a load generator");
    request_.method(service.body ? http::verb::post : http::verb::get);
    request_.target(service.path);
    request_.version(11);
    request_.set(http::field::host, fmt::format("127.0.0.1:{}", port));
    request_.set(http::field::user_agent, "corun");
    if (service.body) {
      request_.set(http::field::content_type, "application/json");
      request_.body() = *service.body;
    }
    request_.prepare_payload();
  }
  ~Sender() {
    abort();
    close(changed_);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void start() {
    asio::post(io_, [this] {
      ready_by_ = Clock::now() + service_.ready;
      ask();
    });
    // Signals are for the main thread, whose waits they end.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] {
      const auto work = asio::make_work_guard(io_);
      io_.run();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  void begin(bool once) {
    asio::post(io_, [this, once] {
      if (phase_ != Phase::kReady) return;
      source_.emplace(service_, entity_, once);
      once_ = once;
      began_ = Clock::now();
      enter(Phase::kLoading);
      send_due();
    });
  }
  void end() {
    asio::post(io_, [this] {
      if (phase_ != Phase::kLoading || ending_) return;
      load_.span = Clock::now() - began_;
      stop_sending();
    });
  }
  void abort() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Phase phase() const { return phase_; }
  int descriptor() const { return changed_; }
  void seen() const {
    std::uint64_t changes = 0;
    [[maybe_unused]] const ssize_t got = read(changed_, &changes, sizeof changes);
  }

  SentLoad take() {
    abort();
    if (phase_ == Phase::kLoading && load_.span == Duration::zero()) {
      load_.span = Clock::now() - began_;
    }
    load_.whole = phase_ == Phase::kOver && load_.failure.empty();
    for (LiveRequest& r : load_.requests) {
      const auto at = static_cast<std::size_t>(r.end);
      ++load_.ends.at(at);
      if (r.end == RequestEnd::kUnanswered) r.latency = std::max(Duration{0}, load_.span - r.due);
      if (r.end != RequestEnd::kAnswered) continue;
      load_.latency.add(r.latency);
      load_.within += r.latency <= service_.goal ? 1 : 0;
    }
    return std::move(load_);
  }

 private:
  /// One connection to the server. It has one request at a time.
  struct Connection {
    explicit Connection(asio::io_context& io) : stream(io) {}
    beast::tcp_stream stream;
    beast::flat_buffer buffer;
    std::optional<http::response_parser<http::string_body>> parser;
    bool used = false;  ///< it has carried a request before this one
  };

  /// How a request ended. `status`: of HTTP, 0 without an answer.
  struct Answer {
    RequestEnd end = RequestEnd::kLost;
    int status = 0;
    std::string why;  ///< of kLost
  };

  static std::string words(const Answer& answer) {
    switch (answer.end) {
      case RequestEnd::kError:
        return answer.status == 0 ? "it answers something else than HTTP"
                                  : fmt::format("it answers HTTP {}", answer.status);
      case RequestEnd::kTimeout:
        return "it takes connections and does not answer";
      default:
        return answer.why;
    }
  }

  using Done = std::function<void(const Answer&)>;

  void enter(Phase phase) {
    phase_ = phase;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = write(changed_, &one, sizeof one);
  }

  void fail(const std::string& why) {
    if (phase_ == Phase::kOver) return;
    load_.failure = why;
    if (phase_ == Phase::kLoading && load_.span == Duration::zero()) {
      load_.span = Clock::now() - began_;
    }
    enter(Phase::kOver);
    io_.stop();
  }

  // ---- one request --------------------------------------------------------------------------------

  /// Sends a request on an idle connection or a new one, and calls `done` when it has ended.
  void exchange(Clock::time_point deadline, Done done) {
    std::shared_ptr<Connection> connection;
    if (idle_.empty()) {
      connection = std::make_shared<Connection>(io_);
    } else {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    exchange_on(connection, deadline, std::move(done));
  }

  void exchange_on(const std::shared_ptr<Connection>& connection, Clock::time_point deadline,
                   Done done) {
    connection->stream.expires_at(deadline);
    connection->parser.reset();
    if (connection->used) {
      write_on(connection, deadline, std::move(done));
      return;
    }
    connection->stream.async_connect(
        server_, [this, connection, deadline, done = std::move(done)](beast::error_code error) {
          if (error) {
            ended(connection, error, deadline, done);
            return;
          }
          beast::error_code ignored;
          connection->stream.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
          write_on(connection, deadline, done);
        });
  }

  void write_on(const std::shared_ptr<Connection>& connection, Clock::time_point deadline,
                Done done) {
    http::async_write(
        connection->stream, request_,
        [this, connection, deadline, done = std::move(done)](beast::error_code error, std::size_t) {
          if (error) {
            ended(connection, error, deadline, done);
            return;
          }
          connection->parser.emplace();
          connection->parser->body_limit(kMostAnswerBytes);
          http::async_read(
              connection->stream, connection->buffer, *connection->parser,
              [this, connection, deadline, done](beast::error_code failed, std::size_t) {
                ended(connection, failed, deadline, done);
              });
        });
  }

  void ended(const std::shared_ptr<Connection>& connection, beast::error_code error,
             Clock::time_point deadline, const Done& done) {
    Answer answer;
    if (!error) {
      answer.status = connection->parser->get().result_int();
      const bool well = answer.status >= 200 && answer.status < 300;
      answer.end = well ? RequestEnd::kAnswered : RequestEnd::kError;
      if (connection->parser->keep_alive()) {
        connection->used = true;
        connection->stream.expires_never();
        idle_.push_back(connection);
      }
    } else if (error == beast::error::timeout) {
      answer.end = RequestEnd::kTimeout;
    } else if (connection->used && !(connection->parser && connection->parser->got_some())) {
      // The server has closed a connection that was idle, as it may: the request is sent on a new one.
      exchange_on(std::make_shared<Connection>(io_), deadline, done);
      return;
    } else if (error.category() == http_category() && error != http::error::end_of_stream &&
               error != http::error::partial_message) {
      answer.end = RequestEnd::kError;  // no HTTP
    } else {
      answer.why = error.message();
    }
    done(answer);
  }

  static const boost::system::error_category& http_category() {
    return http::make_error_code(http::error::bad_version).category();
  }

  // ---- until the server answers -------------------------------------------------------------------

  void ask() {
    const auto now = Clock::now();
    if (now >= ready_by_) {
      fail(fmt::format("the server did not answer within {:g} s (service.ready_s): {}",
                       to_seconds(service_.ready), refusal_));
      return;
    }
    exchange(ready_by_, [this](const Answer& answer) {
      if (answer.end == RequestEnd::kAnswered) {
        enter(Phase::kReady);
        return;
      }
      // The time may be over while a request is open: that says less than an earlier answer.
      if (answer.end != RequestEnd::kTimeout || !has_refused_) refusal_ = words(answer);
      has_refused_ |= answer.end == RequestEnd::kError;
      timer_.expires_after(kAskAgain);
      timer_.async_wait([this](beast::error_code error) {
        if (!error) ask();
      });
    });
  }

  // ---- the load -----------------------------------------------------------------------------------

  /// Sends what is due, and waits for the next request.
  void send_due() {
    for (;;) {
      if (at_ == pending_.size()) {
        pending_.resize(kPiece);
        pending_.resize(source_->next(pending_));
        at_ = 0;
      }
      if (pending_.empty()) {
        if (!once_) return;  // a load of nothing, until end()
        // The load lasts until its end, not only until its last request.
        wait_until(service_.load.end, [this] {
          load_.span = service_.load.end;
          stop_sending();
        });
        return;
      }
      const Time due = pending_[at_];
      const Duration late = Clock::now() - began_ - due;
      if (late < Duration::zero()) {
        wait_until(due, [this] { send_due(); });
        return;
      }
      ++at_;
      load_.latest = std::max(load_.latest, late);
      if (open_ >= service_.most_open) {
        fail(
            fmt::format("{} requests were open after {:.1f} s (service.open): the server is slower "
                        "than its load",
                        open_, to_seconds(due)));
        return;
      }
      if (load_.requests.size() >= kMostLiveRequests) {
        fail(fmt::format("the load has more than {} requests; lower its rate or its length",
                         kMostLiveRequests));
        return;
      }
      send(due);
    }
  }

  void send(Time due) {
    const std::size_t number = load_.requests.size();
    load_.requests.push_back({due, Duration{0}, RequestEnd::kUnanswered});
    ++open_;
    exchange(began_ + due + service_.timeout, [this, number](const Answer& answer) {
      LiveRequest& request = load_.requests[number];
      request.latency = Clock::now() - began_ - request.due;
      request.end = answer.end;
      if (answer.end == RequestEnd::kError) load_.last_error = answer.status;
      --open_;
      finish_if_done();
    });
  }

  void wait_until(Time due, std::function<void()> then) {
    timer_.expires_at(began_ + due);
    timer_.async_wait([this, then = std::move(then)](beast::error_code error) {
      if (!error && !ending_) then();
    });
  }

  void stop_sending() {
    ending_ = true;
    timer_.cancel();
    finish_if_done();
  }

  void finish_if_done() {
    if (!ending_ || open_ > 0 || phase_ != Phase::kLoading) return;
    enter(Phase::kOver);
    io_.stop();
  }

  static constexpr std::size_t kPiece = 256;

  const LiveService& service_;
  std::uint64_t entity_;
  asio::ip::tcp::endpoint server_;
  int changed_;
  std::atomic<Phase> phase_{Phase::kWaiting};
  asio::io_context io_{1};
  std::thread thread_;

  asio::steady_timer timer_;
  http::request<http::string_body> request_;
  std::vector<std::shared_ptr<Connection>> idle_;
  Clock::time_point ready_by_;
  std::string refusal_ = "nothing listens on its port";
  bool has_refused_ = false;  ///< by an answer
  std::optional<RepeatedRequests> source_;
  bool once_ = true;
  Clock::time_point began_;
  std::vector<Time> pending_;  ///< the next requests, from at_ on
  std::size_t at_ = 0;
  int open_ = 0;
  bool ending_ = false;  ///< no request is to be sent any more
  SentLoad load_;
};

LoadClient::LoadClient(const LiveService& service, int port, std::uint64_t entity)
    : sender_(std::make_unique<Sender>(service, port, entity)) {}
LoadClient::~LoadClient() = default;
void LoadClient::start() { sender_->start(); }
void LoadClient::begin(bool once) { sender_->begin(once); }
void LoadClient::end() { sender_->end(); }
void LoadClient::abort() { sender_->abort(); }
LoadClient::Phase LoadClient::phase() const { return sender_->phase(); }
int LoadClient::descriptor() const { return sender_->descriptor(); }
void LoadClient::seen() const { sender_->seen(); }
SentLoad LoadClient::take() { return sender_->take(); }

}  // namespace corun::live
