// A job for a fake box (fake_box.hpp): it registers its use of a GPU and waits; each other user of the GPU
// slows it down. Its modes are the ways in which real jobs misbehave.
//
//   fake_workload BOX SECONDS UTIL MEMORY_MIB MEM_TIME SLOWDOWN_PER_OTHER [MODE...]
//
//   crash         exits with 3 when half of it is done
//   hang          never ends, and ignores SIGTERM
//   clingy        never ends, and ignores SIGTERM, once it has had co-runners; the first of a box ends when
//                 its time is over, the others wait for co-runners
//   oom           finds no memory, prints CUDA's message, exits with 1
//   silent-oom    fills the GPU and exits with 1 without a message
//   daemon        leaves a process behind in a session of its own, by double fork, that ignores SIGTERM
//   fork-bomb     forks as fast as it can, as do its children, and ignores SIGTERM
//   fill          writes to ./filled without end, 1 MiB at a time
//   chatty        writes 3 MiB to stdout
//   rate          prints its steps per second at its end
//   environment   prints its environment
//
// Without a mode it prints "out of memory", too, if the GPU has less free memory than it needs.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/live/run/fake_box.hpp"

namespace {

using Clock = std::chrono::steady_clock;

int out_of_memory() {
  std::fprintf(stderr, "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return 64;
  const std::string box = argv[1];
  const double seconds = std::atof(argv[2]);
  const double slowdown = std::atof(argv[6]);
  corun::test::FakeUse use;
  use.pid = getpid();
  use.util = std::atof(argv[3]);
  use.memory_mib = std::atof(argv[4]);
  use.mem_time = std::atof(argv[5]);
  const auto mode = [&](const char* name) {
    for (int i = 7; i < argc; ++i) {
      if (std::strcmp(argv[i], name) == 0) return true;
    }
    return false;
  };

  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  constexpr const char* kUuid = "GPU-fake-";
  if (visible == nullptr || std::strncmp(visible, kUuid, std::strlen(kUuid)) != 0) return 65;
  use.gpu = std::atoi(visible + std::strlen(kUuid));

  if (mode("environment")) {
    for (char** variable = environ; *variable != nullptr; ++variable) std::puts(*variable);
  }
  if (mode("chatty")) {
    const std::string line(1023, 'x');
    for (int i = 0; i < 3 * 1024; ++i) std::puts(line.c_str());
  }
  if (mode("daemon") && fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    std::signal(SIGTERM, SIG_IGN);
    corun::test::FakeUse own = use;
    own.pid = getpid();
    corun::test::write_fake_use(box, own);
    for (;;) pause();
  }
  if (mode("fork-bomb")) {
    // More processes than the test's limit, but few enough for the machine if the guard fails.
    void* shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* made = new (shared) std::atomic<int>(0);
    std::signal(SIGTERM, SIG_IGN);
    while (made->fetch_add(1) < 500) [[maybe_unused]] const pid_t child = fork();
    for (;;) pause();
  }
  if (mode("fill")) {
    const std::vector<char> block(1 << 20, 'x');
    const int file = open("filled", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (;;) {
      if (write(file, block.data(), block.size()) < 0) return 5;
    }
  }
  const double memory = corun::test::fake_gpus(box)[static_cast<std::size_t>(use.gpu)].memory_mib;
  // Locked: of two jobs that do not fit together, one gets the memory.
  const int lock = open((box + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  flock(lock, LOCK_EX);
  double held = 0;
  for (const auto& other : corun::test::fake_uses(box, use.gpu)) held += other.memory_mib;
  if (mode("oom") || held + use.memory_mib > memory) return out_of_memory();
  if (mode("silent-oom")) use.memory_mib = memory;
  corun::test::write_fake_use(box, use);
  close(lock);
  if (mode("hang")) {
    std::signal(SIGTERM, SIG_IGN);
    for (;;) pause();
  }

  const std::string alone = box + "/was-alone";  // a clingy job has ended
  const bool waits = mode("clingy") && std::filesystem::exists(alone);
  double left_s = seconds * corun::test::fake_slowness(box, use.gpu);
  auto last = Clock::now();
  while (left_s > 0 || waits) {
    usleep(2000);
    const auto now = Clock::now();
    const double passed_s = std::chrono::duration<double>(now - last).count();
    last = now;
    const auto residents = corun::test::fake_uses(box, use.gpu).size();
    if (residents > 1 && mode("clingy")) {
      std::signal(SIGTERM, SIG_IGN);
      for (;;) pause();
    }
    const double others = residents > 1 ? static_cast<double>(residents - 1) : 0;
    left_s -= passed_s / (1 + slowdown * others);
    if (left_s < seconds / 2 && mode("crash")) return 3;
    if (left_s < seconds / 2 && mode("silent-oom")) return 1;
  }
  std::filesystem::remove(box + "/jobs/" + std::to_string(getpid()));
  if (mode("clingy")) std::ofstream{alone};
  if (mode("rate")) std::puts(R"({"event": "end", "steps": 9, "steady_steps_per_s": 24.5})");
  return 0;
}
