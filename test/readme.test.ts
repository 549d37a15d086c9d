import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { call, freePort, type ServerProcess, startServerProcess, until } from "@svc/testing/server-process";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocksOf } from "./markdown.ts";
import { readText, root } from "./source.ts";

/** The commands of README.md's tour, and of the long one, with the outputs printed under them. */
const [, tour = ""] = /^## Tour$([\s\S]*?)^## /m.exec(readText("README.md")) ?? [];
const [, longTour = ""] = /^# Tour$([\s\S]*?)^## The same in TypeScript$/m.exec(readText("docs/tour.md")) ?? [];

/** What differs from run to run: ids, times, secrets, durations, ports. */
function normalize(text: string): string {
  return text
    .replace(/\b(evt|dlv|sub|acc|call|stp)_[0-9a-z]{26}/g, "$1_ID")
    .replace(/whsec_[A-Za-z0-9+/=]+/g, "whsec_SECRET")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/"durationMs":\d+/g, '"durationMs":0')
    .replace(/"(p50Ms|p99Ms)":[1-9]\d*/g, '"$1":MEASURED')
    .replace(/"date":"[^"]+"/g, '"date":"DATE"')
    .replace(/(\\?"date\\?": ?)\d{10}\b/g, "$1SECONDS")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .trim();
}

// The tests need Node and npm alone; the tour is for people who have a shell.
const hasShell = ["bash", "curl", "grep"].every((command) => spawnSync(command, ["--version"]).status === 0);

test.skipIf(!hasShell)(
  "the tours of README.md and docs/tour.md run as they are printed, with the outputs that they show",
  async () => {
    // Made by the server itself: the account that PostgreSQL gets from root cannot enter a folder of mkdtemp.
    const dataDir = join(tmpdir(), `svc-readme-${process.pid}`);
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const environment = { SVC_DATA_DIR: dataDir, SVC_BOOTSTRAP_KEY: "", SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
    const server = await startServerProcess(environment);
    onTestFinished(async () => void (await server.end("SIGTERM")));
    const receiverPort = await freePort();
    const places = [
      ["/tmp/svc-tour", dataDir],
      ["127.0.0.1:8080", `127.0.0.1:${server.port}`],
      ["127.0.0.1:3000", `127.0.0.1:${receiverPort}`],
      ["listen(3000)", `listen(${receiverPort})`],
    ] as const;
    const shell = startShell({ SVC_PORT: String(server.port) });
    onTestFinished(shell.end);
    const [start, ...short] = codeBlocksOf(tour);
    const [startAgain, ...long] = codeBlocksOf(longTour);
    for (const block of [start, startAgain]) expect(block?.text).toContain("npm start");
    expect(short.filter(({ language }) => language === "sh").length).toBe(6);
    expect(long.length).toBeGreaterThan(24);
    const steps = [...short, ...long];
    let output = "";
    let isQuick = false;
    for (const { language, text } of steps) {
      if (language !== "sh") {
        const shown = text.startsWith("dlv_") ? (shell.received[0] ?? "") : output;
        expect(normalize(language === "json" ? compact(shown) : shown)).toBe(
          normalize(language === "json" ? compact(text) : text),
        );
        continue;
      }
      output = await shell.run(places.reduce((command, [from, to]) => command.replaceAll(from, to), text));
      // The first command is run as readers do; npm and the sources take five times as long as a bundle.
      if (!isQuick && text.includes("npx svc ")) {
        await shell.run(quickNpx);
        isQuick = true;
      }
      if (text.includes("listen(3000)")) await until(() => isListening(receiverPort), 60_000, "the endpoint");
      if (text.includes("/webhooks/"))
        await untilDelivered(server, (await readFile(join(dataDir, "first-key"), "utf8")).trim());
    }
    expect(isQuick).toBe(true);
  },
  240_000,
);

const main = await bundled(join(root, "packages/cli/src/main.ts"));
const quickNpx = `npx() { if [ "$1" = svc ]; then shift; "${process.execPath}" "${main}" "$@"; else command npx "$@"; fi; }`;

/** JSON in one line: the page shows it indented. */
function compact(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

/** A shell that runs one block after another, as the one a reader pastes them into. */
function startShell(variables: Record<string, string>) {
  const env = {
    ...process.env,
    ...compileCache,
    ...variables,
    npm_config_loglevel: "error",
    PATH: `${join(root, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}`,
    // buf makes its cache below HOME, which need not be writable.
    BUF_CACHE_DIR: join(root, ".cache", "buf"),
  };
  const child = spawn("bash", { cwd: root, env, stdio: ["pipe", "pipe", "inherit"], detached: true });
  // A terminal shows both.
  child.stdin.write("exec 2>&1\n");
  const received: string[] = [];
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    // The endpoint of the tour writes into the same terminal, also between a command's last line and its end.
    output = (output + text).replace(/dlv_[0-9a-z]{26} \{"id":.*\}\}\n/g, (line) => {
      received.push(line);
      return "";
    });
  });
  return {
    received,
    /** Resolves with what the commands wrote. */
    async run(commands: string): Promise<string> {
      output = "";
      child.stdin.write(`${commands}\necho "end of the block"\n`);
      await until(() => output.endsWith("end of the block\n"), 90_000, "the end of a block");
      return output.slice(0, -"end of the block\n".length);
    },
    /** Ends the shell and the endpoint it runs in the background. */
    async end(): Promise<void> {
      const exited = once(child, "exit");
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await exited;
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
  return true;
}

/** A reader goes on no sooner: the delivery of the one event is recorded. */
async function untilDelivered(server: ServerProcess, key: string): Promise<void> {
  await until(async () => {
    const { events } = await call<{ events: { id: string }[] }>(server, "TriggersService/ListEvents", {}, key);
    const request = { eventId: events[0]?.id ?? "" };
    const { deliveries } = await call<{ deliveries: { state: string }[] }>(
      server,
      "TriggersService/ListDeliveries",
      request,
      key,
    );
    return deliveries[0]?.state === "delivered";
  }, 60_000);
}
