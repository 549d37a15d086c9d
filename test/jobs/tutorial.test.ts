import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase } from "@svc/testing/database";
import { startServerProcess, vaultKey } from "@svc/testing/server-process";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocksOf } from "../markdown.ts";
import { startShells } from "../shell.ts";
import { readText } from "../source.ts";

const tutorial = readText("docs/start/automate-a-task.md");

/** Replaces the parts that differ from run to run: ids, times, and the progress of a step. */
function normalize(text: string): string {
  return text
    .replace(/\b(acc|job|stp)_[0-9a-z]{26}/g, "$1_ID")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "TIME")
    .replace(/^\d\d:\d\d:\d\d \w+: .*rows\/s.*\n/gm, "")
    .replace(/^\d\d:\d\d:\d\d /gm, "TIME ")
    .trim();
}

const hasShell = ["bash", "sed"].every((command) => spawnSync(command, ["--version"]).status === 0);

test.skipIf(!hasShell)(
  "docs/start/automate-a-task.md runs as it is pasted, with the outputs that it shows",
  async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const folder = await mkdtemp(join(tmpdir(), "svc-tutorial-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const server = await startServerProcess({
      SVC_DATABASE_URL: database.url,
      SVC_VAULT_KEY: vaultKey(),
      SVC_SANDBOX: "force",
    });
    onTestFinished(async () => void (await server.end("SIGTERM")));
    const run = await startShells({ isHere: false });
    const [start, ...blocks] = codeBlocksOf(tutorial);
    expect(start?.text).toBe("npm start\n");
    let compared = 0;
    for (const [index, { language, text }] of blocks.entries()) {
      if (language !== "sh") continue;
      const shown = blocks[index + 1];
      if (shown?.language !== "text") throw new Error(`nothing is shown of ${text}`);
      expect(normalize(await run(text, { folder, url: server.url })), text).toBe(normalize(shown.text));
      compared++;
    }
    expect(compared).toBe(8);
  },
  480_000,
);
