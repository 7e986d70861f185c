# The labels of the GoogleTest cases; README.md says what each means. ctest reads this file whenever
# it starts (TEST_INCLUDE_FILES), when <binary>_TESTS lists the cases of each binary.

cmake_policy(VERSION 3.25)

# label(LABEL BINARY CASE): CASE as --gtest_filter takes it, of which only * has a meaning here. A
# case that is not there is an error, so no line outlives its test.
macro(label name binary case)
  string(REPLACE "." "\\." pattern "${case}")
  string(REPLACE "*" ".*" pattern "${pattern}")
  set(found ${${binary}_TESTS})
  list(FILTER found INCLUDE REGEX "^${pattern}$")
  if(${binary}_TESTS AND NOT found)
    message(SEND_ERROR "labels.cmake: ${binary} has no case '${case}'")
  endif()
  foreach(test IN LISTS found)
    list(APPEND labels_of_${test} ${name})
  endforeach()
endmacro()

label(golden experiments_test Goldens.*)

label(live live_test *)

# What a GPU computes, on an emulation of one and on the GPU itself where there is one.
label(gpu models_test Scoring.*)
label(gpu models_test Sizes/ScoringParity.*)
label(gpu models_test LearnedKernels.*)
label(gpu models_test GpKernels.*)
label(gpu models_test TreesKernels.*)
label(gpu workloads_test *)

# The published experiments, and how well models predict the public measurements.
label(study experiments_test EnsembleAccuracy.*)
label(study experiments_test GavelPeers.*)
label(study experiments_test Published/GavelPeers.*)
label(study experiments_test Cases/LucidWith*)
label(study experiments_test RegenerationStudy.*)

# Threads of the program share data here.
label(threads sim_test ParallelFor.*)
label(threads policies_test External.*)
label(threads policies_test ExternalFamily.*)
label(threads models_test BoostedTrees.OneSeedOneModelWhateverTheThreads)
label(threads models_test Catalogue/EveryModel.SameBytesOnAnyNumberOfThreads/*)
label(threads models_test FactorModel.SameBytesForAnyNumberOfThreadsAndAgain)
label(threads models_test FeatureRanking.RepeatsForAnyNumberOfThreads)
label(threads models_test Forest.SearchDoesNotDependOnThreads)
label(threads models_test Campaigns.SameBytesAtAnyNumberOfThreads)
label(threads models_test LowRank.*)
label(threads models_test Sizes/ScoringParity.*/0)
label(threads models_test Sizes/ScoringParity.*/1)
label(threads experiments_test InputCache.*)
label(threads experiments_test RecentValues.*)
label(threads experiments_test SharedFits.*)
label(threads models_test RememberedPredictions.*)
label(threads sweep_test Sweep.*)
label(threads sweep_test SweepCommand.*)
label(threads experiments_test Experiment.*)
label(threads experiments_test FileLock.*)
label(threads experiments_test PairEvaluation.SameBytesOnAnyNumberOfThreads)
label(threads experiments_test Replay.*)
label(threads experiments_test ResultsTest.*)
label(threads experiments_test WorldComparison.*)
label(threads live_test Live.*)
label(threads live_test LiveSession.*)
label(threads live_test Supervisor.*)

# Seconds in a release build, minutes under a sanitizer, on paths that quicker cases cover as well.
# A chain of ten thousand draws, many runs of the program, the script that fits what comes with it:
label(slow models_test FactorModel.CopiesOfAChainAgreeMoreFromSeedToSeed)
label(slow models_test FactorModel.IntervalsHoldWhatTheyPromise)
label(slow models_test GibbsChain.LeavesTheJointDistributionAsItIs)
label(slow policies_test ExternalPairs.TheLimitIsOneOfTheTurn)
label(slow experiments_test PrefittedModel.TheScriptMakesItsBytes)
label(slow experiments_test OutputFile.IsReplacedByTheSameAloneInEveryCommand)
label(slow experiments_test MixedTypes.*)
label(slow experiments_test PrintedText.NoOptionOfAnyCommandPassesControlCharactersOn)
# Models fitted again and again:
label(slow models_test BoostedTrees.IntervalsHoldWhatTheyPromise)
label(slow experiments_test EnsembleAccuracy.*)
label(slow experiments_test KbEval.MemoryAccessTellsMostOfUtilisation)
label(slow experiments_test ModelCommand.CrossValidatesTables)
label(slow experiments_test ModelCommand.EvalIsACheck)
label(slow experiments_test ModelCommand.PredictsHeldOutPairsOfLucid)
label(slow experiments_test PairEvaluation.LearningCurvesAndProbesAreDealtAsAsked)
# Kernels emulated on the processor, a fiber per thread:
label(slow workloads_test WorkloadKernels.ResultsDependOnTheSeedAlone)

foreach(binary IN LISTS gtest_binaries)
  foreach(test IN LISTS ${binary}_TESTS)
    set(labels ${labels_of_${test}})
    if(NOT labels MATCHES "golden|live|gpu|study")
      list(APPEND labels unit)
    endif()
    set_tests_properties("${test}" PROPERTIES LABELS "${labels}")
    if(labels MATCHES "slow|live")  # the longest begin first
      set_tests_properties("${test}" PROPERTIES COST 10)
    endif()
  endforeach()
endforeach()
