#include "traces/gpu_catalog.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline traces {
namespace {

/// Name, architecture, SMs, CUDA cores, tensor cores, resident threads per SM, memory [MiB], bandwidth
/// [GB/s], effective memory clock [MHz] (of HBM the bus clock), boost clock [MHz], FP32 peak [TFLOP/s] (2 x
/// CUDA cores x boost clock), L2 [MiB]. NVIDIA's data sheets and white papers; a K80 is one of its two GPUs.
/// Undisclosed models of Alibaba's node lists have only the memory that the simulator published with the
/// lists assumes. The figures of AMD's types count compute units as SMs.
std::vector<GpuSpec> plain_types() {
  return {
      // clang-format off
      {"K520", "Kepler", 8, 1536, 0, 2048, 4096, 160, 5000, 800, 2.46, 0.5},
      {"K80", "Kepler", 13, 2496, 0, 2048, 12288, 240.6, 5012, 875, 4.37, 1.5},
      {"Quadro-M4000", "Maxwell", 13, 1664, 0, 2048, 8192, 192.3, 6012, 773, 2.57, 2},
      {"M60", "Maxwell", 16, 2048, 0, 2048, 8192, 160.4, 5012, 1178, 4.82, 2},
      {"TITAN-X-Maxwell", "Maxwell", 24, 3072, 0, 2048, 12288, 336.6, 7012, 1089, 6.69, 3},
      {"M40", "Maxwell", 24, 3072, 0, 2048, 12288, 288.4, 6008, 1114, 6.84, 3},
      {"GTX-1080", "Pascal", 20, 2560, 0, 2048, 8192, 320.3, 10008, 1733, 8.87, 2},
      {"GTX-1080Ti", "Pascal", 28, 3584, 0, 2048, 11264, 484.4, 11008, 1582, 11.34, 2.75},
      {"TITAN-X-Pascal", "Pascal", 28, 3584, 0, 2048, 12288, 480.4, 10008, 1531, 10.97, 3},
      {"TITAN-Xp", "Pascal", 30, 3840, 0, 2048, 12288, 547.6, 11408, 1582, 12.15, 3},
      {"P4", "Pascal", 20, 2560, 0, 2048, 8192, 192.3, 6008, 1114, 5.70, 2},
      {"P100-16GB", "Pascal", 56, 3584, 0, 2048, 16384, 732.2, 1430, 1303, 9.34, 4},
      {"Quadro-P5000", "Pascal", 20, 2560, 0, 2048, 16384, 288.5, 9016, 1733, 8.87, 2},
      {"Quadro-P6000", "Pascal", 30, 3840, 0, 2048, 24576, 432.8, 9016, 1645, 12.63, 3},
      {"P40", "Pascal", 30, 3840, 0, 2048, 24576, 347.1, 7232, 1531, 11.76, 3},
      {"V100-PCIe-32GB", "Volta", 80, 5120, 640, 2048, 32768, 900, 1752, 1380, 14.13, 6},
      {"V100-16GB", "Volta", 80, 5120, 640, 2048, 16384, 900, 1752, 1530, 15.67, 6},
      {"TITAN-V", "Volta", 80, 5120, 640, 2048, 12288, 651.3, 1700, 1455, 14.90, 4.5},
      {"V100-32GB", "Volta", 80, 5120, 640, 2048, 32768, 900, 1752, 1530, 15.67, 6},
      {"V100-PCIe-16GB", "Volta", 80, 5120, 640, 2048, 16384, 900, 1752, 1380, 14.13, 6},
      {"T4", "Turing", 40, 2560, 320, 1024, 16384, 320, 10000, 1590, 8.14, 4},
      {"RTX-2060-Max-Q", "Turing", 30, 1920, 240, 1024, 6144, 264.1, 11000, 1185, 4.55, 3},
      {"RTX-2070-Max-Q", "Turing", 36, 2304, 288, 1024, 8192, 384, 12000, 1185, 5.46, 4},
      {"RTX-2070-Super", "Turing", 40, 2560, 320, 1024, 8192, 448, 14000, 1770, 9.06, 4},
      {"RTX-2080", "Turing", 46, 2944, 368, 1024, 8192, 448, 14000, 1710, 10.07, 4},
      {"RTX-2080-Max-Q", "Turing", 46, 2944, 368, 1024, 8192, 384, 12000, 1095, 6.45, 4},
      {"RTX-2080-Super-Max-Q", "Turing", 48, 3072, 384, 1024, 8192, 352, 11000, 1080, 6.64, 4},
      {"RTX-2080Ti", "Turing", 68, 4352, 544, 1024, 11264, 616, 14000, 1545, 13.45, 5.5},
      {"TITAN-RTX", "Turing", 72, 4608, 576, 1024, 24576, 672, 14000, 1770, 16.31, 6},
      {"Quadro-RTX-5000", "Turing", 48, 3072, 384, 1024, 16384, 448, 14000, 1815, 11.15, 4},
      {"Quadro-RTX-6000", "Turing", 72, 4608, 576, 1024, 24576, 672, 14000, 1770, 16.31, 6},
      {"Quadro-RTX-8000", "Turing", 72, 4608, 576, 1024, 49152, 672, 14000, 1770, 16.31, 6},
      {"RTX-2060", "Turing", 30, 1920, 240, 1024, 6144, 336, 14000, 1680, 6.45, 3},
      {"RTX-2070", "Turing", 36, 2304, 288, 1024, 8192, 448, 14000, 1620, 7.46, 4},
      {"RTX-3070", "Ampere", 46, 5888, 184, 1536, 8192, 448, 14000, 1725, 20.31, 4},
      {"RTX-3080", "Ampere", 68, 8704, 272, 1536, 10240, 760.3, 19000, 1710, 29.77, 5},
      {"RTX-3080-Max-Q", "Ampere", 48, 6144, 192, 1536, 16384, 384, 12000, 1245, 15.30, 4},
      {"RTX-3090", "Ampere", 82, 10496, 328, 1536, 24576, 935.8, 19495, 1695, 35.58, 6},
      {"A10", "Ampere", 72, 9216, 288, 1536, 24576, 600, 12500, 1695, 31.24, 6},
      {"A40", "Ampere", 84, 10752, 336, 1536, 49152, 695.8, 14500, 1740, 37.42, 6},
      {"RTX-A4000", "Ampere", 48, 6144, 192, 1536, 16384, 448, 14000, 1560, 19.17, 4},
      {"RTX-A4500", "Ampere", 56, 7168, 224, 1536, 20480, 640, 16000, 1650, 23.65, 6},
      {"RTX-A5000", "Ampere", 64, 8192, 256, 1536, 24576, 768, 16000, 1695, 27.77, 6},
      {"RTX-A5500", "Ampere", 80, 10240, 320, 1536, 24576, 768, 16000, 1665, 34.10, 6},
      {"RTX-A6000", "Ampere", 84, 10752, 336, 1536, 49152, 768, 16000, 1800, 38.71, 6},
      {"A100-PCIe-40GB", "Ampere", 108, 6912, 432, 2048, 40960, 1555, 2430, 1410, 19.49, 40},
      {"A100-40GB", "Ampere", 108, 6912, 432, 2048, 40960, 1555, 2430, 1410, 19.49, 40},
      {"A100-PCIe-80GB", "Ampere", 108, 6912, 432, 2048, 81920, 1935, 3024, 1410, 19.49, 40},
      {"A100-80GB", "Ampere", 108, 6912, 432, 2048, 81920, 2039, 3186, 1410, 19.49, 40},
      {"RTX-4060Ti-16GB", "Ada", 34, 4352, 136, 1536, 16384, 288, 18000, 2535, 22.06, 32},
      {"RTX-4090", "Ada", 128, 16384, 512, 1536, 24576, 1008, 21000, 2520, 82.58, 72},
      {"RTX-6000-Ada", "Ada", 142, 18176, 568, 1536, 49152, 960, 20000, 2505, 91.06, 96},
      {"L4", "Ada", 58, 7424, 232, 1536, 24576, 300, 12500, 2040, 30.29, 48},
      {"L40S", "Ada", 142, 18176, 568, 1536, 49152, 864, 18000, 2520, 91.61, 96},
      {"H100-PCIe-80GB", "Hopper", 114, 14592, 456, 2048, 81920, 2039, 3186, 1755, 51.22, 50},
      {"H100-80GB", "Hopper", 132, 16896, 528, 2048, 81920, 3350, 5230, 1980, 66.91, 50},
      {"H200-141GB", "Hopper", 132, 16896, 528, 2048, 144384, 4800, 6250, 1980, 66.91, 50},
      {"RTX-5090", "Blackwell", 170, 21760, 680, 1536, 32768, 1792, 28000, 2407, 104.80, 96},
      {"RTX-PRO-6000-Max-Q", "Blackwell", 188, 24064, 752, 1536, 98304, 1792, 28000, 2280, 109.70, 128},
      {"MI100", "CDNA", 120, 7680, 480, 2560, 32768, 1228.8, 1200, 1502, 23.07, 8},
      {"MI210", "CDNA 2", 104, 6656, 416, 2048, 65536, 1638.4, 1600, 1700, 22.63, 8},
      {"MI250", "CDNA 2", 208, 13312, 832, 2048, 131072, 3276.8, 1600, 1700, 45.26, 16},
      {"G1", "", 0, 0, 0, 0, 10000, 0, 0, 0, 0, 0},
      {"G2", "", 0, 0, 0, 0, 20000, 0, 0, 0, 0, 0},
      {"G3", "", 0, 0, 0, 0, 30000, 0, 0, 0, 0, 0},
      // clang-format on
  };
}

/// A MIG profile: parts of seven of the compute slices, eighths of memory and bandwidth.
struct MigProfile {
  std::string_view gpu;
  std::string_view slice;
  int compute;
  int memory;
  double memory_mib;
};
constexpr int kMemorySlices = 8;
constexpr std::array<MigProfile, 15> kMigProfiles{{
    {"A100-40GB", "1g.5gb", 1, 1, 4864},
    {"A100-40GB", "2g.10gb", 2, 2, 9856},
    {"A100-40GB", "3g.20gb", 3, 4, 19968},
    {"A100-40GB", "4g.20gb", 4, 4, 19968},
    {"A100-40GB", "7g.40gb", 7, 8, 40448},
    {"A100-80GB", "1g.10gb", 1, 1, 9728},
    {"A100-80GB", "2g.20gb", 2, 2, 19968},
    {"A100-80GB", "3g.40gb", 3, 4, 40192},
    {"A100-80GB", "4g.40gb", 4, 4, 40192},
    {"A100-80GB", "7g.80gb", 7, 8, 81152},
    {"H100-80GB", "1g.10gb", 1, 1, 9984},
    {"H100-80GB", "2g.20gb", 2, 2, 20096},
    {"H100-80GB", "3g.40gb", 3, 4, 40448},
    {"H100-80GB", "4g.40gb", 4, 4, 40448},
    {"H100-80GB", "7g.80gb", 7, 8, 81152},
}};

GpuSpec slice_of(const GpuSpec& whole, const MigProfile& profile) {
  // 14 of an A100's 108 SMs are in each of seven compute slices, 16 of an H100's 132 in most.
  const int sms_of_slice = whole.architecture == "Hopper" ? 16 : 14;
  GpuSpec slice = whole;
  slice.name = whole.name + ":" + std::string(profile.slice);
  slice.sms = std::min(sms_of_slice * profile.compute, whole.sms);
  const double share = static_cast<double>(slice.sms) / whole.sms;
  slice.cuda_cores = whole.cuda_cores / whole.sms * slice.sms;
  slice.tensor_cores = whole.tensor_cores / whole.sms * slice.sms;
  slice.fp32_tflops = whole.fp32_tflops * share;
  slice.memory_mib = profile.memory_mib;
  slice.bandwidth_gbs = whole.bandwidth_gbs * profile.memory / kMemorySlices;
  slice.l2_mib = whole.l2_mib * profile.memory / kMemorySlices;
  return slice;
}

/// Names of public tables that normalised() does not make equal to those of the catalogue.
struct Alias {
  std::string_view alias;
  std::string_view name;
};
constexpr std::array kAliases = std::to_array<Alias>({
    // Gavel, Sia (adaptdl), Alibaba
    {"v100", "V100-16GB"},
    {"p100", "P100-16GB"},
    {"dgx", "A100-40GB"},
    {"dgx-ext", "A100-40GB"},
    {"aws", "T4"},
    {"azure", "V100-32GB"},
    {"quad", "Quadro-RTX-6000"},
    {"rtx", "RTX-2080Ti"},
    {"V100M16", "V100-16GB"},
    {"V100M32", "V100-32GB"},
    {"2080", "RTX-2080Ti"},
    {"1080", "GTX-1080Ti"},
    // MISO
    {"1g.5gb", "A100-40GB:1g.5gb"},
    {"2g.10gb", "A100-40GB:2g.10gb"},
    {"3g.20gb", "A100-40GB:3g.20gb"},
    {"4g.20gb", "A100-40GB:4g.20gb"},
    {"7g.40gb", "A100-40GB:7g.40gb"},
    // the names of nvidia-smi and of benchmarks' tables
    {"V100-SXM2", "V100-16GB"},
    {"V100-SXM2-16GB", "V100-16GB"},
    {"V100-SXM2-32GB", "V100-32GB"},
    {"V100-PCIE", "V100-PCIe-32GB"},
    {"P100-PCIE-16GB", "P100-16GB"},
    {"GRID K520", "K520"},
    {"M4000", "Quadro-M4000"},
    {"P5000", "Quadro-P5000"},
    {"P6000", "Quadro-P6000"},
    {"GTX TITAN X", "TITAN-X-Maxwell"},
    {"TITAN X (Maxwell)", "TITAN-X-Maxwell"},
    {"TITAN X", "TITAN-X-Pascal"},
    {"TITAN X (Pascal)", "TITAN-X-Pascal"},
    {"1080Ti", "GTX-1080Ti"},
    {"RTX 2060 with Max-Q Design", "RTX-2060-Max-Q"},
    {"2070MaxQ", "RTX-2070-Max-Q"},
    {"2080Ti", "RTX-2080Ti"},
    {"2080MaxQ", "RTX-2080-Max-Q"},
    {"2080SuperMaxQ", "RTX-2080-Super-Max-Q"},
    {"RTX 5000", "Quadro-RTX-5000"},
    {"RTX 6000", "Quadro-RTX-6000"},
    {"RTX 8000", "Quadro-RTX-8000"},
    {"3070", "RTX-3070"},
    {"3080", "RTX-3080"},
    {"3080Max-Q", "RTX-3080-Max-Q"},
    {"3090", "RTX-3090"},
    {"4090", "RTX-4090"},
    {"5090", "RTX-5090"},
    {"A4000", "RTX-A4000"},
    {"A4500", "RTX-A4500"},
    {"A5000", "RTX-A5000"},
    {"A5500", "RTX-A5500"},
    {"A6000", "RTX-A6000"},
    {"A100", "A100-40GB"},
    {"A100-SXM4", "A100-40GB"},
    {"A100-SXM4-40", "A100-40GB"},
    {"A100-SXM4-40GB", "A100-40GB"},
    {"A100-SXM4-80", "A100-80GB"},
    {"A100-SXM4-80GB", "A100-80GB"},
    {"A100-PCIE", "A100-PCIe-40GB"},
    {"A100-PCIE-40", "A100-PCIe-40GB"},
    {"A100-PCIE-80", "A100-PCIe-80GB"},
    {"A100 80GB PCIe", "A100-PCIe-80GB"},
    {"RTX 4060 Ti", "RTX-4060Ti-16GB"},
    {"H100", "H100-80GB"},
    {"H100-SXM5", "H100-80GB"},
    {"H100 80GB HBM3", "H100-80GB"},
    {"H100-PCIE", "H100-PCIe-80GB"},
    {"H200", "H200-141GB"},
    {"H200-SXM", "H200-141GB"},
});

/// Lower case, without spaces, dashes, underscores, brackets and makers' words.
std::string normalised(std::string_view name) {
  std::string text;
  for (const char c : lower_case(std::string(name))) {
    if (c != ' ' && c != '-' && c != '_' && c != '(' && c != ')') text += c;
  }
  for (const std::string_view word : {"nvidia", "tesla", "geforce", "amd", "instinct"}) {
    if (text.starts_with(word)) text.erase(0, word.size());
  }
  return text;
}

struct Catalog {
  std::vector<GpuSpec> types;
  std::map<std::string, const GpuSpec*, std::less<>> by_name;  ///< normalised, aliases included

