import { expect } from "vitest";
import { seedOverview } from "./areas/overview.ts";
import { browserTest, startConsole } from "./browser.ts";
import { lookAt } from "./look.ts";

const consoles = startConsole();

browserTest("an empty project is told how to get its first event", async () => {
  const { page } = await consoles.open();
  await page.getByRole("heading", { name: "Your first event" }).waitFor();
  await page.getByText("Nothing waits for a person.").waitFor();
  await page.getByText("npx svc trigger calendar").waitFor();
  await lookAt(page, "overview-first");
});

browserTest("what needs a person stands first, then charts with a table of the same numbers", async () => {
  await seedOverview(consoles.svc);
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/overview?range=24h` });
  await page.getByRole("link", { name: "1 ask waits" }).waitFor();
  await page.locator("canvas").nth(4).waitFor();
  await lookAt(page, "overview");
  await page.getByRole("switch", { name: "Tables" }).click();
  const row = page.getByRole("region", { name: "Deliveries by outcome, as a table" }).getByRole("row").nth(1);
  await row.waitFor();
  expect(await row.getByRole("cell").allInnerTexts()).toEqual(["3", "1"]);
  expect(page.url()).toContain("table=on");
  await lookAt(page, "overview-tables");
});

browserTest("a chart is read, zoomed and followed to its list by keyboard", async () => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/overview` });
  const chart = page.getByRole("slider", { name: "Events, point by point" });
  await chart.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowRight");
  expect(await chart.getAttribute("aria-valuetext")).toMatch(/^[\d:]+ to [\d:]+: calendar 3$|calendar \d/);
  await page.keyboard.press("+");
  await page.waitForURL(/since=.*until=/);
  await page.getByRole("slider", { name: "Events, point by point" }).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
  expect(page.url()).toMatch(/\/events\?since=.*until=/);
});
