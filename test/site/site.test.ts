import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findBarriers } from "../console/axe.ts";
import { browserArguments, browserTestsPlan, findChromium } from "../console/chromium.ts";
import { listFiles, root } from "../source.ts";

const executable = findChromium();
const browserTest = browserTestsPlan(executable) === "skip" ? test.skip : test;

let svc: TestServer;
let browser: Browser | undefined;
beforeAll(async () => {
  // The script does nothing if the site is up to date.
  await promisify(execFile)(process.execPath, [join(root, "scripts/build-site.mjs")]);
  svc = await startTestServer();
  if (executable !== undefined)
    browser = await chromium.launch({ executablePath: executable, args: browserArguments() });
});
afterAll(async () => {
  await browser?.close();
  await svc?.stop();
});

const textOf = async (path: string) => {
  const res = await fetch(`${svc.url}/docs/${path}`);
  expect(res.status, path).toBe(200);
  return res.text();
};

/** Returns the addresses below `/docs/` that a page links to. */
function linksOf(html: string, from: string): string[] {
  const links = [...html.matchAll(/<a\b[^>]*\bhref="([^"]+)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));
  return links
    .map((href) => new URL(href, `${svc.url}/docs/${from}`))
    .flatMap(({ origin, pathname }) => {
      return origin === svc.url && pathname.startsWith("/docs/") ? [pathname.slice("/docs/".length)] : [];
    });
}

test("every page of docs/ is reached by links from the first one, and every link of a page leads somewhere", async () => {
  const seen = new Map<string, string>();
  const waiting = [""];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    const html = await textOf(next);
    seen.set(next, html);
    if (html.startsWith("<!doctype")) waiting.push(...linksOf(html, next));
  }
  const pages = listFiles("docs")
    .filter((path) => path.endsWith(".md"))
    .map((path) => path.slice("docs/".length, -3).replace(/(?:^|(?<=\/))index$/, ""));
  expect(pages.filter((page) => !seen.has(page))).toEqual([]);
  const anchorless = [...seen].flatMap(([page, html]) => {
    const targets = [...html.matchAll(/<a\b[^>]*\bhref="([^"#]*)#([^"]+)"/g)];
    return targets.flatMap(([, path = "", anchor = ""]) => {
      const { origin, pathname } = new URL(path, `${svc.url}/docs/${page}`);
      const target = origin === svc.url ? seen.get(pathname.slice("/docs/".length)) : undefined;
      return target === undefined || target.includes(`id="${anchor}"`) ? [] : [`${page}: ${path}#${anchor}`];
    });
  });
  expect(anchorless).toEqual([]);
});

test("llms.txt names every page, and llms-full.txt has the text of each", async () => {
  const [list, full] = [await textOf("llms.txt"), await textOf("llms-full.txt")];
  for (const path of listFiles("docs").filter((file) => file.endsWith(".md"))) {
    const page = path.slice("docs/".length);
    expect(list).toContain(`](${page})`);
    expect(full).toContain(`Page: ${page}\n`);
  }
});

browserTest("the first page loads less than 150 KB, and nothing from elsewhere", async () => {
  const { page, requests } = await open("");
  const sizes = await Promise.all(
    requests.map(async (url) => {
      const { pathname } = new URL(url);
      const answer = await svc.raw(
        `GET ${pathname} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n`,
      );
      return answer.length;
    }),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  process.stderr.write(`first load of /docs/: ${(total / 1000).toFixed(1)} KB in ${requests.length} requests\n`);
  expect(total).toBeLessThan(150_000);
  expect(requests.filter((url) => !url.startsWith(`${svc.url}/docs/`))).toEqual([]);
  expect(await page.locator("nav#pages a").count()).toBeGreaterThan(20);
});

browserTest("a question typed after / leads to its page by keyboard alone", async () => {
  const { page, requests } = await open("");
  await page.keyboard.press("/");
  await page.keyboard.type("pause a schedule");
  await page.locator('[role="option"]').first().waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/guides\/schedules\//);
  expect(await page.locator("h1").textContent()).toContain("schedule");
  expect(requests.filter((url) => !url.startsWith(`${svc.url}/docs/`))).toEqual([]);
});

browserTest.each(["", "reference/configuration", "reference/api/triggers/create-subscription", "no/such/page"])(
  "/docs/%s has no barrier, in light, in dark and on a phone",
  async (path) => {
    const { page } = await open(path);
    expect(await findBarriers(page)).toEqual([]);
    await page.locator("[data-theme-switch]").click();
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    expect(await findBarriers(page, "colours")).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByRole("button", { name: "Pages" }).click();
    expect(await page.locator("nav#pages").isVisible()).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
  },
);

/** Opens a page in a browser context of its own. A violation of the content security policy or a script error fails the test. */
async function open(path: string): Promise<{ page: Page; requests: string[] }> {
  const context = await browser?.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  if (context === undefined) throw new Error("no browser");
  const page = await context.newPage();
  const requests: string[] = [];
  const faults: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 404/.test(message.text())) faults.push(message.text());
  });
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
  await page.goto(`${svc.url}/docs/${path}`);
  await page.locator("h1").waitFor();
  return { page, requests };
}