  Catalog() : types(plain_types()) {
    const std::vector<GpuSpec> plain = types;
    for (const MigProfile& profile : kMigProfiles) {
      types.push_back(slice_of(*std::ranges::find(plain, profile.gpu, &GpuSpec::name), profile));
    }
    for (const GpuSpec& type : types) by_name.emplace(normalised(type.name), &type);
    for (const Alias& alias : kAliases) {
      by_name.emplace(normalised(alias.alias), by_name.at(normalised(alias.name)));
    }
  }
};

const Catalog& catalog() {
  static const Catalog all;
  return all;
}

}  // namespace

std::span<const GpuSpec> gpu_catalog() { return catalog().types; }

const GpuSpec* find_gpu(std::string_view name) {
  const auto at = catalog().by_name.find(normalised(name));
  return at == catalog().by_name.end() ? nullptr : at->second;
}

SpeedTable::Campaign campaign_on(std::string_view gpu, Sharing sharing) {
  const GpuSpec* const spec = find_gpu(gpu);
  if (spec == nullptr) return {.gpu = std::string(gpu), .sharing = sharing};
  return {spec->name, sharing, spec->bandwidth_gbs, spec->fp32_tflops};
}

GpuTypes::GpuTypes(std::vector<OwnGpuType> own) : own_(std::move(own)) {
  for (std::size_t i = 0; i < own_.size(); ++i) {
    std::vector<std::string> names = own_[i].aliases;
    names.insert(names.begin(), own_[i].spec.name);
    for (const std::string& name : names) {
      const auto [at, is_new] = by_name_.emplace(normalised(name), i);
      if (is_new || at->second == i) continue;
      throw InputError(own_[i].place, "'" + printable(name) + "' stands for the type '" +
                                          printable(own_[at->second].spec.name) +
                                          "', too, expected names that differ in more than case "
                                          "and dashes; rename one of them");
    }
  }
}

