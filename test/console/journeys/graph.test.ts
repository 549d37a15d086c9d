import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import {
  askingProgram,
  branchingProgram,
  cronHalfADayAway,
  jobWithStatus,
  seedPeople,
  submitProgram,
} from "../jobs-seed.ts";

const consoles = startConsole({ seed: seedPeople });
const path = (page: string) => `p/${consoles.projectId}/${page}`;

browserTest("the graph of a job says which step read what, and opens a step by the keyboard", async () => {
  const id = await submitProgram(consoles.svc, askingProgram);
  await jobWithStatus(consoles.svc, id, "PARKED");
  const { page } = await consoles.open({ path: path(`jobs/${id}`) });
  await page.getByRole("tab", { name: "Graph" }).click();
  const graph = page.getByRole("group", { name: "Steps and their data" });
  await graph
    .getByRole("button", {
      name: /^large Keep value >= params.minValue .*Done\. Reads rows of fetch \(value\), params \(minValue\)\.$/,
    })
    .waitFor();
  await graph
    .getByRole("button", { name: /^gate Ask lead, head .*Running\. Reads the number of rows of large\.$/ })
    .waitFor();
  await graph
    .getByRole("button", {
      name: /^remind For each row: Send message .*Waiting\. Reads rows of large \(title\)\.$/,
    })
    .waitFor();
  await graph.getByRole("button", { name: /^fetch / }).focus();
  await page.keyboard.press("ArrowRight");
  expect(await page.evaluate("document.activeElement?.dataset.node")).toBe("step:large");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.waitForURL(/[?&]step=fetch/);
});

browserTest("the keys of the graph zoom and fit it, and a block closes into one node and opens again", async () => {
  const id = await submitProgram(consoles.svc, branchingProgram);
  await jobWithStatus(consoles.svc, id, "PARKED");
  const { page } = await consoles.open({ path: path(`jobs/${id}?tab=graph`) });
  const graph = page.getByRole("group", { name: "Steps and their data" });
  await graph.getByRole("button", { name: /^deals / }).waitFor();
  const zoom = page.getByRole("status", { name: "Zoom" });
  const scale = async () => Number((await zoom.textContent())?.replace(" %", ""));
  await graph.focus();
  await page.keyboard.press("f");
  const fitted = await scale();
  await page.keyboard.press("+");
  await expect.poll(scale).toBeGreaterThan(fitted);
  await page.keyboard.press("-");
  await expect.poll(scale).toBe(fitted);
  // Blocks open and close only while the graph is large enough for buttons.
  while ((await scale()) < 80) await page.keyboard.press("+");
  await graph.getByRole("button", { name: "Steps of gather" }).press("Enter");
  await graph.getByRole("button", { name: /^gather 2 branches at once/ }).waitFor();
  expect(await graph.getByRole("button", { name: /^deals / }).count()).toBe(0);
  await graph.getByRole("button", { name: "Steps of gather" }).press("Enter");
  await graph.getByRole("button", { name: /^deals / }).waitFor();
});

browserTest("the page of a schedule shows its program as a picture", async () => {
  await consoles.svc.call("svc.v1.StandingService/CreateStandingProgram", {
    slug: "remind-daily",
    definitionJson: JSON.stringify({
      version: 1,
      title: "Remind each day",
      timeZone: "UTC",
      source: { schedule: { cron: [cronHalfADayAway()] } },
      program: askingProgram,
    }),
  });
  const { standingPrograms } = (await consoles.svc.call("svc.v1.StandingService/ListStandingPrograms", {})).json;
  const { page } = await consoles.open({ path: path(`schedules/${standingPrograms[0].id}`) });
  const graph = page.getByRole("region", { name: "Program" }).getByRole("group", { name: "Steps and their data" });
  await graph.getByText("For each row: Send message").waitFor();
  expect(await graph.getByRole("button", { name: /^remind/ }).count()).toBe(0);
});
