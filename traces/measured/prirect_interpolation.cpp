// Transcribed from PriRecT Table II, and the recipe of the 175 samples, which follows from them.
//
// Reading: exponents that lost their sign in the table's text are negative ("9.5E12" stands beside
// an RMSE of 1.5E-11). Nothing else is corrected; kMisprints lists impossible cells.
#include "traces/measured/prirect_interpolation.hpp"

namespace corun::inline traces {
namespace {

// clang-format off
// {technique, workload, {{MGUP RMSE, MAE}, {MGMAP RMSE, MAE}, {MaGTSAMP RMSE, MAE}}}
constexpr PaperRegenerationRow kTableTwo[] = {
    {"linear",      "MobileNet",      {{{"2.25",      "1.99"}, {"5.20",      "3.73"}, {"2.18",      "1.95"}}}},
    {"linear",      "NasnetMobile",   {{{"4.64",      "4.16"}, {"8.48",      "6.28"}, {"3.79",      "3.25"}}}},
    {"linear",      "EfficientNetV2", {{{"7.18",      "6.25"}, {"10.69",     "8.39"}, {"8.24",      "7.40"}}}},
    {"linear",      "ResNet50",       {{{"3.65",      "3.25"}, {"4.42",      "2.65"}, {"2.97",      "2.47"}}}},
    {"linear",      "InceptionV3",    {{{"1.98",      "1.82"}, {"4.43",      "2.65"}, {"3.17",      "2.44"}}}},
    {"linear",      "ImageSeg",       {{{"3.98",      "3.65"}, {"16.27",    "11.71"}, {"3.038",     "2.66"}}}},
    {"linear",      "RL-CartPole",    {{{"0.59",      "0.48"}, {"0.66",     "0.001"}, {"0.0",        "0.0"}}}},
    {"linear",      "DCGAN",          {{{"4.77",       "4.4"}, {"1.47",      "1.24"}, {"1.59",      "1.40"}}}},
    {"barycentric", "MobileNet",      {{{"1.68",      "1.06"}, {"1.89",       "1.2"}, {"1.39",      "0.88"}}}},
    {"barycentric", "NasnetMobile",   {{{"2.73",      "1.73"}, {"7.95",      "5.03"}, {"2.99",      "1.89"}}}},
    {"barycentric", "EfficientNetV2", {{{"6.53",      "4.13"}, {"7.95",      "5.03"}, {"5.23",      "3.30"}}}},
    {"barycentric", "ResNet50",       {{{"2.35",      "1.49"}, {"1.5E-11","9.5E-12"}, {"1.30",      "0.82"}}}},
    {"barycentric", "InceptionV3",    {{{"0.63",       "0.4"}, {"7.4E-11","3.8E-11"}, {"1.88",      "1.84"}}}},
    {"barycentric", "ImageSeg",       {{{"3.20",     "10.28"}, {"15.91",    "10.06"}, {"2.73",      "1.73"}}}},
    {"barycentric", "RL-CartPole",    {{{"0.29",      "0.18"}, {"7.7E-13","3.8E-13"}, {"0.0",        "0.0"}}}},
    {"barycentric", "DCGAN",          {{{"5.9E-10","4.1E-10"}, {"9.5E-11","6.7E-11"}, {"2.5E-10","1.8E-10"}}}},
    {"krogh",       "MobileNet",      {{{"1.68",      "1.06"}, {"1.89",       "1.2"}, {"1.39",      "0.88"}}}},
    {"krogh",       "NasnetMobile",   {{{"2.73",      "1.73"}, {"7.95",      "5.03"}, {"2.99",      "1.89"}}}},
    {"krogh",       "EfficientNetV2", {{{"6.53",      "4.13"}, {"7.95",      "5.03"}, {"5.23",      "3.30"}}}},
    {"krogh",       "ResNet50",       {{{"2.35",      "1.49"}, {"1.7E-11","8.07E-12"}, {"1.30",      "0.82"}}}},
    {"krogh",       "InceptionV3",    {{{"0.63",       "0.4"}, {"3.2E-11","1.7E-11"}, {"2.90",      "1.84"}}}},
    {"krogh",       "ImageSeg",       {{{"3.20",      "2.02"}, {"15.91",    "10.06"}, {"2.73",      "1.73"}}}},
    {"krogh",       "RL-CartPole",    {{{"0.29",      "0.18"}, {"1.59E-12","1.01E-12"}, {"0.0",        "0.0"}}}},
    {"krogh",       "DCGAN",          {{{"1.9E-10","1.3E-10"}, {"9.9E-11","7.0E-11"}, {"7.7E-11","5.4E-11"}}}},
    {"pchip",       "MobileNet",      {{{"1.64",      "1.05"}, {"2.04",      "1.42"}, {"1.40",      "0.92"}}}},
    {"pchip",       "NasnetMobile",   {{{"2.79",      "1.80"}, {"7.97",      "5.08"}, {"3.03",      "1.92"}}}},
    {"pchip",       "EfficientNetV2", {{{"6.39",      "4.31"}, {"8.11",      "5.25"}, {"5.04",      "3.69"}}}},
    {"pchip",       "ResNet50",       {{{"2.41",      "1.54"}, {"0.48",      "0.30"}, {"1.34",      "0.88"}}}},
    {"pchip",       "InceptionV3",    {{{"0.69",      "0.48"}, {"0.48",      "0.30"}, {"2.94",      "1.88"}}}},
    {"pchip",       "ImageSeg",       {{{"3.21",      "2.10"}, {"15.76",     "9.98"}, {"2.73",      "1.77"}}}},
    {"pchip",       "RL-CartPole",    {{{"0.31",      "0.20"}, {"0.0003",  "0.0002"}, {"0.0",        "0.0"}}}},
    {"pchip",       "DCGAN",          {{{"0.46",      "0.44"}, {"0.13",      "0.10"}, {"0.10",      "0.09"}}}},
    {"cubicspline", "MobileNet",      {{{"1.64",      "1.05"}, {"1.90",      "1.20"}, {"1.39",      "0.87"}}}},
    {"cubicspline", "NasnetMobile",   {{{"2.74",      "1.73"}, {"7.95",      "5.03"}, {"3.00",      "1.89"}}}},
    {"cubicspline", "EfficientNetV2", {{{"6.52",      "4.12"}, {"7.96",      "5.03"}, {"5.19",      "3.28"}}}},
    {"cubicspline", "ResNet50",       {{{"2.36",      "1.49"}, {"0.01",     "0.007"}, {"1.31",      "0.82"}}}},
    {"cubicspline", "InceptionV3",    {{{"0.63",      "0.40"}, {"0.01",     "0.007"}, {"2.91",      "1.84"}}}},
    {"cubicspline", "ImageSeg",       {{{"3.20",      "2.02"}, {"15.90",    "10.05"}, {"2.73",      "1.72"}}}},
    {"cubicspline", "RL-CartPole",    {{{"0.29",      "0.18"}, {"1.1E-5",  "5.1E-6"}, {"0.0",        "0.0"}}}},
    {"cubicspline", "DCGAN",          {{{"4.4E-14","3.3E-14"}, {"8.05E-15","6.4E-15"}, {"3.7E-15","2.7E-15"}}}},
    {"spline2",     "MobileNet",      {{{"1.55",      "1.03"}, {"4.62",      "3.66"}, {"2.53",      "2.41"}}}},
    {"spline2",     "NasnetMobile",   {{{"4.61",      "4.12"}, {"8.66",      "5.89"}, {"4.09",      "3.17"}}}},
    {"spline2",     "EfficientNetV2", {{{"5.38",      "4.57"}, {"10.16",     "7.43"}, {"3.94",      "3.26"}}}},
    {"spline2",     "ResNet50",       {{{"4.08",      "3.50"}, {"2.72",      "2.23"}, {"2.98",      "3.12"}}}},
    {"spline2",     "InceptionV3",    {{{"2.82",      "2.65"}, {"2.72",      "2.23"}, {"18.633",    "2.64"}}}},
    {"spline2",     "ImageSeg",       {{{"4.35",      "4.09"}, {"15.44",    "11.48"}, {"3.30",      "3.08"}}}},
    {"spline2",     "RL-CartPole",    {{{"0.66",      "0.49"}, {"0.004",    "0.004"}, {"0.0",        "0.0"}}}},
    {"spline2",     "DCGAN",          {{{"2.93",      "2.90"}, {"2.40",      "2.38"}, {"2.52",      "2.50"}}}},
};
// clang-format on

constexpr PaperMisprint kMisprints[] = {
    {"linear", "RL-CartPole", 1, false,
     "an RMSE over five points is at most 2.24 times the MAE, here 0.001"},
    {"barycentric", "InceptionV3", 2, false,
     "krogh, the same polynomial, prints 2.90; 1.88 is the MAE of pchip"},
    {"barycentric", "ImageSeg", 0, true,
     "an MAE is at most the RMSE, here 3.20; krogh, the same polynomial, prints 2.02"},
    {"pchip", "InceptionV3", 0, true, "0.48 is the next number of the row; 0.47 comes out"},
    {"cubicspline", "MobileNet", 0, false, "repeats the cell of pchip"},
    {"cubicspline", "MobileNet", 0, true, "repeats the cell of pchip"},
    {"spline2", "ResNet50", 2, false, "RMSE and MAE exchanged: an RMSE is at least the MAE"},
    {"spline2", "ResNet50", 2, true, "RMSE and MAE exchanged: an RMSE is at least the MAE"},
    {"spline2", "InceptionV3", 2, false,
     "18.633 is the measured value at batch size 2, not an error"},
};

// clang-format off
// {workload, name in the data set, batch size by row, measured rows, {MGUP, MGMAP, MaGTSAMP}}
// "krogh" stands for either form of the polynomial.
constexpr std::array<bool, kGridRows> kEveryFifth{
    1,0,0,0,0, 1,0,0,0,0, 1,0,0,0,0, 1,0,0,0,0, 1};
// DCGAN was not measured at 128.
constexpr std::array<bool, kGridRows> kEveryFifthButTheThird{
    1,0,0,0,0, 1,0,0,0,0, 0,0,0,0,0, 1,0,0,0,0, 1};

constexpr PaperSyntheticRecipe kRecipes[] = {
    {"MobileNet", "MobileNet",
     {1024, 869, 716, 562, 409, 256, 230, 205, 180, 154, 128, 109, 90, 70, 51, 32, 26, 20, 14, 8, 2},
     kEveryFifth, {"spline2", "krogh", "krogh"}},
    {"NasnetMobile", "Nasnet_Mobile",
     {1024, 869, 716, 562, 409, 256, 230, 205, 180, 154, 128, 109, 90, 70, 51, 32, 26, 20, 14, 8, 2},
     kEveryFifth, {"krogh", "krogh", "krogh"}},
    {"EfficientNetV2", "EfficientNet_v2",
     {1024, 869, 716, 562, 409, 256, 230, 205, 180, 154, 128, 109, 90, 70, 51, 32, 26, 20, 14, 8, 2},
     kEveryFifth, {"krogh", "krogh", "krogh"}},
    {"ResNet50", "ResNet50",
     {1024, 869, 716, 562, 409, 256, 230, 205, 180, 154, 128, 109, 90, 70, 51, 32, 26, 20, 14, 8, 2},
     kEveryFifth, {"krogh", "krogh", "krogh"}},
    {"InceptionV3", "Inception_v3",
     {1024, 869, 716, 562, 409, 256, 230, 205, 180, 154, 128, 109, 90, 70, 51, 32, 26, 20, 14, 8, 2},
     kEveryFifth, {"krogh", "krogh", "krogh"}},
    {"DCGAN", "DCGAN",
     {1024, 869, 716, 562, 409, 256, 230, 205, 180, 154, 128, 109, 90, 70, 51, 32, 26, 20, 14, 8, 2},
     kEveryFifthButTheThird, {"krogh", "krogh", "pchip"}},
    {"ImageSeg", "Image Segmentation",
     {2, 8, 14, 20, 26, 32, 51, 70, 90, 109, 128, 154, 180, 205, 230, 256, 409, 562, 716, 869, 1024},
     kEveryFifth, {"cubicspline", "pchip", "krogh"}},
    {"RL-CartPole", "Reinforcement Learning",
     {1024, 869, 716, 562, 409, 256, 230, 205, 180, 154, 128, 109, 90, 70, 51, 32, 26, 20, 14, 8, 10},
     kEveryFifth, {"krogh", "krogh", "krogh"}},
};

constexpr std::string_view kMobileNets = "MobileNet's value in NasnetMobile's place";

constexpr PaperOddSample kOddSamples[] = {
    {"MobileNet",     128, 2, 24.05, "measured 24.67; 24.05 is the next synthetic value"},
    {"NasnetMobile",  869, 2, 29.61, kMobileNets},
    {"NasnetMobile",  716, 2, 28.75, kMobileNets},
    {"NasnetMobile",  562, 2, 28.02, kMobileNets},
    {"NasnetMobile",  409, 2, 27.39, kMobileNets},
    {"NasnetMobile",  230, 2, 26.41, kMobileNets},
    {"NasnetMobile",  205, 2, 25.99, kMobileNets},
    {"NasnetMobile",  180, 2, 25.59, kMobileNets},
    {"NasnetMobile",  154, 2, 25.16, kMobileNets},
    {"NasnetMobile",  109, 2, 24.05, kMobileNets},
    {"NasnetMobile",   90, 2, 23.27, kMobileNets},
    {"NasnetMobile",   70, 2, 22.27, kMobileNets},
    {"NasnetMobile",   51, 2, 20.97, kMobileNets},
    {"NasnetMobile",   26, 2, 17.25, kMobileNets},
    {"NasnetMobile",   20, 2, 14.67, kMobileNets},
    {"NasnetMobile",   14, 2, 11.51, kMobileNets},
    {"NasnetMobile",    8, 2,  7.67, kMobileNets},
    {"ImageSeg",      180, 2, 26.25, "26.97 comes out; 26.25 is the value before it"},
};

constexpr PaperSinglePoint kSinglePoints[] = {
    {"SmallBERT-L4-H512-A8",   "small_bert/bert_en_uncased_L-4_H-512_A-8", 256},
    {"SmallBERT-L2-H128-A2",   "small_bert/bert_en_uncased_L-2_H-128_A-2", 256},
    {"SmallBERT-L2-H256-A4",   "small_bert/bert_en_uncased_L-2_H-256_A-4", 256},
    {"SmallBERT-L2-H512-A8",   "small_bert/bert_en_uncased_L-2_H-512_A-8", 256},
    {"SmallBERT-L2-H768-A12",  "small_bert/bert_en_uncased_L-2_H-768_A-12", 256},
    {"SmallBERT-L4-H128-A2",   "small_bert/bert_en_uncased_L-4_H-128_A-2", 256},
    {"SmallBERT-L4-H256-A4",   "small_bert/bert_en_uncased_L-4_H-256_A-4", 256},
};
// clang-format on

}  // namespace

std::span<const PaperRegenerationRow> prirect_regeneration() { return kTableTwo; }

std::span<const PaperMisprint> prirect_misprints() { return kMisprints; }

std::span<const PaperSyntheticRecipe> prirect_recipes() { return kRecipes; }

std::span<const PaperOddSample> prirect_odd_samples() { return kOddSamples; }

std::span<const PaperSinglePoint> prirect_single_points() { return kSinglePoints; }

}  // namespace corun::inline traces
