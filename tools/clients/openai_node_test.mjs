// The official npm package against a running server: plain, streamed, several choices, errors.
// usage: node openai_node_test.mjs URL
import OpenAI from "openai";

function check(condition, what) {
  if (!condition) {
    console.error(`failed: ${what}`);
    process.exit(1);
  }
}

async function plainAndStreamed(client, model) {
  const options = {
    model,
    messages: [{ role: "user", content: "Hello! Who are you?" }],
    temperature: 0,
    max_completion_tokens: 48,
  };
  const plain = await client.chat.completions.create(options);
  const choice = plain.choices[0];
  check(["stop", "length"].includes(choice.finish_reason), `finish_reason ${choice.finish_reason}`);
  check(plain.usage.completion_tokens > 0, "usage");

  let content = "";
  let reasoning = "";
  let finish = null;
  let usage = null;
  const stream = await client.chat.completions.create({
    ...options,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    for (const part of chunk.choices) {
      content += part.delta.content ?? "";
      reasoning += part.delta.reasoning_content ?? "";
      finish = part.finish_reason ?? finish;
    }
  }
  check(content === (choice.message.content ?? ""), "streamed content equals the plain one");
  check(reasoning === (choice.message.reasoning_content ?? ""), "reasoning too");
  check(finish === choice.finish_reason, "finish_reason too");
  check(usage.completion_tokens === plain.usage.completion_tokens, "usage too");
  check(content || reasoning, "some text");
}

async function expectStatus(status, promise) {
  try {
    await promise;
  } catch (error) {
    check(error instanceof OpenAI.APIError && error.status === status, `status ${status}, got ${error}`);
    return;
  }
  check(false, `expected status ${status}`);
}

const client = new OpenAI({ baseURL: `${process.argv[2]}/v1`, apiKey: "none", maxRetries: 0, timeout: 120_000 });
const model = (await client.models.list()).data[0].id;
const messages = [{ role: "user", content: "hi" }];
await plainAndStreamed(client, model);
const several = await client.chat.completions.create({ model, messages, n: 2, seed: 1, max_tokens: 8 });
check(several.choices.length === 2, "two choices");
await expectStatus(404, client.chat.completions.create({ model: "no-such-model", messages }));
await expectStatus(400, client.chat.completions.create({ model, messages: [] }));
console.log("openai (npm): models, plain, streamed, n=2, errors ok");
