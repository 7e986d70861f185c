#include "runner/inputs/public_data_sets.hpp"

#include <array>
#include <filesystem>
#include <system_error>

#include "support/checksum.hpp"

namespace corun::inline runner {
namespace {

constexpr DataSource kAlnairSource{"CentaurusInfra/alnair", "Apache-2.0"};
constexpr DataSource kGavelSource{"stanford-futuredata/gavel", "MIT"};
constexpr DataSource kLucidSource{"S-Lab-System-Group/Lucid",
                                  "S-Lab License 1.0, non-commercial: do not redistribute"};
constexpr DataSource kMisoSource{"boringlee24/socc22-miso", "MIT"};
constexpr DataSource kMuriSource{"Rivendile/Muri", "none stated: do not redistribute"};
constexpr DataSource kOpenbSource{"alibaba/clusterdata",
                                  "none; for study or research (its README)"};
constexpr DataSource kSiaSource{"siasosp23/artifacts", "none stated: do not redistribute"};

constexpr std::array kDataSets = std::to_array<PublicDataSet>({
    {&kAlnairSource, "alnair/alnair_dataset.csv", "open-data/gpu-sharing/Dataset.csv",
     DataOrigin::kPublished, "solo profiles of 49 jobs (PriRecT Table I)",
     "9163c60351e25648a078ffb4e4d68d86c885704bcd137bc7c722180c95faecbd"},
    {&kAlnairSource, "alnair/alnair_clustering_175.csv", "open-data/gpu-sharing/Clustering.7z",
     DataOrigin::kConverted, "175 real and synthetic samples and their clusters (PriRecT)",
     "a7303d62081f4e18323d0110e8d6322649bcff6b9129a627338879c86e30a863"},
    {&kGavelSource, "gavel/simulation_throughputs.json", "scheduler/simulation_throughputs.json",
     DataOrigin::kPublished, "steps/s of 26 types of jobs alone and in pairs, on V100, P100, K80",
     "17111f7295f03265fd9e5118d7eba31e3dd9d6e50a2e215c13ad3d3f91f74381"},
    {&kGavelSource, "gavel/gavel_v100_pairs.csv", "scheduler/simulation_throughputs.json",
     DataOrigin::kDerivedFromGavel, "the same as a table: 351 pairs of one-GPU jobs on a V100",
     "df479828fb1796b984884bbced464623a58383c85e5c9f64fb0f3ac08613dd09"},
    {&kGavelSource, "gavel/gavel_p100_pairs.csv", "scheduler/simulation_throughputs.json",
     DataOrigin::kDerivedFromGavel, "the same as a table: 351 pairs of one-GPU jobs on a P100",
     "d6bb2b01d52440329407cb00a62a39d0174d24419cec492a843ff84dcdd5e83c"},
    {&kGavelSource, "gavel/gavel_k80_pairs.csv", "scheduler/simulation_throughputs.json",
     DataOrigin::kDerivedFromGavel, "the same as a table: 351 pairs of one-GPU jobs on a K80",
     "79bbe3fc35e177e2072d20f38c976519c149e4a08fe1d7c9f12d495bc2fc456f"},
    {&kGavelSource, "gavel/seed_0_0e4a51.trace", "scheduler/traces/msr/seed=0/0e4a51.trace",
     DataOrigin::kPublished, "984 jobs, 7-column form",
     "952a5ca0842149b7a0f2cbfd072acb0f97765f05ef829b4ab71db0752ef08d00"},
    {&kGavelSource, "gavel/seed_0_6214e9.trace", "scheduler/traces/msr/seed=0/6214e9.trace",
     DataOrigin::kPublished, "1,985 jobs with a rate on a V100, 7-column form",
     "4deab594cec0d1400347e2c1e58998c197075b084b7473990d561c0e838f662d"},
    {&kGavelSource, "peers/gavel/trace_0e4a51_1000.csv", "scheduler/traces/msr/seed=0/0e4a51.trace",
     DataOrigin::kConverted, "the same 984 jobs as CSV",
     "ddc61ba063980e17097e00fbacab5c0355c6af2740bf98035771a2f6af333dae"},
    {&kGavelSource, "peers/gavel/trace_0e4a51_200.csv", "scheduler/traces/msr/seed=0/0e4a51.trace",
     DataOrigin::kConverted, "the first 200 of them",
     "38390f359482a22ae1e383209e83ff1b622610a4ac942a41d1e550fd36ea1232"},
    {&kGavelSource, "peers/gavel/trace_6214e9_1000.csv", "scheduler/traces/msr/seed=0/6214e9.trace",
     DataOrigin::kConverted, "1,000 jobs as CSV",
     "dd9078300134c620b3df6f7b2df50d0867344228acaa9dedb0f2ffc39d27b56b"},
    {&kGavelSource, "peers/gavel/trace_medium_test.csv",
     "scheduler/traces/physical_cluster/medium_test.trace", DataOrigin::kConverted,
     "20 jobs as CSV", "e9438e617d8d259e0f5bc1a1de5a5efdc6e68fd9d30500bd2e5aec9b639e736f"},
    {&kGavelSource, "peers/gavel/trace_minimize_makespan_g1.csv",
     "scheduler/traces/physical_cluster/minimize_makespan.trace", DataOrigin::kConverted,
     "71 jobs of one GPU as CSV",
     "8c9a8c87852914dc69c9a0d9b2e98e432c1b9afe7289e415476852890228a370"},
    {&kGavelSource, "peers/gavel/trace_small_test.csv",
     "scheduler/traces/physical_cluster/small_test.trace", DataOrigin::kConverted, "20 jobs as CSV",
     "f79cdd0929035ca9b43183a8a291bfdd8cbeee46e785b90899813fc16d7965c4"},
    {&kGavelSource, "peers/gavel/jct_y_medium_test_fifo_4.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated, "JCT of every job of trace_medium_test.csv by fifo on 4 V100",
     "5b9717d3a0e94693303af927840703338552f47a00a66caebed881e6a0df5bbd"},
    {&kGavelSource, "peers/gavel/jct_y_medium_test_fifo_8.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated, "JCT of every job of trace_medium_test.csv by fifo on 8 V100",
     "6338abb65272d87224b717d732f69677e2e2cb600c000164a8888ef7bd88ac14"},
    {&kGavelSource, "peers/gavel/jct_y_medium_test_fifo_16.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated, "JCT of every job of trace_medium_test.csv by fifo on 16 V100",
     "9d07f757154570aa40a1544e58fa36d4b4d486f2328aa6871959bb25540bfee9"},
    {&kGavelSource, "peers/gavel/jct_y_medium_test_fifo_packed_4.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated, "JCT of every job of trace_medium_test.csv by fifo_packed on 4 V100",
     "d873556d78b30ac3d590b71a408cbaef7ea08712cd2a9f1fa74752b46d02b09f"},
    {&kGavelSource, "peers/gavel/jct_y_medium_test_fifo_packed_8.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated, "JCT of every job of trace_medium_test.csv by fifo_packed on 8 V100",
     "493a1b10ab3c39c874633ce9eeb7c947b10b3bf0093e61d75821172f7889162c"},
    {&kGavelSource, "peers/gavel/jct_y_medium_test_fifo_packed_16.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated, "JCT of every job of trace_medium_test.csv by fifo_packed on 16 V100",
     "663c8fa426b0826c021c72e332b5aa4b764a4f5592f20443d4821918fd0e6e26"},
    {&kGavelSource, "peers/gavel/jct_y_minimize_makespan_g1_fifo_4.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated, "JCT of every job of trace_minimize_makespan_g1.csv by fifo on 4 V100",
     "f5060d3745f79e1c0e8633048a709e867c6791dcdd295d370ee7f5d641aed262"},
    {&kGavelSource, "peers/gavel/jct_y_minimize_makespan_g1_fifo_8.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated, "JCT of every job of trace_minimize_makespan_g1.csv by fifo on 8 V100",
     "498e9b46fc8fe27e442bef72702f4e8ea0bac57d855633a90beda3468915d6a4"},
    {&kGavelSource, "peers/gavel/jct_y_minimize_makespan_g1_fifo_16.csv", "scheduler/simulator.py",
     DataOrigin::kSimulated,
     "JCT of every job of trace_minimize_makespan_g1.csv by fifo on 16 V100",
     "736ecd131191f2e7f41cadb6dadde98839a15d3b1d72a1f94c099fac672b71f6"},
    {&kGavelSource, "peers/gavel/jct_y_minimize_makespan_g1_fifo_packed_4.csv",
     "scheduler/simulator.py", DataOrigin::kSimulated,
     "JCT of every job of trace_minimize_makespan_g1.csv by fifo_packed on 4 V100",
     "d3935f545ad6f79c428b6d1d646ee3662c75fde2de379118c605c18013104469"},
    {&kGavelSource, "peers/gavel/jct_y_minimize_makespan_g1_fifo_packed_8.csv",
     "scheduler/simulator.py", DataOrigin::kSimulated,
     "JCT of every job of trace_minimize_makespan_g1.csv by fifo_packed on 8 V100",
     "a36f969f9e250797d78c37735fb1869271e12a99f73220b71dce1c04b2c2e0a9"},
    {&kGavelSource, "peers/gavel/jct_y_minimize_makespan_g1_fifo_packed_16.csv",
     "scheduler/simulator.py", DataOrigin::kSimulated,
     "JCT of every job of trace_minimize_makespan_g1.csv by fifo_packed on 16 V100",
     "059aae474b86becf27a07fa329a9d14fe9545814a468f577e399abd70c366c40"},
    {&kLucidSource, "lucid/lucid_pairs.csv", "simulation/data/colocate_info.csv",
     DataOrigin::kDerivedFromLucid, "982 pairs on an RTX 3090, a part of those published",
     "c1ff35bb6e519ac0daec73b1474acf231f05a3b83b62add34e14621c5567672c"},
    {&kLucidSource, "lucid/lucid_solo.csv", "simulation/analyzer/single_data.csv",
     DataOrigin::kDerivedFromLucid, "66 jobs alone on an RTX 3090",
     "1238af0540ceaad04ba754d85e86d1b4b58a6de506c04e721e70871f12823806"},
    {&kLucidSource, "peers/lucid/philly3_d100_all.csv", "simulation/analyzer/single_data.csv",
     DataOrigin::kConverted,
     "992 jobs of a Philly trace a hundred times as short, which run Lucid's jobs",
     "97d8be2e88cb3dd601e156f9daa86a18ec7e9a256fa0a9e71a09d8b62a932463"},
    {&kLucidSource, "peers/lucid/philly4_d100_200.csv", "simulation/analyzer/single_data.csv",
     DataOrigin::kConverted,
     "200 jobs of a Philly trace a hundred times as short, which run Lucid's jobs",
     "db0938d095e94931d5fd4154ad1b14dc16a3ac8f9f80131e2527ac4dc2642fd4"},
    {&kLucidSource, "peers/lucid/philly4_d100_all.csv", "simulation/analyzer/single_data.csv",
     DataOrigin::kConverted,
     "2,638 jobs of a Philly trace a hundred times as short, which run Lucid's jobs",
     "2ba9e3b93695c6c4690d9f10a72c83773fe22d04ac5db665d4ce9e8d8abd137b"},
    {&kLucidSource, "peers/lucid/jobs_philly3_d100_all_fifo_8.csv", "simulation/simulator.py",
     DataOrigin::kSimulated,
     "start and end of every job of philly3_d100_all.csv by fifo on 8 nodes",
     "70ab37f8ddaf2f95bbb321bc3102a1f5631ec2a0c9f3f74b424d48edaf9f1a8e"},
    {&kLucidSource, "peers/lucid/jobs_philly3_d100_all_fifo_16.csv", "simulation/simulator.py",
     DataOrigin::kSimulated,
     "start and end of every job of philly3_d100_all.csv by fifo on 16 nodes",
     "cd079609f6fb644ac0ac752a4d028fc2358fbaf6f3eef931eb0c95f3856ea8fd"},
    {&kLucidSource, "peers/lucid/jobs_philly3_d100_all_sjf_8.csv", "simulation/simulator.py",
     DataOrigin::kSimulated, "start and end of every job of philly3_d100_all.csv by sjf on 8 nodes",
     "7092a56ecc8741ca79ebb4f3341f03a909af3ba49b27140fc1ed4b3b610e2288"},
    {&kLucidSource, "peers/lucid/jobs_philly3_d100_all_sjf_16.csv", "simulation/simulator.py",
     DataOrigin::kSimulated,
     "start and end of every job of philly3_d100_all.csv by sjf on 16 nodes",
     "4ea604ecd93463fbaee624202154874b1618f1b98bfee3b827cf6ec75955324e"},
    {&kLucidSource, "peers/lucid/jobs_philly4_d100_200_fifo_8.csv", "simulation/simulator.py",
     DataOrigin::kSimulated,
     "start and end of every job of philly4_d100_200.csv by fifo on 8 nodes",
     "1a638a093ff3d237ca48dfaa766d24b57309751835a0830a5403d0b782384609"},
    {&kLucidSource, "peers/lucid/jobs_philly4_d100_200_fifo_16.csv", "simulation/simulator.py",
     DataOrigin::kSimulated,
     "start and end of every job of philly4_d100_200.csv by fifo on 16 nodes",
     "cb6068240b3e81cd2acb82bbf76c50fd6ae14f694382b7515e73d56b178050be"},
    {&kLucidSource, "peers/lucid/jobs_philly4_d100_200_sjf_8.csv", "simulation/simulator.py",
     DataOrigin::kSimulated, "start and end of every job of philly4_d100_200.csv by sjf on 8 nodes",
     "95f7546592fd4d8da666eb94fda5cbc1d3a3d490efe5db58f61544c92aeaa36f"},
    {&kLucidSource, "peers/lucid/jobs_philly4_d100_200_sjf_16.csv", "simulation/simulator.py",
     DataOrigin::kSimulated,
     "start and end of every job of philly4_d100_200.csv by sjf on 16 nodes",
     "6ac353a8741422ffb00a2b55b22359a513dca4138ead7afdc5a4b4bc7a5bb9b4"},
    {&kLucidSource, "peers/lucid/venus_like.csv", "simulation/analyzer/single_data.csv",
     DataOrigin::kConverted,
     "24,171 jobs in the form and size of the Venus trace, which run Lucid's jobs",
     "4d29530496c70c7e1b0bb76a2d1f023d97f094dc4cb0b78d14dd8b58f53c9dd2"},
    {&kLucidSource, "peers/lucid/venus_vc_config.csv", "simulation/data/Venus/vc_config.csv",
     DataOrigin::kPublished, "nodes of each virtual cluster of Venus",
     "e25f63eecc9d19e905f55c37dceddffcd3a797bf83895fc7efe63c8cde6ca524"},
    {&kMisoSource, "jobs/miso/miso_mig_steps.csv", "mps/models/logs/mig", DataOrigin::kConverted,
     "step times of 32 jobs on four MIG slices of an A100 40 GB",
     "691fb221391dc6da9bde0317ecf05fb6db2f7c790a68d76ef5a3257e5fb01bd5"},
    {&kMisoSource, "jobs/miso/miso_a100_profile.csv", "mps/configs", DataOrigin::kConverted,
     "memory and utilisation of the same jobs on the whole A100",
     "461bf569c57bf213e0887b373b9f9d8f184203a85b0f6b458c8e2e10312395cb"},
    {&kMuriSource, "peers/muri_philly_trace2.csv", "simulator/trace-data/trace2.csv",
     DataOrigin::kPublished, "5,755 jobs made of a Philly trace",
     "5c29e1c49ed7929bff67c8008e6f2abcafc64e70bb55cdc91801490ce2df7003"},
    {&kMuriSource, "peers/muri_philly_trace4.csv", "simulator/trace-data/trace4.csv",
     DataOrigin::kPublished, "2,638 jobs made of a Philly trace",
     "69754a0fc95b75de47923eb755d81b4cd7f8df37d82f007f870881e12470f0d1"},
    {&kOpenbSource, "openb/openb_pod_list_default.csv",
     "cluster-trace-gpu-v2023/csv/openb_pod_list_default.csv", DataOrigin::kPublished,
     "8,152 pods with shares of GPUs",
     "1ee7ed79c27a3b0861cda8ddba86a004c6aba904caafa329a76ae93ca63834a8"},
    {&kOpenbSource, "openb/openb_node_list_gpu_node.csv",
     "cluster-trace-gpu-v2023/csv/openb_node_list_gpu_node.csv", DataOrigin::kPublished,
     "1,213 nodes with GPUs", "2beca64b4d3dfa342036a34b56a495c6cef9225db836c81f541282cb1df320b5"},
    {&kSiaSource, "jobs/sia/sia_1gpu_steps.csv", "adaptdl/adaptdl/adaptdl/torch/seed",
     DataOrigin::kConverted, "step times of six training jobs by batch size on four GPU types",
     "06fe443cea598d185355fa3183bdc0c32c489b862a85e10e01fac6bb66de3fc5"},
});

}  // namespace

std::span<const PublicDataSet> public_data_sets() { return kDataSets; }

std::string_view origin_text(DataOrigin origin) {
  switch (origin) {
    case DataOrigin::kPublished:
      return "published";
    case DataOrigin::kConverted:
      return "converted";
    case DataOrigin::kSimulated:
      return "simulated";
    case DataOrigin::kDerivedFromGavel:
      return "corun data derive gavel";
    case DataOrigin::kDerivedFromLucid:
      return "corun data derive lucid";
  }
  return "";
}

FoundDataSet find_data_set(const PublicDataSet& set, const std::string& directory) {
  FoundDataSet found;
  if (directory.empty()) return found;
  const std::filesystem::path path = std::filesystem::path(directory) / set.file;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return found;
  found.bytes = std::filesystem::file_size(path, error);
  found.sha256 = sha256_of_file(path.string());
  found.present = true;
  found.as_tested = found.sha256 == set.sha256;
  return found;
}

}  // namespace corun::inline runner
