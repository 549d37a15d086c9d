import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServerProcess } from "@svc/testing/server-process";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocksOf } from "./markdown.ts";
import { readText } from "./source.ts";
import { compact, normalize, quickNpx, startShell } from "./tour.ts";

/** The commands of README.md's tour, with the outputs printed under them. */
const [, tour = ""] = /^## Tour$([\s\S]*?)^## /m.exec(readText("README.md")) ?? [];

// Tests need only Node and npm, but the tour needs a shell.
const hasShell = ["bash", "curl", "grep"].every((command) => spawnSync(command, ["--version"]).status === 0);

test.skipIf(!hasShell)(
  "the tour of README.md runs as it is printed, with the outputs that it shows",
  async () => {
    // The server creates this folder. A folder made by mkdtemp could not be entered by the account under which root's PostgreSQL runs.
    const dataDir = join(tmpdir(), `svc-readme-${process.pid}`);
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const environment = { SVC_DATA_DIR: dataDir, SVC_BOOTSTRAP_KEY: "", SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
    const server = await startServerProcess(environment);
    onTestFinished(async () => void (await server.end("SIGTERM")));
    const places = [
      ["/tmp/svc-tour", dataDir],
      ["127.0.0.1:8080", `127.0.0.1:${server.port}`],
    ] as const;
    const shell = startShell({ SVC_PORT: String(server.port) });
    onTestFinished(shell.end);
    const [start, ...steps] = codeBlocksOf(tour);
    expect(start?.text).toContain("npm start");
    expect(steps.filter(({ language }) => language === "sh").length).toBe(6);
    let output = "";
    let isQuick = false;
    for (const { language, text } of steps) {
      if (language !== "sh") {
        expect(normalize(language === "json" ? compact(output) : output)).toBe(
          normalize(language === "json" ? compact(text) : text),
        );
        continue;
      }
      output = await shell.run(places.reduce((command, [from, to]) => command.replaceAll(from, to), text));
      // Only the first command runs as for a reader. npm with the sources takes five times as long as a bundle, which the later ones use.
      if (!isQuick && text.includes("npx svc ")) {
        await shell.run(quickNpx);
        isQuick = true;
      }
    }
    expect(isQuick).toBe(true);
  },
  240_000,
);
