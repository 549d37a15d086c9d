import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { root } from "../source.ts";
import { browserTest, startConsole } from "./browser.ts";
import { type FilledProject, fillProject } from "./filled-project.ts";

// Takes the pictures of README.md and of the console's guide, and those of the pages whose look is designed, to be laid side by side with the
// design. Only `npm run console:pictures` takes them, because they would differ in each run of the tests.

const isWanted = process.env["SVC_CONSOLE_PICTURES"] !== undefined;
const images = join(root, "docs", "images");
const designed = join(root, ".cache", "console", "designed");

let filled: FilledProject | undefined;
const consoles = startConsole({
  seed: async (svc) => {
    if (!isWanted) return;
    for (const folder of [images, designed]) mkdirSync(folder, { recursive: true });
    filled = await fillProject(svc);
  },
});

const shot = (page: Page, path: string) => page.screenshot({ path: `${path}.png`, animations: "disabled" });

/** Opens a page and waits until it is at rest. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${consoles.svc.url}/console/p/${consoles.projectId}/${path}`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await until(async () => (await page.locator("main [aria-busy=true]").count()) === 0);
  await until(async () => (await page.getByText("Loading", { exact: true }).count()) === 0);
  // Charts and strips are loaded after the rest.
  await page.evaluate(isQuiet);
}

/** Script that resolves when nothing on the page has changed for half a second, after at most five seconds. */
const isQuiet = `new Promise((resolve) => {
  let timer = setTimeout(resolve, 500);
  new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(resolve, 500);
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
  setTimeout(resolve, 5_000);
})`;

const looks = [
  ["light", { width: 1_440, height: 900 }, "light"],
  ["dark", { width: 1_440, height: 900 }, "dark"],
  ["1024", { width: 1_024, height: 768 }, "light"],
  ["phone", { width: 390, height: 844 }, "light"],
] as const;

browserTest.skipIf(!isWanted)("the designed pages, in light, in dark, at 1024 pixels and on a phone", async () => {
  const { asking, failed, failing } = filled ?? { asking: "", failed: "", failing: "" };
  const pages = {
    start: "home?view=start",
    home: "home?range=24h",
    "job-run": `jobs/${failed}?step=note`,
    "job-asks": `jobs/${asking}`,
    "job-graph": `jobs/${failed}?tab=graph`,
    jobs: "jobs",
    subscription: `subscriptions/${failing}`,
    deliveries: `deliveries?subscription=${failing}`,
    events: "events",
    "schedule-builder": "schedules/new",
    calls: "calls",
    tools: "tools",
    settings: "settings",
  };
  const { page } = await consoles.open();
  for (const [name, path] of Object.entries(pages)) {
    for (const [look, size, colorScheme] of looks) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await open(page, path);
      await shot(page, join(designed, `${name}-${look}`));
    }
  }
});

browserTest.skipIf(!isWanted)(
  "the overview and a job that asks, as README.md and the console's guide show them",
  async () => {
    const { page } = await consoles.open();
    await page.setViewportSize({ width: 1_440, height: 900 });
    await open(page, "home?range=24h");
    await page.locator("canvas").nth(1).waitFor();
    await shot(page, join(images, "overview"));
    await open(page, `jobs/${filled?.asking}`);
    await page.getByRole("button", { name: "Continue the job" }).waitFor();
    await shot(page, join(images, "job"));
    await open(page, `jobs/${filled?.failed}?step=note`);
    await shot(page, join(images, "failed-job"));
  },
);
