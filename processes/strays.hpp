#pragma once

/// Processes that became children of corun, a subreaper (prctl(2)), because their guard was killed.
namespace corun::inline processes {

/// Kills and reaps them, and all processes below them.
void clear_strays();

}  // namespace corun::inline processes
