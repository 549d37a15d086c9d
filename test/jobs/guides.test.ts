import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createValidator, type JsonSchema } from "@svc/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { adminToken, type ServerProcess, startServerProcess, vaultKey } from "@svc/testing/server-process";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type CodeBlock, codeBlocksOf } from "../markdown.ts";
import { startShells } from "../shell.ts";
import { readText, root } from "../source.ts";
import { jobPages } from "./pages.ts";

// Runs the guides' commands, curl calls and TypeScript in the order of the page, in the sandbox. Each page has one shell.

/** Commands that no test can run, because they start a server or park a job that is at work. */
const unrun = /npm start|jobs (?:park|release) /;

let server: ServerProcess;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const database = await createTestDatabase();
  ends.push(() => database.drop());
  server = await startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_SANDBOX: "force",
    SVC_TOOLKITS: "toolkits,docs/examples/standing/toolkits",
    SVC_WEBHOOK_SECRET_INCIDENT_HOOKS: "incident-secret",
  });
  ends.push(() => server.end("SIGTERM"));
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

/** A block that runs, and the block with its output if one follows. */
type Step = { readonly block: CodeBlock; readonly shown: string | undefined };

function stepsOf(page: string): Step[] {
  const blocks = codeBlocksOf(readText(page));
  return blocks.flatMap((block, index) => {
    if (!["sh", "ts"].includes(block.language) || unrun.test(block.text)) return [];
    const next = blocks[index + 1];
    return [{ block, shown: next?.language === "text" ? next.text : undefined }];
  });
}

/** Returns the JSON blocks that name a file. */
function filesOf(page: string): { name: string; text: string }[] {
  const titled = readText(page).matchAll(/^```json title="([\w.-]+)"\n([\s\S]*?)^```$/gm);
  return [...titled].map(([, name = "", text = ""]) => ({ name, text }));
}

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-guide-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await symlink(join(root, "docs"), join(folder, "docs"));
  await mkdir(join(folder, "node_modules"));
  await symlink(join(root, "node_modules", "@svc"), join(folder, "node_modules", "@svc"));
  const canonicalize = join("node_modules", "canonicalize");
  await symlink(join(root, "packages", "program", canonicalize), join(folder, canonicalize));
  return folder;
}

/** Replaces the parts that differ from run to run: ids, times and secrets. */
function normalize(text: string): string {
  return text
    .replace(/\b(acc|aep|ask|job|srn|stp)_[0-9a-z]{26}/g, "$1_ID")
    .replace(/\d{4}-\d\d-\d\d(T[\d:.]+Z?)?/g, "TIME")
    .replace(/^\d\d:\d\d:\d\d \w+: .*rows\/s.*\n/gm, "")
    .replace(/^\d\d:\d\d:\d\d /gm, "TIME ")
    .replace(/whsec_[A-Za-z0-9+/=]+/g, "whsec_SECRET")
    .trim();
}

test("definitions of schedules, and parts of them, have the form of one", async () => {
  const definition = (await (await fetch(`${server.url}/schemas/standing.v1.json`)).json()) as JsonSchema;
  const isPart = createValidator({ ...definition, required: [] });
  const blocks = jobPages.flatMap((page) => codeBlocksOf(readText(page)).filter(({ language }) => language === "json"));
  const parts = blocks.flatMap(({ text }) => {
    const block = JSON.parse(text) as Record<string, unknown>;
    if ("source" in block) return [block];
    return ["schedule", "trigger", "poll"].some((name) => name in block) ? [{ source: block }] : [];
  });
  expect(parts.length).toBeGreaterThan(4);
  for (const part of parts) expect(isPart(part), JSON.stringify(part)).toEqual([]);
});

/**
 * A script that ends at the first failing command. With `--no-wait`, commands of two kinds of jobs do not fail it: those that wait for a
 * person (exit status 3), and those that fail on purpose (1).
 */
const shell = `set -e; export SVC_ADMIN_TOKEN=${adminToken}
node() { "${process.execPath}" "$@"; }
eval "run_$(declare -f npx)"
npx() { case "$*" in *--no-wait*) run_npx "$@" || test $? = 1 -o $? = 3;; *) run_npx "$@";; esac; }`;

const hasShell = ["bash", "curl", "jq"].every((command) => spawnSync(command, ["--version"]).status === 0);
const guides = jobPages.filter((page) => page !== "docs/start/automate-a-task.md" && stepsOf(page).length > 0);

describe.skipIf(!hasShell).each(guides)("%s", (page) => {
  test("runs as it is printed", async () => {
    const folder = await createFolder();
    const run = await startShells({ isHere: true });
    for (const { name, text } of filesOf(page)) await writeFile(join(folder, name), text);
    const steps = stepsOf(page);
    const marker = "--- end of a block ---";
    const commands = steps.map(({ block: { language, text } }, index) => {
      const local = text.replaceAll("http://127.0.0.1:8080", server.url);
      return language === "sh"
        ? local
        : `cat > snippet-${index}.ts <<'SNIPPET'\n${local}SNIPPET\nnode snippet-${index}.ts\n`;
    });
    const script = `${shell}
${commands.join(`echo "${marker}"\n`)}echo "${marker}"`;
    const outputs = (await run(script, { folder, url: server.url })).split(`${marker}\n`);
    expect(outputs.length, outputs.join(marker)).toBe(steps.length + 1);
    for (const [index, { block, shown }] of steps.entries()) {
      if (shown !== undefined) expect(normalize(outputs[index] ?? ""), block.text).toBe(normalize(shown));
    }
  }, 240_000);
});
