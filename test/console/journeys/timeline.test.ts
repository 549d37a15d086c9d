import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { branchingProgram, jobWithStatus, seedPeople, submitProgram } from "../jobs-seed.ts";
import { keyboardOf } from "../keyboard.ts";

const consoles = startConsole({ seed: seedPeople });
const path = (page: string) => `p/${consoles.projectId}/${page}`;

/** Returns the id of a row of the timeline by its row of the grid. */
const nameOf = (row: Locator) => row.locator("b").first().textContent();

browserTest(
  "by keyboard alone, blocks close and open, j and k move, and Enter opens the drawer of a step",
  async () => {
    const id = await submitProgram(consoles.svc, branchingProgram);
    await jobWithStatus(consoles.svc, id, "PARKED");
    const { page } = await consoles.open({ path: path(`jobs/${id}`) });
    const { press, tabTo } = keyboardOf(page);
    const rows = page.getByRole("treegrid", { name: "Steps" }).getByRole("row");
    const focused = page.locator("[role=row]:focus");
    await tabTo(rows.nth(1));
    expect(await nameOf(focused)).toBe("gather");
    // The first row is the head of the grid.
    expect(await rows.count()).toBe(9);
    await press("ArrowLeft");
    await rows.nth(7).waitFor({ state: "detached" });
    expect(await focused.getAttribute("aria-expanded")).toBe("false");
    await press("j", "j");
    expect(await nameOf(focused)).toBe("ready");
    await press("k", "k", "ArrowRight", "ArrowRight");
    expect(await nameOf(focused)).toBe("deals");
    await press("End");
    expect(await nameOf(focused)).toBe("later");
    await press("Enter");
    const drawer = page.getByRole("region", { name: "Step later" });
    await drawer.waitFor();
    expect(new URL(page.url()).searchParams.get("step")).toBe("later");
    await tabTo(drawer.getByRole("button", { name: "Close" }));
    await press("Enter");
    await drawer.waitFor({ state: "detached" });
    expect(await nameOf(focused)).toBe("later");
    await consoles.svc.call("svc.v1.JobsService/CancelJob", { id });
  },
);

browserTest("dragging over the times zooms, the address keeps the zoom, and 0 shows all times again", async () => {
  const id = await submitProgram(consoles.svc, branchingProgram);
  await jobWithStatus(consoles.svc, id, "PARKED");
  const { page } = await consoles.open({ path: path(`jobs/${id}`) });
  const bar = page
    .getByRole("row", { name: "gather" })
    .getByTitle(/, done\. Began at/)
    .first();
  const box = await bar.boundingBox();
  if (box === null) throw new Error("the step gather has no bar");
  const width = async () => (await bar.boundingBox())?.width ?? 0;
  await page.mouse.move(box.x + box.width * 0.25, box.y + 4);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 4, { steps: 4 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Show all times" }).waitFor();
  expect(new URL(page.url()).searchParams.get("zoom")).toMatch(/^\d+-\d+$/);
  expect(new URL(page.url()).searchParams.get("step")).toBeNull();
  expect(await width()).toBeGreaterThan(box.width);
  await page.reload();
  await page.getByRole("button", { name: "Show all times" }).waitFor();
  await page.getByRole("row", { name: "gather" }).focus();
  await page.keyboard.press("0");
  await page.getByRole("button", { name: "Show all times" }).waitFor({ state: "detached" });
  expect(new URL(page.url()).searchParams.get("zoom")).toBeNull();
  await consoles.svc.call("svc.v1.JobsService/CancelJob", { id });
});

browserTest("of 90 steps only those in view are in the document, and the keyboard reaches the last one", async () => {
  const steps = Array.from({ length: 90 }, (_, index) => ({ id: `wait${index}`, wait: index === 0 ? "1h" : "1m" }));
  const id = await submitProgram(consoles.svc, { version: 1, title: "Ninety waits", steps });
  await jobWithStatus(consoles.svc, id, "PARKED");
  const { page } = await consoles.open({ path: path(`jobs/${id}`) });
  const grid = page.getByRole("treegrid", { name: "Steps" });
  await grid.getByText("wait0", { exact: true }).waitFor();
  expect(await grid.getAttribute("aria-rowcount")).toBe("91");
  expect(await grid.getByRole("row").count()).toBeLessThan(60);
  await grid.getByRole("row").nth(1).focus();
  await page.keyboard.press("End");
  await page.locator("[role=row]:focus", { hasText: "wait89" }).waitFor();
  expect(await grid.getByRole("row").count()).toBeLessThan(60);
  await consoles.svc.call("svc.v1.JobsService/CancelJob", { id });
});
