import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { root } from "../source.ts";
import { comesToRest } from "./at-rest.ts";
import { browserTest, startConsole } from "./browser.ts";
import { type FilledProject, fillProject } from "./filled-project.ts";
import { layoutFaults } from "./layout-faults.ts";

// Takes the pictures of the pages whose look is designed, to be laid side by side with the design, and those of README.md and of the console's
// guide. CI takes the first, into .cache/console/designed. `npm run console:pictures` takes those of more pages, and writes the second, which
// differ in each run.

const isWhole = process.env["SVC_CONSOLE_PICTURES"] !== undefined;
const images = join(root, "docs", "images");
const designed = join(root, ".cache", "console", "designed");

let filled: FilledProject = { asking: "", failed: "", failing: "" };
const consoles = startConsole({
  isOnePage: true,
  seed: async (svc) => {
    for (const folder of [images, designed]) mkdirSync(folder, { recursive: true });
    filled = await fillProject(svc);
  },
});

const shot = (page: Page, path: string) => page.screenshot({ path: `${path}.png`, animations: "disabled" });

/** Opens a page and waits until it is at rest. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${consoles.svc.url}/console/p/${consoles.projectId}/${path}`);
  await comesToRest(page);
}

const looks = [
  ["light", { width: 1_440, height: 900 }, "light"],
  ["dark", { width: 1_440, height: 900 }, "dark"],
  ["1024", { width: 1_024, height: 768 }, "light"],
  ["phone", { width: 390, height: 844 }, "light"],
] as const;

const mocked: readonly (readonly [name: string, path: () => string])[] = [
  ["start", () => "home?view=start"],
  ["job-run", () => `jobs/${filled.failed}?step=remind`],
  ["job-graph", () => `jobs/${filled.failed}?tab=graph`],
  ["subscription", () => `subscriptions/${filled.failing}`],
  ["deliveries", () => `deliveries?subscription=${filled.failing}`],
  ["schedule-builder", () => "schedules/new"],
];

const others: typeof mocked = [
  ["home", () => "home?range=24h"],
  ["job-asks", () => `jobs/${filled.asking}`],
  ...["jobs", "events", "calls", "tools", "toolkits", "accounts", "subscriptions", "schedules", "asks", "skills"].map(
    (path) => [path, () => path] as const,
  ),
  ...["contacts", "ingest", "event-types", "replays", "quarantine", "programs/new", "subscriptions/new"].map(
    (path) => [path.replace("/", "-"), () => path] as const,
  ),
  ["settings", () => "settings"],
];

browserTest.each(isWhole ? [...mocked, ...others] : mocked)(
  "%s is pictured in light, in dark, at 1024 pixels and on a phone, and nothing of it is cut off",
  async (name, path) => {
    const { page } = await consoles.open();
    for (const [look, size, colorScheme] of looks) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await open(page, path());
      await shot(page, join(designed, `${name}-${look}`));
      expect(await layoutFaults(page), `${name}, ${look}`).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: null });
  },
  300_000,
);

browserTest.skipIf(!isWhole)(
  "the overview and a job that asks, as README.md and the console's guide show them",
  async () => {
    const { page } = await consoles.open();
    await page.setViewportSize({ width: 1_440, height: 900 });
    await open(page, "home?range=24h");
    await page.locator("canvas").nth(1).waitFor();
    await shot(page, join(images, "overview"));
    await open(page, `jobs/${filled.asking}`);
    await page.getByRole("button", { name: "Continue the job" }).waitFor();
    await shot(page, join(images, "job"));
    await open(page, `jobs/${filled.failed}?step=remind`);
    await shot(page, join(images, "failed-job"));
  },
);
