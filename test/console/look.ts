import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { repeats } from "@svc/testing/sample";
import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { root } from "../source.ts";
import { findBarriers } from "./axe.ts";

/** Folder for the pictures of pages, set by `npm run console:pictures`. Otherwise no pictures are taken, because no test compares them. */
const pictures = process.env["SVC_CONSOLE_PICTURES"] === undefined ? undefined : join(root, ".cache", "console");

/** Pages whose phone layout uses other colours: one list of each kind of card, and the page behind a link. */
const ofOwnColours: ReadonlySet<string> = new Set(["events", "asks", "jobs", "tools-found", "answer"]);

/**
 * Looks at a page in light, dark and as narrow as a phone, without loading it again: axe must find no fault, and a screen reader must get
 * the text in `snapshots/<name>.txt` from its main part. With `vitest -u` the snapshots are written.
 */
export async function lookAt(page: Page, name: string): Promise<void> {
  const picture = async (look: string) => {
    if (pictures === undefined) return;
    await page.screenshot({ path: join(pictures, `${name}-${look}.png`), animations: "disabled" });
  };
  const size = page.viewportSize();
  const looks = looksOf(name);
  // Parts that are loaded on first use, such as the JSON viewer, show plain text until then.
  await until(async () => (await page.locator("main [aria-busy=true]").count()) === 0);
  await expect(await heardAtRest(page, name)).toMatchFileSnapshot(`snapshots/${name}.txt`);
  expect(await findBarriers(page, looks.has("colours") ? undefined : "structure")).toEqual([]);
  await picture("light");
  if (looks.has("dark")) {
    await page.emulateMedia({ colorScheme: "dark" });
    // The structure is the same in dark: only the colours can differ.
    expect(await findBarriers(page, "colours")).toEqual([]);
    await picture("dark");
    await page.emulateMedia({ colorScheme: "light" });
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await until(() => page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
  // The phone layout uses the colours checked above, except in cards that replace rows and on the page behind a link.
  if (looks.has("phone"))
    expect(await findBarriers(page, ofOwnColours.has(name) ? undefined : "structure")).toEqual([]);
  await picture("phone");
  if (size !== null) await page.setViewportSize(size);
}

/**
 * Returns the checks to make besides the structure in light: all of them when pictures are taken and in `npm run test:crash`. `npm test`
 * makes one of the three, chosen by the page's name, because each takes a second of processor time.
 */
function looksOf(name: string): ReadonlySet<"colours" | "dark" | "phone"> {
  const all = ["colours", "dark", "phone"] as const;
  const isWhole = pictures !== undefined || repeats({ sample: false, whole: true });
  const sum = Array.from(name).reduce((total, letter) => total + letter.charCodeAt(0), 0);
  return new Set(all.filter((_, index) => isWhole || index === sum % all.length));
}

/**
 * Reads a page's text until it equals the stored snapshot, for at most ten seconds. The page loads some parts one by one, such as the
 * delivery states of a row or the end of a stream. A text that never becomes equal fails in the later comparison.
 */
async function heardAtRest(page: Page, name: string): Promise<string> {
  const stored = await readFile(
    join(dirname(expect.getState().testPath ?? ""), "snapshots", `${name}.txt`),
    "utf8",
  ).catch(() => undefined);
  let heard = await heardOf(page);
  if (stored === undefined) return heard;
  const isStored = async () => {
    heard = await heardOf(page);
    return heard === stored;
  };
  await until(isStored, name, 10_000).catch(() => undefined);
  return heard;
}

/** Patterns of texts that differ from run to run, and the name each is replaced with. */
const varying: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(evt|dlv|sub|rpl|prj|key|job|ask|call|acc|stp|qrn|wsc|node|ses)_[a-z0-9]{26}\b/g, "$1_ID"],
  [/\b(evt|dlv|sub|rpl|prj|key|job|ask|call|acc|stp|qrn|wsc|node|ses)_[a-z0-9]{3,4}…[a-z0-9]{4}\b/g, "$1_ID"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME"],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?=TIME)/g, "DAY "],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "TIME"],
  [/\b(?:\d\d-\d\d )?\d\d:\d\d to (?:\d\d-\d\d )?\d\d:\d\d\b/g, "SPAN"],
  [/At most [\d.,]+(?: (?:ms|s|min|h|d))?(?=, SPAN)/g, "At most N"],
  [/\b(?:\d+ d \d+ h|\d+ h \d+ min|\d+ min \d+ s|\d+(?:\.\d+)? (?:ms|s|min|h|d))\b/g, "DURATION"],
  [/\b(?:in DURATION|DURATION ago|now)\b/g, "AGO"],
  // The ages of waiting deliveries grow during the test.
  [/(?<=(?:term: under DURATION|term: DURATION and more)\n\s+- definition: )"[\d,]+"/g, "N"],
  // A node's count of calls includes those of this page and of the page before.
  [/(?<=(?:Calls per second and node|Concurrent calls per node) )[\d,]+/g, "N"],
  [/(?<=Open streams per node )[\d,]+/g, "N"],
  [/(?<=term: Calls\n\s+- definition: )"[\d,]+"/g, "N"],
  // The node counts for up to ten seconds before the bars above a list can show it.
  [
    /(?<=paragraph: "(?:Events|Delivery attempts|Calls that ended|Jobs that ended)(?:, last 24 hours)?: )[^."]*(?=\.)/g,
    "COUNTS",
  ],
  [/\b[0-9a-f]{64}\b/g, "HASH"],
  [/(?<=failures\/)[0-9a-f]{32}/g, "HASH"],
  [/(?<=since |again at )\d\d:\d\d:\d\d/g, "TIME"],
  // How many posts the tests of this file have sent before.
  [/(?<=message_number\W{1,3})\d+/g, "N"],
  [/\b(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\b/g, "MONTH"],
  [/(?<=MONTH"?:? ?\n?[\s-]*(?:text: )?)\d+ runs?/g, "N runs"],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{1,2} [A-Z][a-z]{2}\b/g, "DAY DATE"],
  [/[\d,]+ in the shown month/g, "N in the shown month"],
  [/(?<=Clocks change on )\d{1,2} \w+/g, "DATE"],
  [/(?<=message-number: )\d+/g, "N"],
  [/(?<=webhook-timestamp: )\d+/g, "N"],
  [/\bsvc_\w{4}…/g, "svc_HINT…"],
  [/(?<=definition: )\d+\.\d+\.\d+$/gm, "VERSION"],
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT"],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, "DATE"],
];

/** Returns the text that a screen reader gets from a page's main part. Texts that differ from run to run are replaced by a name. */
export async function heardOf(page: Page): Promise<string> {
  const snapshot = await page.getByRole("main").ariaSnapshot();
  return `${varying.reduce((text, [pattern, instead]) => text.replace(pattern, instead), snapshot)}\n`;
}
