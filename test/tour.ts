import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { until } from "@svc/testing/server-process";
import { npxHere } from "./commands-here.ts";
import { root } from "./source.ts";

const main = await bundled(join(root, "packages/cli/src/main.ts"));

/** Shell function that runs `npx svc` as a bundle, which takes a fifth of the time of npm and the sources. */
export const quickNpx = `npx() { if [ "$1" = svc ]; then shift; "${process.execPath}" "${main}" "$@"; else command npx "$@"; fi; }`;

/** Returns a shell function that runs `npx svc` in the process of the test. */
export const npxOfGuides = () => npxHere(main);

/** Replaces the parts that differ from run to run: ids, times, secrets, durations, ports. */
export function normalize(text: string): string {
  return text
    .replace(/\b(evt|dlv|sub|acc|call|stp|key|job|prj|hok|wsc|qrn|lnk)_[0-9a-z]{26}/g, "$1_ID")
    .replace(/whsec_[A-Za-z0-9+/=]+/g, "whsec_SECRET")
    .replace(/\bsvc_[A-Za-z0-9]{24}[\w-]+/g, "svc_KEY")
    .replace(/(\/connect#|#link=)[\w-]+/g, "$1CODE")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/--digest [0-9a-f]{12}/g, "--digest DIGEST")
    .replace(/"cursor":"[^"]+"/g, '"cursor":"CURSOR"')
    .replace(/"durationMs":\d+/g, '"durationMs":0')
    .replace(/"(p50Ms|p99Ms|measuredAttempts)":[1-9]\d*/g, '"$1":MEASURED')
    .replace(/"date":"[^"]+"/g, '"date":"DATE"')
    .replace(/(\\?"date\\?": ?)\d{10}\b/g, "$1SECONDS")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replace(/(see the tools at once: )\d+/g, "$1COUNT")
    .replace(/ \d+ +127\.0\.0\.1 /g, " MS  127.0.0.1 ")
    .replace(/\bMS +ADDRESS/g, "MS  ADDRESS")
    .trim();
}

/** Returns JSON in one line, because the pages show it indented. */
export function compact(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

/** Starts a shell that runs one block after another, like the terminal into which a reader pastes them. */
export function startShell(variables: Record<string, string>) {
  const env = {
    ...process.env,
    ...compileCache,
    ...variables,
    npm_config_loglevel: "error",
    PATH: `${join(root, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}`,
    // By default buf makes its cache below HOME, which may not be writable.
    BUF_CACHE_DIR: join(root, ".cache", "buf"),
  };
  const child = spawn("bash", { cwd: root, env, stdio: ["pipe", "pipe", "inherit"], detached: true });
  // Errors go to the output too, as in a terminal.
  child.stdin.write("exec 2>&1\n");
  const received: string[] = [];
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    // The page's endpoint writes to the same output, also between a command's last line and its end.
    output = (output + text).replace(/dlv_[0-9a-z]{26} \{"id":.*\}\}\n/g, (line) => {
      received.push(line);
      return "";
    });
  });
  let status = 0;
  return {
    received,
    /** Returns the exit status of the last block. */
    status: () => status,
    /** Resolves with the output of the commands. */
    async run(commands: string): Promise<string> {
      output = "";
      child.stdin.write(`${commands}\necho "end of the block $?"\n`);
      const end = /end of the block (\d+)\n$/;
      await until(() => end.test(output), 90_000, "the end of a block");
      status = Number(end.exec(output)?.[1]);
      return output.replace(end, "");
    },
    /** Ends the shell and the endpoint that it runs in the background. */
    async end(): Promise<void> {
      const exited = once(child, "exit");
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await exited;
    },
  };
}

/** Resolves to true if a port accepts connections. Rejects otherwise, and `until` then tries again. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
  return true;
}
