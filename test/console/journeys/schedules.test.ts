import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { announcingProgram, jobWithStatus, seedPeople, submitProgram } from "../jobs-seed.ts";
import { type Keyboard, keyboardOf } from "../keyboard.ts";
import { lookAt } from "../look.ts";
import { postCalendar } from "../post-calendar.ts";

const consoles = startConsole({ seed: seedPeople });
const path = (page: string) => `p/${consoles.projectId}/${page}`;
const standing = async (method: string, body: object) =>
  (await consoles.svc.call(`svc.v1.StandingService/${method}`, body)).json;

/** Creates a schedule by the same calls as the command-line tool. */
async function makeSchedule(slug: string, title: string): Promise<string> {
  const { standingProgram } = await standing("CreateStandingProgram", {
    slug,
    definitionJson: JSON.stringify({
      ...{ version: 1, title, source: { schedule: { every: "300d", jitter: "1m" } }, drift: "follow" },
      program: announcingProgram,
    }),
  });
  return standingProgram.id;
}

/** Types into the focused field, in place of its present text. */
async function write(page: Page, keys: Keyboard, text: string): Promise<void> {
  await keys.press("Control+a");
  await page.keyboard.insertText(text);
}

browserTest(
  "by keyboard alone a schedule is written, each fault of it shown where it is, its next runs told by the clocks of its zone, and it stands",
  async () => {
    const { page, faults } = await consoles.open({ path: path("schedules") });
    faults.expectStatus(400);
    const keys = keyboardOf(page);
    await keys.tabTo(page.getByRole("link", { name: "New schedule" }));
    await keys.press("Enter");
    await page.getByRole("heading", { name: "New schedule", level: 1 }).waitFor();
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const says = (text: string | RegExp) => page.getByRole("main").getByText(text).first().waitFor();
    await keys.tabTo(field("Name"));
    await write(page, keys, "Not a slug");
    await keys.tabTo(field("Cron expressions"));
    await write(page, keys, "61 9 * * 1");
    await says(/Invalid value for minute: 61/);
    expect(await field("Cron expressions").getAttribute("aria-invalid")).toBe("true");
    await write(page, keys, "0 9 * * 1");
    await keys.tabTo(field("Time zone"));
    await write(page, keys, "Mars/Olympus");
    await says(/is "Mars\/Olympus", which is not a time zone/);
    expect(await field("Time zone").getAttribute("aria-invalid")).toBe("true");
    await write(page, keys, "Asia/Tokyo");
    await keys.tabTo(page.getByRole("textbox", { name: "Program" }));
    await write(page, keys, JSON.stringify(announcingProgram, undefined, 2).replace("messaging_bot", "messaging_bat"));
    await page.getByRole("heading", { name: "1 problem", exact: true }).waitFor();
    await page.getByRole("button", { name: /^Line \d+: .*messaging_bat/ }).waitFor();
    await write(page, keys, '{"version": 1');
    await page.getByRole("button", { name: /^Line 1: is not JSON/ }).waitFor();
    await write(page, keys, JSON.stringify(announcingProgram, undefined, 2));
    await keys.tabTo(field("Runs per day"));
    await write(page, keys, "20");
    const next = page.getByRole("region", { name: "Next runs" });
    await next.getByText("Time zone: Asia/Tokyo:").waitFor();
    const times = await next.getByRole("listitem").allTextContents();
    expect(times).toHaveLength(5);
    for (const time of times) expect(time).toMatch(/^Mon \d{4}-\d\d-\d\d 09:00:00$/);
    await keys.tabTo(page.getByRole("button", { name: "Create the schedule" }));
    await keys.press("Enter");
    await says("Send a name such as tell-sales.");
    await lookAt(page, "schedule-new");
    await keys.tabTo(field("Name"));
    await write(page, keys, "tell-team");
    await keys.tabTo(page.getByRole("button", { name: "Create the schedule" }));
    await keys.press("Enter");
    await page.getByRole("heading", { name: announcingProgram.title, level: 1 }).waitFor();
    await page.getByText("Active", { exact: true }).waitFor();
    const { standingProgram } = await standing("GetStandingProgram", { id: "tell-team" });
    expect(JSON.parse(standingProgram.definitionJson)).toEqual({
      ...{ version: 1, timeZone: "Asia/Tokyo", source: { schedule: { cron: ["0 9 * * 1"] } } },
      ...{ budget: { runs: 20 }, program: announcingProgram },
    });
  },
);

