import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
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
