import { execFile, spawn, spawnSync } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, until } from "@svc/testing/server-process";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocksOf } from "./markdown.ts";
import { readText, root } from "./source.ts";
import { isListening } from "./tour.ts";

const run = promisify(execFile);
const secret = `whsec_${randomBytes(32).toString("base64")}`;
const body = JSON.stringify({
  id: "evt_1",
  type: "event",
  toolkitSlug: "calendar",
  triggerSlug: "calendar.events_changed",
  entityId: "",
  occurredAt: "2026-01-02T03:04:05.000Z",
  receivedAt: "2026-01-02T03:04:05.000Z",
  payload: { message_number: 1 },
});
const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

const guide = codeBlocksOf(readText("docs/guides/webhooks/verify-signatures.md"));

/** Returns the only block of the guide that is in a language and contains a text. */
function blockOf(language: string, part: string): string {
  const found = guide.filter((block) => block.language === language && block.text.includes(part));
  expect(found).toHaveLength(1);
  return found[0]?.text ?? "";
}

/** Runs TypeScript in the checkout. Resolves with its output. */
async function runTypeScript(code: string): Promise<string> {
  const { stdout } = await run(
    process.execPath,
    ["--no-warnings", "--input-type=module-typescript", "-e", code, secret, body, signature],
    { cwd: root },
  );
  return stdout.trim();
}

const values = "const [signingSecret = '', body = '', signature = ''] = process.argv.slice(1);";

test("the verification by hand in TypeScript takes what svc signs, and nothing else", async () => {
  const check = `process.stdout.write(String([body, body + " "].map((text) => isSigned(Buffer.from(text), signature, signingSecret))));`;
  expect(await runTypeScript(`${blockOf("ts", "isSigned")}\n${values}\n${check}`)).toBe("true,false");
});

test("the receiver with a library takes what svc signs, and nothing else", async () => {
  const post = await startReceiver(blockOf("ts", "standardwebhooks"));
  const at = new Date();
  const headers = {
    "webhook-id": "dlv_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("dlv_1", at, body),
  };
  expect(await post(headers)).toBe(204);
  expect(await post({ ...headers, "webhook-id": "dlv_2" })).toBe(401);
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;
test.skipIf(!hasPython)("the verification in Python takes what svc signs, and nothing else", async () => {
  const check = `import sys
secret, body, signature = sys.argv[1:]
print(is_signed(body.encode(), signature, secret), is_signed((body + " ").encode(), signature, secret))`;
  const { stdout } = await run("python3", ["-c", `${blockOf("python", "hmac")}\n${check}`, secret, body, signature]);
  expect(stdout.trim()).toBe("True False");
});

const hasOpenssl = ["bash", "openssl", "cut"].every((command) => spawnSync(command, ["--version"]).error === undefined);
test.skipIf(!hasOpenssl)("the command in a shell prints the signature of a saved body", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-verify-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "body.json"), body);
  const env = { ...process.env, SIGNING_SECRET: secret };
  const { stdout } = await run("bash", ["-c", blockOf("sh", "openssl")], { cwd: folder, env });
  expect(`sha256=${stdout.trim()}`).toBe(signature);
});

test("the receiver of the guide answers 204 to a signed delivery, and 401 to any other", async () => {
  const [receiver] = codeBlocksOf(readText("docs/guides/webhooks/write-a-receiver.md")).filter(
    ({ language }) => language === "ts",
  );
  let printed = "";
  const post = await startReceiver(receiver?.text ?? "", (text) => (printed += text));
  expect(await post({ "x-svc-signature": signature, "x-svc-delivery-id": "dlv_1" })).toBe(204);
  expect(await post({ "x-svc-signature": signature.replace(/.$/, "_"), "x-svc-delivery-id": "dlv_1" })).toBe(401);
  await until(() => printed.includes("dlv_1 calendar.events_changed { message_number: 1 }"), 10_000, "the event");
});

/** Starts a receiver of the documentation. Returns a function that posts the body with some headers and resolves with the status. */
async function startReceiver(
  code: string,
  onPrinted: (text: string) => void = () => {},
): Promise<(headers: Record<string, string>) => Promise<number>> {
  const port = await freePort();
  const local = code.replace("listen(3000)", `listen(${port}, "127.0.0.1")`);
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module-typescript", "-e", local], {
    cwd: root,
    env: { ...process.env, SIGNING_SECRET: secret },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.on("data", (chunk: Buffer) => onPrinted(chunk.toString()));
  onTestFinished(async () => {
    child.kill();
    await once(child, "exit");
  });
  await until(() => isListening(port), 60_000, "the receiver");
  return async (headers) => (await fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", headers, body })).status;
}
