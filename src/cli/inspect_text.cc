// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/human_units.h"
#include "cli/inspect_report.h"
#include "cli/inspect_table.h"

namespace daybreak::cli {
namespace {

using Align = Table::Align;

std::string heading(std::string_view text, bool colour) {
  return "\n" + paint(text, Colour::kBold, colour) + "\n";
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%5.1f%%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string moe_line(const model::ModelConfig& config) {
  if (!config.moe || config.moe_layer_count() == 0) {
    return "none: every layer has a dense MLP";
  }
  const model::MoeConfig& moe = *config.moe;
  std::string text =
      std::to_string(moe.experts) + ", " + std::to_string(moe.experts_per_token) + " per token";
  text += moe.router == model::RouterActivation::kSigmoid ? ", sigmoid" : ", softmax";
  if (moe.topk_groups < moe.groups) {
    text += ", best " + std::to_string(moe.topk_groups) + " of " + std::to_string(moe.groups) +
            " groups";
  }
  if (moe.shared_experts > 0) {
    text += ", " + std::to_string(moe.shared_experts) + " shared";
  }
  return moe.latent_size ? text + ", latent " + std::to_string(*moe.latent_size) : text;
}

std::string overview(const InspectReport& report) {
  const model::ModelConfig& config = report.config;
  Table table({Align::kLeft, Align::kLeft});
  table.row({"model", config.model_type + ", hidden " + std::to_string(config.hidden_size) +
                          ", vocabulary " + grouped(config.vocab_size) +
                          (config.tie_word_embeddings ? ", tied head" : "")});
  table.row({"layers", std::to_string(config.layers) + ": " + layer_pattern(config) + "  (K: KDA " +
                           std::to_string(config.kda_layer_count()) + ", M: MLA " +
                           std::to_string(config.mla_layer_count()) + ")"});
  table.row(
      {"feed-forward", std::to_string(config.moe_layer_count()) + " MoE, " +
                           std::to_string(config.layers - config.moe_layer_count()) + " dense, " +
                           (config.activation == model::Activation::kSitu ? "SiTU" : "SiLU")});
  table.row({"experts", moe_line(config)});
  table.row({"residuals",
             config.attn_res_block_size
                 ? "attention residuals, blocks of " + std::to_string(*config.attn_res_block_size)
                 : "ordinary"});
  table.row({"vision", config.vision ? std::to_string(config.vision->layers) + " layers" : "none"});
  table.row({"context", grouped(config.max_positions) + " positions"});
  return table.text();
}

std::string sizes(const InspectReport& report) {
  const model::ModelSize& size = report.size;
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.row({"", "parameters", "bytes", "share", "tensors"});
  for (std::size_t i = 0; i < model::kTensorRoleCount; ++i) {
    const model::SizeCount& count = size.by_role[i];
    if (count.tensors == 0) {
      continue;
    }
    table.row({std::string(to_string(static_cast<model::TensorRole>(i))), grouped(count.parameters),
               grouped(count.bytes), share_of(count.bytes, size.total.bytes),
               grouped(count.tensors)});
  }
  table.row({"total", grouped(size.total.parameters), grouped(size.total.bytes), "",
             grouped(size.total.tensors)});
  table.row({"active per token", grouped(size.active_parameters), "",
             share_of(size.active_parameters, size.total.parameters), ""});
  return table.text();
}

std::string element_types(const InspectReport& report) {
  Table table({Align::kLeft, Align::kRight, Align::kRight});
  for (std::size_t i = 0; i < model::kDTypeCount; ++i) {
    const model::SizeCount& count = report.size.by_dtype[i];
    if (count.tensors > 0) {
      table.row({std::string(to_string(static_cast<model::DType>(i))), grouped(count.bytes),
                 grouped(count.tensors) + " tensors"});
    }
  }
  return table.text();
}

std::string layer_rows(const InspectReport& report) {
  Table table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.row({"layer", "kind", "parameters", "bytes", "tensors"});
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    const LayerFacts& layer = report.layers[i];
    table.row({std::to_string(i), layer.kind, grouped(layer.parameters), grouped(layer.bytes),
               grouped(layer.tensors)});
  }
  return table.text();
}

std::string memory_rows(const model::MemoryPlan& plan) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  const auto row = [&](const std::string& name, std::uint64_t bytes, const std::string& note) {
    table.row({name, grouped(bytes), human_bytes(bytes), note});
  };
  const std::string format = plan.options.format == model::StateFormat::kF32 ? "fp32" : "bf16";
  row("weights", plan.weights, "mapped from the files");
  row("copies", plan.copies, "key projections, transposed when loading");
  row("MLA cache", plan.cache, grouped(plan.cache_per_token) + " per token, " + format);
  row("sequence state", plan.sequences,
      "each " + grouped(plan.state_per_sequence) + " KDA + " + grouped(plan.conv_per_sequence) +
          " convolution");
  row("state checkpoints", plan.checkpoints,
      grouped(plan.options.checkpoints) + " of " +
          grouped(plan.state_per_sequence + plan.conv_per_sequence) +
          ", at most, in a server (state_checkpoints)");
  row("in flight", plan.in_flight,
      grouped(plan.residual_per_token) + " of residuals per token, " +
          std::to_string(plan.options.tokens_in_flight) + " at once");
  row("total", plan.total, "");
  return table.text();
}

std::string verdict(const InspectReport& report, bool colour) {
  const model::MemoryPlan& plan = report.plan;
  const std::string machine = " this machine's " + human_bytes(report.memory_total) + " (" +
                              grouped(report.memory_total) + " bytes)";
  if (report.memory_total == 0) {
    return "  the memory of this machine is not known\n";
  }
  if (plan.total <= report.memory_total) {
    return "  " + paint("fits", Colour::kGreen, colour) + " into" + machine + "\n";
  }
  const std::uint64_t short_by = plan.total - report.memory_total;
  const std::string missing =
      human_bytes(short_by) + " (" + grouped(short_by) + " bytes) more than" + machine;
  if (plan.total - plan.weights <= report.memory_total) {
    return "  " + paint("does not fit", Colour::kYellow, colour) + ": " + missing +
           ";\n  weights that are not in memory would be read from the disk for every token\n";
  }
  return "  " + paint("does not fit", Colour::kRed, colour) + ": " + missing +
         ";\n  cache and state alone are too large: use a smaller --context, fewer --slots or\n  "
         "--state-checkpoints\n";
}

std::string checkpoint_text(const InspectReport& report, bool colour) {
  if (!report.checkpoint) {
    return "  no weights here: sizes are those of the released layout\n";
  }
  const CheckpointFacts& facts = *report.checkpoint;
  std::string text = "  " + grouped(facts.tensors) + " tensors in " + std::to_string(facts.shards) +
                     (facts.shards == 1 ? " file, " : " files, ") + grouped(facts.file_bytes) +
                     " bytes\n";
  if (facts.catalog.problems == 0) {
    text += "  " + paint("complete", Colour::kGreen, colour) + ": all " +
            grouped(facts.catalog.expected) + " tensors of config.json are there as asked for\n";
  } else {
    const std::string count =
        grouped(facts.catalog.problems) + (facts.catalog.problems == 1 ? " problem" : " problems");
    text += "  " + paint(count, Colour::kRed, colour) + ", the first of them:\n";
    for (const Error& error : facts.catalog.shown) {
      text += "    " + error.message + "\n";
    }
  }
  if (facts.catalog.ignored > 0) {
    text += "  ignored: " + grouped(facts.catalog.ignored) + " tensors no layer uses, such as " +
            facts.catalog.ignored_shown.front() + "\n";
  }
  text += facts.verified ? "  " + paint("verified", Colour::kGreen, colour) +
                               ": every byte read, no holes, no NaN scale\n"
                         : "  bytes not read; --verify reads and checks them all\n";
  return text;
}

}  // namespace

std::string inspect_text(const InspectReport& report, bool show_layers, bool colour) {
  std::string text = paint(report.path.string(), Colour::kBold, colour) + "\n" + overview(report);
  text += heading("Parameters: " + human_count(report.size.total.parameters) + ", " +
                      human_count(report.size.active_parameters) + " active",
                  colour);
  text += sizes(report);
  if (show_layers) {
    text += heading("Layers", colour) + layer_rows(report);
  }
  text += heading("Element types", colour) + element_types(report);
  const model::MemoryPlanOptions& plan = report.plan.options;
  text += heading("Memory: " + grouped(plan.slots) +
                      (plan.slots == 1 ? " sequence of " : " sequences of ") +
                      grouped(plan.context) + " positions",
                  colour);
  text += memory_rows(report.plan) + verdict(report, colour);
  return text + heading("Checkpoint", colour) + checkpoint_text(report, colour);
}

}  // namespace daybreak::cli