const GpuSpec* GpuTypes::find(std::string_view name) const {
  auto at = by_name_.find(normalised(name));
  const GpuSpec* listed = at == by_name_.end() ? find_gpu(name) : nullptr;
  if (listed != nullptr)
    at = by_name_.find(normalised(listed->name));  // an alias of a replaced type
  return at != by_name_.end() ? &own_[at->second].spec : listed;
}

bool GpuTypes::same(std::string_view a, std::string_view b) const {
  if (a == b) return true;
  const GpuSpec* of_a = find(a);
  return of_a != nullptr && of_a == find(b);
}

std::string GpuTypes::standard_name(std::string_view name) const {
  const GpuSpec* known = find(name);
  return known != nullptr ? known->name : std::string(name);
}

std::string GpuTypes::advice(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const GpuSpec* type : all()) names.push_back(type->name);
  const std::string_view near = nearest(name, names);
  return (near.empty() ? "" : "did you mean '" + std::string(near) + "'? ") +
         "corun list gpus shows all";
}

std::vector<const GpuSpec*> GpuTypes::all() const {
  std::vector<const GpuSpec*> types;
  for (const OwnGpuType& own : own_) types.push_back(&own.spec);
  for (const GpuSpec& type : gpu_catalog()) {
    if (find(type.name) == &type) types.push_back(&type);
  }
  return types;
}

std::string_view gpu_of_gavel(std::string_view type) {
  for (const std::string_view gpu : {"v100", "p100", "k80"}) {
    if (GpuTypes().same(gpu, type)) return gpu;
  }
  return {};
}

}  // namespace corun::inline traces
