import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifySnippets } from "./src/pages/subscriptions/verify-snippet.ts";
import { type SnippetCall, snippet } from "./src/pages/tools/try/snippets.ts";

const call: SnippetCall = {
  toolSlug: "messaging_bot.send_message",
  entityId: "ada's bot",
  argumentsJson: JSON.stringify({ chat_id: "4711", text: "It's $HOME and `date`" }),
  isDestructive: false,
  url: "http://127.0.0.1:8080",
};

/** Returns the words that a shell makes of this command line. */
function wordsOf(command: string): string[] {
  const shown = command.replace(/^(?:npx svc|curl)/, "printf '%s\\0'");
  return execFileSync("sh", ["-c", shown], { encoding: "utf8" }).split("\0").slice(0, -1);
}

test("a shell reads the arguments of the CLI and of curl as they were written", () => {
  expect(wordsOf(snippet("cli", call))).toEqual([
    "call",
    call.toolSlug,
    "--entity",
    "ada's bot",
    "--args-json",
    call.argumentsJson,
  ]);
  const body = JSON.parse(wordsOf(snippet("curl", call)).at(-1) ?? "");
  expect(body).toEqual({ toolSlug: call.toolSlug, entityId: call.entityId, argumentsJson: call.argumentsJson });
});

test("a destructive call carries its confirmation, whatever its arguments", () => {
  for (const argumentsJson of ["{}", '{"chat_id":"1"}', '{ "chat_id": {} }\n']) {
    const given = { ...call, argumentsJson, isDestructive: true };
    expect(wordsOf(snippet("cli", given)).at(-1)).toBe("--confirm");
    const { params } = JSON.parse(snippet("mcp", given));
    expect(params.arguments.arguments).toEqual({ ...JSON.parse(argumentsJson), confirm: true });
    expect(snippet("typescript", given)).toContain('"confirm":true');
  }
});

test("while the arguments are no JSON, the call is written without them", () => {
  expect(snippet("mcp", { ...call, argumentsJson: "{" })).toContain('"arguments": {}');
});

const nodeSnippets = verifySnippets.filter(({ name }) => name.startsWith("Node"));

test("code for two libraries of Node is offered", () => {
  expect(nodeSnippets).toHaveLength(2);
});

test.each(nodeSnippets)(
  "the code for $name accepts a signed delivery, and refuses one with a changed byte",
  ({ text }) => {
    const key = Buffer.alloc(32, 7);
    const body = JSON.stringify({
      ...{
        id: "evt_01h455vb4pex5vsknk084sn02q",
        type: "event",
        toolkitSlug: "events",
        triggerSlug: "events.invoice.paid",
      },
      ...{ entityId: "ada", occurredAt: "2026-03-20T09:00:00.000Z", receivedAt: "2026-03-20T09:00:00.000Z" },
      payload: { amount: 5 },
    });
    const id = "dlv_01h455vb4pex5vsknk084sn02q";
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    const headers = {
      ...{ "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` },
      "x-svc-delivery-id": id,
    };
    const run = (given: string) =>
      spawnSync(
        process.execPath,
        [
          ...["--no-warnings", "--input-type=module", "--eval"],
          `const { headers, body } = JSON.parse(process.argv[1]);\n${text}\nprocess.stdout.write(String(event.payload.amount));`,
          JSON.stringify({ headers, body: given }),
        ],
        {
          cwd: join(import.meta.dirname, "..", ".."),
          env: { SVC_SIGNING_SECRET: `whsec_${key.toString("base64")}` },
          encoding: "utf8",
        },
      );
    expect(run(body)).toMatchObject({ status: 0, stdout: "5" });
    expect(run(body.replace("5}", "6}"))).toMatchObject({ status: 1, stdout: "" });
  },
);
