import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeBlocksOf } from "./markdown.ts";
import { readText } from "./source.ts";

// A public generator makes a client from /openapi.json. The client compiles, and calls a real service.

const run = promisify(execFile);
const bin = (folder: string, name: string) => join(import.meta.dirname, folder, "node_modules/.bin", name);
const guide = "docs/guides/tools/call-the-api-from-another-language.md";

let svc: TestServer;
let folder: string;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  folder = await mkdtemp(join(tmpdir(), "svc-generated-client-"));
  await run(bin("client-generator", "openapi-ts"), ["-i", `${svc.url}/openapi.json`, "-o", "client"], { cwd: folder });
}, 120_000);
afterAll(async () => {
  await svc?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const compilerOptions = {
  ...{ target: "es2024", lib: ["es2024", "dom", "dom.iterable"], module: "esnext", moduleResolution: "bundler" },
  ...{ strict: true, noEmit: true, skipLibCheck: false, types: ["node"] },
  typeRoots: [join(import.meta.dirname, "../node_modules/@types")],
};

/** Checks the types of a program that uses the client, and runs it. Returns the lines that it prints. */
async function runProgram(name: string, text: string): Promise<string[]> {
  const file = `${name}.ts`;
  await writeFile(join(folder, file), text);
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: [file, "client"] }));
  await run(bin("..", "tsc"), ["-p", folder]).catch(({ stdout }: { stdout: string }) => expect.fail(stdout));
  const bundle = await rolldown({ input: join(folder, file), platform: "node" });
  const made = join(folder, `${name}.mjs`);
  await bundle.write({ file: made, format: "esm" });
  const env = { ...process.env, SVC_URL: svc.url, SVC_API_KEY: svc.key };
  return (await run(process.execPath, [made], { env })).stdout.trimEnd().split(/ *\n/);
}

test("the program of the guide searches, and gets the reason of an error", async () => {
  const program = codeBlocksOf(readText(guide)).find(({ language }) => language === "ts")?.text ?? "";
  const shown = [...program.matchAll(/\); \/\/ (.*)$/gm)].map(([, text]) => text);
  expect(shown).toHaveLength(2);
  expect(await runProgram("guide", program.replace("http://127.0.0.1:8080", svc.url))).toEqual(shown);
}, 120_000);

test("a program lists, creates, and is refused with the field and the reason", async () => {
  const program = `
import { triggersServiceCreateSubscription, triggersServiceListSubscriptions } from "./client";
import { client } from "./client/client.gen";

client.setConfig({ baseUrl: process.env.SVC_URL, auth: () => process.env.SVC_API_KEY });
const print = (...values: unknown[]) => void process.stdout.write([...values, "\\n"].join(" "));
const count = async (): Promise<number | undefined> => {
  const { data } = await triggersServiceListSubscriptions({ body: {} });
  return data?.subscriptions?.length;
};
print(await count());
const { data } = await triggersServiceCreateSubscription({ body: { endpointUrl: "https://example.com/hook" } });
const created: string | undefined = data?.subscription?.endpointUrl;
print(created, data?.signingSecret?.slice(0, 6));
print(await count());
const { error, response } = await triggersServiceCreateSubscription({ body: { endpointUrl: "nowhere" } });
print(response?.status, error?.code, error?.details?.[0]?.debug?.reason, error?.details?.[0]?.debug?.field);
// @ts-expect-error: the call has no such field
void (() => triggersServiceCreateSubscription({ body: { endpoint: "https://example.com/hook" } }));
`;
  expect(await runProgram("calls", program)).toEqual([
    ...["0", "https://example.com/hook whsec_", "1"],
    "400 invalid_argument ENDPOINT_URL_INVALID endpointUrl",
  ]);
}, 120_000);
