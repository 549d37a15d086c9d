import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium, type Page } from "playwright-core";
import { browserArguments, findChromium } from "./chromium.ts";

/**
 * A browser with one window that can be minimized. The browser itself then reports the page as hidden, without a script that pretends it.
 */
export type MinimizedBrowser = AsyncDisposable & {
  readonly page: Page;
  /** Resolves when the page is hidden. */
  minimize(): Promise<void>;
  /** Stops the scripts of the hidden page, as browsers do with tabs that were not used for some minutes. */
  freeze(): Promise<void>;
  /** Shows the page again, also after a freeze. Resolves when it is visible. */
  restore(): Promise<void>;
};

/**
 * Starts a Chromium of its own. In the shared test browser every page stays visible and focused, whatever happens to its window. A browser
 * that the test connects to does not change its pages like that.
 */
export async function startMinimizedBrowser(): Promise<MinimizedBrowser> {
  const folder = await mkdtemp(join(tmpdir(), "svc-window-"));
  const child = spawn(
    findChromium() ?? "",
    [...browserArguments(), "--headless", "--remote-debugging-port=0", `--user-data-dir=${folder}`, "about:blank"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const end = async () => {
    const ended = child.exitCode === null ? once(child, "exit") : undefined;
    child.kill();
    await ended;
    await rm(folder, { recursive: true, maxRetries: 5 });
  };
  try {
    const browser = await chromium.connectOverCDP(await addressOf(child.stderr), { noDefaults: true });
    const [page] = browser.contexts()[0]?.pages() ?? [];
    if (page === undefined) throw new Error("the browser opened no page");
    const protocol = await page.context().newCDPSession(page);
    const { windowId } = await protocol.send("Browser.getWindowForTarget");
    const become = async (windowState: "minimized" | "normal", visibility: string) => {
      await protocol.send("Browser.setWindowBounds", { windowId, bounds: { windowState } });
      await page.waitForFunction(`document.visibilityState === "${visibility}"`, undefined, { polling: 20 });
    };
    return {
      page,
      minimize: () => become("minimized", "hidden"),
      freeze: async () => void (await protocol.send("Page.setWebLifecycleState", { state: "frozen" })),
      async restore() {
        await protocol.send("Page.setWebLifecycleState", { state: "active" });
        await become("normal", "visible");
      },
      async [Symbol.asyncDispose]() {
        await browser.close();
        await end();
      },
    };
  } catch (cause) {
    await end();
    throw cause;
  }
}

/** Reads the debugger address that a starting browser prints. */
async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  const said: string[] = [];
  for await (const line of createInterface({ input: output })) {
    const [address] = /\bws:\/\/\S+/.exec(line) ?? [];
    if (address !== undefined) return address;
    said.push(line);
  }
  throw new Error(`the browser did not start: ${said.join("\n")}`);
}