browserTest("a schedule is changed, paused, resumed, started once and deleted by keyboard", async () => {
  const id = await makeSchedule("yearly", "Tell the team each year");
  const { page, faults } = await consoles.open({ path: path(`schedules/${id}`) });
  const keys = keyboardOf(page);
  const press = async (role: "link" | "button", name: string) => {
    await keys.tabTo(page.getByRole(role, { name, exact: true }));
    await keys.press("Enter");
  };
  const stands = async () => (await standing("GetStandingProgram", { id })).standingProgram;
  await press("link", "Change");
  await page.getByRole("heading", { name: "Change Tell the team each year", level: 1 }).waitFor();
  await page.getByText("Unchanged: drift, schedule.jitter.").waitFor();
  await keys.tabTo(page.getByLabel("If another run is still active"));
  await keys.type("allow");
  await keys.tabTo(page.getByLabel("Concurrent runs"));
  await keys.type("4");
  await lookAt(page, "schedule-change");
  await press("button", "Change it");
  await page.getByRole("heading", { name: "Tell the team each year", level: 1, exact: true }).waitFor();
  await page.getByText("2", { exact: true }).first().waitFor();
  const { version, definitionJson } = await stands();
  expect([version, JSON.parse(definitionJson)]).toEqual([
    2,
    {
      ...{ version: 1, title: "Tell the team each year", drift: "follow", overlap: { policy: "allow", max: 4 } },
      ...{ source: { schedule: { every: "300d", jitter: "1m" } }, program: announcingProgram },
    },
  ]);
  await press("button", "Pause");
  await page.getByText("A person paused it.").waitFor();
  await press("button", "Resume");
  await page.getByText("A person paused it.").waitFor({ state: "detached" });
  await press("button", "Run now");
  await page.getByRole("tab", { name: "Result and receipt" }).click();
  await page.getByRole("region", { name: "Receipt" }).getByText("complete").waitFor();
  await page.goBack();
  await press("link", "Change");
  await page.getByLabel("Title", { exact: true }).waitFor();
  await standing("UpdateStandingProgram", { id, definitionJson: definitionJson.replace('"1m"', '"2m"') });
  await keys.tabTo(page.getByLabel("Title", { exact: true }));
  await write(page, keys, "Meanwhile changed by somebody else");
  faults.expectStatus(400);
  await page.getByRole("button", { name: "Change it", disabled: false }).waitFor();
  await press("button", "Change it");
  await page.getByRole("alert").filter({ hasText: "STANDING_VERSION_STALE" }).waitFor();
  await press("button", "Discard my changes and load the current version");
  await page.getByText("This is version 4. New runs use it.").waitFor();
  expect(await page.getByLabel("Title", { exact: true }).inputValue()).toBe("Tell the team each year");
  await press("link", "The schedule");
  await press("button", "Delete");
  const dialog = page.getByRole("dialog", { name: "Delete the schedule yearly?" });
  await dialog.waitFor();
  await keys.tabTo(dialog.getByRole("button", { name: "Delete it" }));
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Schedules", level: 1 }).waitFor();
  await until(
    async () =>
      (await standing("ListStandingPrograms", {})).standingPrograms?.every((one: { id: string }) => one.id !== id) ??
      true,
  );
});

browserTest("a skill is run by each event of a trigger, after it was told how many would have started it", async () => {
  const job = await submitProgram(consoles.svc, announcingProgram);
  await jobWithStatus(consoles.svc, job, "SUCCEEDED");
  const description = "Announces a text.";
  await consoles.svc.call("svc.v1.JobsService/PromoteJob", { jobId: job, slug: "announce", description });
  await postCalendar(consoles.svc);
  const { page, faults } = await consoles.open({ path: path("skills/announce") });
  faults.expectStatus(400);
  await page.getByRole("link", { name: "Create a schedule" }).click();
  await page.getByRole("combobox", { name: "Program: runs skills.announce" }).waitFor();
  await page.getByRole("textbox", { name: "Program" }).getByText('"skills.announce"').waitFor();
  await page.getByRole("radio", { name: "When an event arrives" }).check();
  await page.getByLabel("Events of").selectOption("calendar");
  await page.getByLabel("Trigger", { exact: true }).selectOption("calendar.events_changed");
  await page.getByLabel("Name", { exact: true }).fill("tell-of-changes");
  await page.getByText("1 of the last 1 events would have started it.").waitFor();
  await page.getByRole("button", { name: "Create the schedule", disabled: false }).click();
  await page.getByText("No runs yet.").waitFor();
  await postCalendar(consoles.svc);
  await page.getByRole("region", { name: "Runs" }).getByText("event", { exact: true }).waitFor();
  const run = page.getByRole("region", { name: "Runs" }).getByRole("link", { name: /job_/ });
  await run.click();
  await page.getByRole("tab", { name: "Result and receipt" }).click();
  await page.getByRole("region", { name: "Receipt" }).getByText("complete").waitFor();
});
