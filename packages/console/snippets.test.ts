import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
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

test("a customer is offered code without svc, for two languages", () => {
  const ofCustomers = verifySnippets.filter(({ isForCustomer }) => isForCustomer);
  expect(ofCustomers.map(({ name }) => name.split(",")[0])).toEqual(["Node", "Python"]);
  expect(ofCustomers.map(({ text }) => text).join()).not.toMatch(/svc/i);
});

/** Runs a program with the text of a JSON value as its argument. */
type Runner = (code: string, given: string, env: Record<string, string>) => ReturnType<typeof spawnSync>;

const cwd = join(import.meta.dirname, "..", "..");
const runners: Record<"Node" | "Python", Runner> = {
  Node: (code, given, env) =>
    spawnSync(
      process.execPath,
      [
        ...["--no-warnings", "--input-type=module", "--eval"],
        `const { headers, body } = JSON.parse(process.argv[1]);\n${code}\nprocess.stdout.write(String(event.payload.amount));`,
        given,
      ],
      { cwd, env, encoding: "utf8" },
    ),
  Python: (code, given, env) =>
    spawnSync(
      "python3",
      [
        "-c",
        `import json as j, sys\ngiven = j.loads(sys.argv[1])\nheaders, body = given["headers"], given["body"].encode()\n${code}\nprint(event["payload"]["amount"], end="")`,
        given,
      ],
      { cwd, env, encoding: "utf8" },
    ),
};
const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe.each(verifySnippets)("the code for $name", ({ name, text }) => {
  const isPython = name.startsWith("Python");

  test.skipIf(isPython && !hasPython)("accepts a signed delivery, and refuses a changed byte and an old one", () => {
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
    const run = (given: string, agoSeconds = 0) => {
      const timestamp = String(Math.floor(Date.now() / 1_000) - agoSeconds);
      const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
      const headers = {
        // During a rotation of the secret, a delivery has two signatures.
        ...{ "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,AAAA v1,${signature}` },
        "x-svc-delivery-id": id,
      };
      const env = { ...process.env, SIGNING_SECRET: `whsec_${key.toString("base64")}` };
      return runners[isPython ? "Python" : "Node"](text, JSON.stringify({ headers, body: given }), env);
    };
    expect(run(body)).toMatchObject({ status: 0, stdout: "5" });
    expect(run(body.replace("5}", "6}"))).toMatchObject({ status: 1, stdout: "" });
    expect(run(body, 3_600)).toMatchObject({ status: 1, stdout: "" });
  });
});
