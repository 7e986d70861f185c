#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Notes for the user on an experiment: what was assumed, what is doubtful, what has no effect.
namespace corun::inline runner {

enum class NoteCode : std::uint8_t {
  // Resolution: a value that nobody gave follows from others.
  kNeedOfPolicies,  ///< estimates or profiling, as policies need
  kFallbackChosen,  ///< the default world.fallback cannot be fitted on the table
  kPolicyLeftOut,   ///< a policy of the default comparison cannot place a job
  // Machines and jobs
  kNodesLeftOut,
  kJobsLeftOut,
  kAssumption,            ///< of the reader of a trace
  kUnknownColumns,        ///< of a CSV of jobs
  kDoubtfulUnit,          ///< percentages that look like fractions
  kOneQueue,              ///< virtual clusters of the jobs, none of the cluster
  kOtherGpuTypes,         ///< jobs name GPU types that the cluster does not state
  kZooProfiles,           ///< predicted from models of the zoo
  kMemoryOfMeasurements,  ///< memory demands that jobs lack
  kRunTimes,              ///< where run times alone were measured
  kDrawnProfiles,
  kClusterCentres,
  kMissingProfiles,
  kUnknownMemory,
  kOverload,  ///< more work than the cluster can do without sharing
  // World and belief
  kDoubtfulMeasurements,
  kRatesOfTrace,  ///< they stand in place of those of world.path
  kExtrapolated,
  kMeasuredElsewhere,
  kLearntElsewhere,
  kFewMeasurements,
  kLosesToMean,  ///< a model predicts pairs no better than their mean
  kReducedEffort,
  kUnknownFeatures,      ///< of a model file, that jobs lack
  kUnmeasuredWorkloads,  ///< of jobs
  kOverrides,            ///< of clusters of jobs
  // Policies and control
  kBlindToSpeeds,
  kDifferentPlacement,
  kFreePreemption,
  kTicks,
  kNoEffect,  ///< a setting changes nothing; the subject is its key, or "PARAMETER of POLICY"
};

struct Note {
  NoteCode code{};
  std::string subject;  ///< the key, file or policies that it is about; empty: the jobs
  std::string text;     ///< one sentence, without a full stop

  friend bool operator==(const Note&, const Note&) = default;
};

using Notes = std::vector<Note>;

/// Appends a note, unless its text is empty.
inline void add_note(Notes& notes, NoteCode code, std::string subject, std::string text) {
  if (!text.empty()) notes.push_back({code, std::move(subject), std::move(text)});
}

inline void append(Notes& notes, const Notes& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

/// The first note with this code; nullptr: none.
inline const Note* find_note(const Notes& notes, NoteCode code) {
  const auto at = std::ranges::find(notes, code, &Note::code);
  return at == notes.end() ? nullptr : &*at;
}

inline std::vector<std::string> texts_of(const Notes& notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes) texts.push_back(note.text);
  return texts;
}

}  // namespace corun::inline runner
