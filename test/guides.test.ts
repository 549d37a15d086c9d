import { execFile, spawnSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { adminToken, call, freePort, type ServerProcess, startServerProcess, until } from "@svc/testing/server-process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CodeBlock, codeBlocksOf } from "./markdown.ts";
import { readText, root } from "./source.ts";
import { compact, isListening, normalize, npxOfGuides, startShell } from "./tour.ts";

/**
 * A page whose shell blocks run as printed, in the page's order and against one service, as for a reader who follows the page. A block of
 * text or JSON directly after a shell block is its output. `before` prepares what the page assumes. A block marked `norun` does not run.
 */
type Page = { readonly path: string; readonly before?: string };

const ids = `SUBSCRIPTION=$(npx svc subscriptions --json | grep -o 'sub_[0-9a-z]*' | head -1)
EVENT=$(npx svc events --json | grep -o 'evt_[0-9a-z]*' | head -1)
DELIVERY=$(npx svc deliveries --event $EVENT --json | grep -o 'dlv_[0-9a-z]*' | head -1)`;

const account = `ACCOUNT=$(npx svc connections --entity bob --json | grep -o 'acc_[0-9a-z]*' | head -1)
export SVC_API_KEY=$(cat $SVC_DATA_DIR/first-key)`;

const pages: readonly Page[] = [
  { path: "start/receive-webhooks.md" },
  { path: "start/give-tools-to-an-agent.md" },
  { path: "guides/webhooks/receive-posts-of-an-app.md" },
  { path: "guides/webhooks/test-an-endpoint.md", before: ids },
  { path: "guides/webhooks/fix-a-failing-endpoint.md", before: `npx svc trigger calendar\n${ids}` },
  { path: "guides/webhooks/replay-events.md", before: ids },
  { path: "guides/webhooks/poll-events.md" },
  { path: "guides/webhooks/release-quarantined-posts.md" },
  { path: "guides/webhooks/start-a-job-from-an-event.md" },
  { path: "guides/webhooks/use-the-api.md", before: `npx svc subscriptions delete $SUBSCRIPTION` },
  { path: "guides/tools/call-tools-from-a-program.md" },
  { path: "guides/tools/call-the-api-from-another-language.md" },
  { path: "guides/tools/call-tools-with-types.md" },
  { path: "guides/tools/make-repeated-calls-safe.md" },
  { path: "guides/tools/issue-a-key-for-an-agent.md" },
  { path: "guides/tools/give-a-key-more-tools.md" },
  { path: "guides/tools/let-an-agent-sign-in.md" },
  { path: "guides/connections/connect-an-account.md" },
  { path: "guides/connections/test-a-credential.md", before: account },
  { path: "guides/connections/match-events-to-accounts.md", before: account },
  { path: "guides/connections/send-a-connect-link.md" },
  { path: "guides/connections/allow-redirect-addresses.md" },
  { path: "guides/connections/store-named-secrets.md" },
  { path: "guides/connections/try-failures-in-the-sandbox.md" },
  { path: "guides/tools/limit-calls.md" },
  { path: "guides/toolkits/import-an-openapi-document.md" },
  { path: "guides/toolkits/add-search-phrases.md" },
  { path: "guides/toolkits/update-an-imported-toolkit.md" },
  { path: "guides/tools/subscribe-to-events-over-mcp.md" },
  { path: "guides/webhooks/publish-your-own-events.md" },
  { path: "guides/webhooks/filter-what-a-subscription-receives.md" },
  { path: "guides/webhooks/describe-your-events.md" },
  { path: "guides/webhooks/let-customers-manage-endpoints.md" },
  { path: "guides/webhooks/get-notified-of-failures.md" },
  // These pages come last, because their settings hold every later call.
  { path: "guides/tools/check-calls-with-hooks.md" },
  { path: "guides/tools/require-a-person-to-confirm.md" },
  // Leaves the folder in which the others are read.
  { path: "guides/webhooks/receive-webhooks-of-your-own-app.md", before: `cd "$(mktemp -d)"` },
];

const hasShell = ["bash", "curl", "grep"].every((command) => spawnSync(command, ["--version"]).status === 0);

// The server creates this folder. A folder made by mkdtemp could not be entered by the account under which root's PostgreSQL runs.
const dataDir = join(tmpdir(), `svc-guides-${process.pid}`);
let server: ServerProcess;
let shell: ReturnType<typeof startShell>;
let receiverPort = 0;

beforeAll(async () => {
  if (!hasShell) return;
  server = await startServerProcess({
    SVC_DATA_DIR: dataDir,
    SVC_BOOTSTRAP_KEY: "",
    SVC_WEBHOOK_SECRET_CALENDAR: "swordfish",
  });
  receiverPort = await freePort();
  shell = startShell({ SVC_PORT: String(server.port), SVC_ADMIN_TOKEN: adminToken });
  await shell.run(await npxOfGuides());
}, 240_000);
afterAll(async () => {
  await shell?.end();
  await server?.end("SIGTERM");
  await rm(dataDir, { recursive: true, force: true });
});

/** Returns a block's commands with the ports and the data folder of this test filled in. */
function here(text: string): string {
  return text
    .replaceAll("/tmp/svc-tour", dataDir)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${server.port}`)
    .replaceAll("127.0.0.1:3000", `127.0.0.1:${receiverPort}`)
    .replaceAll("listen(3000)", `listen(${receiverPort})`);
}

/** Waits for events that would happen while a reader continues to read: deliveries arrive, and the endpoint listens. */
async function settle(text: string): Promise<void> {
  if (text.includes("listen(3000)")) await until(() => isListening(receiverPort), 60_000, "the endpoint");
  // Posts to a private toolkit come after pages whose endpoints never answer, so some deliveries stay pending.
  if (!/\/webhooks\/|svc (?:trigger(?!.*--private)|replay|subscriptions test)|Replay/.test(text)) return;
  const key = (await readFile(join(dataDir, "first-key"), "utf8")).trim();
  const request = { state: "pending", since: "2000-01-01T00:00:00Z" };
  await until(
    async () => {
      const answer = await call<{ deliveries: unknown[] }>(server, "TriggersService/ListDeliveries", request, key);
      return answer.deliveries.length === 0;
    },
    60_000,
    "the deliveries",
  );
}

/** Digest that a command printed last. The pages show one that depends on how svc converts their documents. */
let digest = "";

/** Runs a shell block and compares its output with the block below it. */
async function runBlock(block: CodeBlock, next: CodeBlock | undefined): Promise<void> {
  let output = await shell.run(here(block.text).replace(/--digest [0-9a-f]{12}/g, `--digest ${digest}`));
  digest = /--digest ([0-9a-f]{12})/.exec(output)?.[1] ?? digest;
  const isShown = next !== undefined && ["text", "json"].includes(next.language) && next.info !== "norun";
  if (!isShown) expect(shell.status(), `${block.text}${output}`).toBe(0);
  // A job that an event starts begins a moment after the event.
  if (isShown && block.text.includes("standing runs"))
    await until(
      async () => {
        output = await shell.run(here(block.text));
        return output !== "";
      },
      60_000,
      "the run",
    );
  await settle(block.text);
  if (!isShown) return;
  const isJson = next.language === "json";
  expect(normalize(isJson ? compact(output) : output), block.text).toBe(
    normalize(isJson ? compact(next.text) : next.text),
  );
}

describe.skipIf(!hasShell)("the shell blocks of a page run as they are printed, with the outputs that it shows", () => {
  test.each(pages)(
    "docs/$path",
    async ({ path, before }) => {
      if (before !== undefined) {
        await shell.run(before);
        await settle(before);
      }
      const blocks = codeBlocksOf(readText(`docs/${path}`));
      for (const [index, block] of blocks.entries()) {
        if (block.language === "text" && block.text.startsWith("dlv_") && blocks[index - 1]?.language !== "sh")
          expect(normalize(shell.received[0] ?? "")).toBe(normalize(block.text));
        if (block.language !== "sh" || block.info === "norun" || block.text.includes("npm start")) continue;
        await runBlock(block, blocks[index + 1]);
      }
    },
    240_000,
  );
});

/** Pages whose TypeScript runs, each with the setup that it needs. */
const programs = [
  "guides/webhooks/use-the-api.md",
  "guides/tools/call-tools-from-a-program.md",
  "guides/tools/call-tools-with-types.md",
  "guides/tools/use-an-agent-framework.md",
];

describe("the TypeScript of a page runs as it is printed", () => {
  test.each(programs)(
    "docs/%s",
    async (path) => {
      const key = (await readFile(join(dataDir, "first-key"), "utf8")).trim();
      const blocks = codeBlocksOf(readText(`docs/${path}`)).filter(({ language }) => language === "ts");
      expect(blocks.length).toBeGreaterThan(0);
      // An open connection would keep the process alive, so it exits explicitly.
      for (const { text } of blocks) await runTypeScript(`${here(text)}\nprocess.exit(0);`, { SVC_API_KEY: key });
    },
    240_000,
  );
});

/** Runs a program in the checkout as if it were a file in a reader's folder. Rejects with the program's output if it fails. */
async function runTypeScript(code: string, variables: Record<string, string>): Promise<void> {
  const args = ["--no-warnings", "--input-type=module-typescript", "-e", code];
  await promisify(execFile)(process.execPath, args, { cwd: root, env: { ...process.env, ...variables } });
}
