// SPDX-License-Identifier: Apache-2.0
// `daybreak bench kernels`: what this machine can do, and how much of it each kernel gets.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/cpu_quota.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/int8_limit.h"
#include "cli/kernel_timing.h"
#include "cli/machine_limits.h"
#include "kernels/dispatch.h"
#include "kernels/float_environment.h"

namespace daybreak::cli {
namespace {

struct Options {
  std::size_t threads = 0;  // 0: once with 1 and once with all
  std::string isa;
  bool json = false;
};

struct Limits {
  std::size_t threads;
  MachineLimits machine;
  double int8_gmac_s;
};

// The part of the limit that binds a kernel: reading or multiplying, whichever it is nearer to.
struct Share {
  const char* limit;
  double share;
};

Share share_of(const KernelTiming& t, const Limits& limits) {
  const double read = t.gb_s / limits.machine.read_gb_s;
  const double fma = t.gmac_s / limits.machine.fma_gmac_s;
  // A batch reads its weights once for all tokens, and state and latents stay in the cache, so only
  // a single vector is held against the memory.
  if (t.kernel == "matmul" && t.tokens == 1 && read >= fma) {
    return {"read_gb_s", read};
  }
  return {"fma_gmac_s", fma};
}

const Limits& limits_for(const std::vector<Limits>& all, std::size_t threads) {
  return *std::ranges::find(all, threads, &Limits::threads);
}

void print_json(const std::vector<Limits>& limits, const std::vector<KernelTiming>& timings) {
  nlohmann::ordered_json out;
  out["isa"] = kernels::active().isa;
  out["limits"] = nlohmann::ordered_json::array();
  for (const Limits& l : limits) {
    out["limits"].push_back({{"threads", l.threads},
                             {"read_gb_s", l.machine.read_gb_s},
                             {"fma_gmac_s", l.machine.fma_gmac_s},
                             {"int8_gmac_s", l.int8_gmac_s}});
  }
  out["kernels"] = nlohmann::ordered_json::array();
  for (const KernelTiming& t : timings) {
    const Share share = share_of(t, limits_for(limits, t.threads));
    out["kernels"].push_back({{"kernel", t.kernel},
                              {"format", t.format},
                              {"tokens", t.tokens},
                              {"threads", t.threads},
                              {"gb_s", t.gb_s},
                              {"gmac_s", t.gmac_s},
                              {"limit", share.limit},
                              {"share", share.share}});
  }
  fmt::print("{}\n", out.dump());
}

void print_table(const std::vector<Limits>& limits, const std::vector<KernelTiming>& timings) {
  fmt::print("instruction set: {}\n\n", kernels::active().isa);
  fmt::print("{:>7} {:>12} {:>12} {:>12}\n", "threads", "read GB/s", "fma GMAC/s", "int8 GMAC/s");
  for (const Limits& l : limits) {
    fmt::print("{:>7} {:>12.1f} {:>12.1f} {:>12.1f}\n", l.threads, l.machine.read_gb_s,
               l.machine.fma_gmac_s, l.int8_gmac_s);
  }
  fmt::print("\n{:<10} {:<8} {:>6} {:>7} {:>8} {:>8}  {}\n", "kernel", "format", "tokens",
             "threads", "GB/s", "GMAC/s", "share of limit");
  for (const KernelTiming& t : timings) {
    const Share share = share_of(t, limits_for(limits, t.threads));
    fmt::print("{:<10} {:<8} {:>6} {:>7} {:>8.1f} {:>8.1f}  {:.0f} % of {}\n", t.kernel, t.format,
               t.tokens, t.threads, t.gb_s, t.gmac_s, share.share * 100, share.limit);
  }
}

Status bench_kernels(const Options& options) {
  if (!options.isa.empty()) {
    DAYBREAK_CHECK_OK(kernels::use(options.isa));
  }
  std::vector<std::size_t> counts = {options.threads};
  if (options.threads == 0) {
    DAYBREAK_TRY(const std::size_t cpus, available_cpus());
    counts = {1};
    if (cpus > 1) {
      counts.push_back(cpus);
    }
  }
  std::vector<Limits> limits;
  std::vector<KernelTiming> timings;
  for (const std::size_t threads : counts) {
    const auto progress = [threads](const std::string& what) {
      fmt::print(stderr, "{} ({} thread{})\n", what, threads, threads == 1 ? "" : "s");
    };
    progress("limits");
    DAYBREAK_TRY(const auto team, ThreadTeam::start(threads, kernels::set_float_environment));
    limits.push_back({threads, measure_machine_limits(*team), measure_int8_gmac_s(*team)});
    for (KernelTiming& timing : time_kernels(*team, progress)) {
      timings.push_back(std::move(timing));
    }
  }
  if (options.json) {
    print_json(limits, timings);
  } else {
    print_table(limits, timings);
  }
  return ok();
}

}  // namespace

void register_bench_kernels(Command bench) {
  const auto options = std::make_shared<Options>();
  const Command command =
      bench.add_subcommand("kernels", "memory and arithmetic limits, and each kernel beside them");
  command.add_option("--threads", options->threads, "threads (default: once 1, once all)")
      .in_range(1, kMaxTeamThreads);
  command.add_option("--isa", options->isa, "instruction set to force, such as scalar or avx2");
  command.add_flag("--json", options->json, "print one JSON object");
  command.runs([options] { return bench_kernels(*options); });
}

}  // namespace daybreak::cli
