import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { root } from "../../source.ts";
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

/** The definition that the text editor gets, with a program in it. */
const definitionText = (program: object) =>
  JSON.stringify(
    { version: 1, timeZone: "Asia/Tokyo", source: { schedule: { cron: ["0 9 * * 1"] } }, program },
    undefined,
    2,
  );

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
    await keys.tabTo(field("Days"));
    await keys.type("times of");
    await keys.tabTo(field("Time zone"));
    await write(page, keys, "Mars/Olympus");
    await says(/is "Mars\/Olympus", which is not a time zone/);
    expect(await field("Time zone").getAttribute("aria-invalid")).toBe("true");
    await write(page, keys, "Asia/Tokyo");
    await keys.tabTo(field("Cron expressions"));
    await write(page, keys, "61 9 * * 1");
    await says(/Invalid value for minute: 61/);
    expect(await field("Cron expressions").getAttribute("aria-invalid")).toBe("true");
    await write(page, keys, "0 9 * * 1");
    await keys.tabTo(page.getByRole("radio", { name: "Builder" }));
    await keys.press("ArrowRight");
    const editor = page.getByRole("textbox", { name: "Definition" });
    await keys.tabTo(editor);
    await write(page, keys, definitionText(announcingProgram).replace("messaging_bot", "messaging_bat"));
    await page.getByRole("heading", { name: "1 problem", exact: true }).waitFor();
    await page.getByRole("button", { name: /^Line \d+: .*messaging_bat/ }).waitFor();
    await write(page, keys, '{"version": 1');
    await page.getByRole("button", { name: /^Line 1: .*JSON/ }).waitFor();
    await write(page, keys, definitionText(announcingProgram));
    await keys.tabTo(page.getByRole("radio", { name: "JSON" }));
    await keys.press("ArrowLeft");
    await keys.tabTo(page.getByRole("button", { name: "At most N runs a day" }));
    await keys.press("Enter");
    await keys.tabTo(field("Runs per day"));
    await write(page, keys, "20");
    const next = page.getByRole("region", { name: "Next runs" });
    await next.getByText("Times of Asia/Tokyo.").waitFor();
    const times = await next.getByRole("listitem").getByRole("time").allTextContents();
    expect(times).toHaveLength(5);
    for (const time of times) expect(time).toMatch(/^Mon \d+ \w{3}, 09:00$/);
    // While the last change is checked, the button does nothing.
    await keys.tabTo(page.getByRole("button", { name: "Create the schedule", disabled: false }));
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

/** Counts the presses of a user. Typing a value counts as one press. */
function countPresses(page: Page) {
  let count = 0;
  const press = async (role: "link" | "button", name: string | RegExp) => {
    count += 1;
    await page.getByRole(role, { name, disabled: false }).first().click();
  };
  const type = async (act: () => Promise<unknown>) => {
    count += 1;
    await act();
  };
  return { press, type, count: () => count };
}

browserTest(
  "from an example a schedule takes four presses, and its definition keeps every byte of the program",
  async () => {
    const { page, faults } = await consoles.open({ path: path("schedules") });
    faults.expectStatus(400);
    const { press, count } = countPresses(page);
    await press("link", "New schedule");
    await press("button", "Examples");
    await press("button", /^Use this Tell sales of open deals each working day/);
    await page
      .getByRole("figure")
      .getByText(/runs?$/)
      .waitFor();
    await press("button", "Create the schedule");
    await page.getByRole("heading", { name: "Tell sales of open deals each working day", level: 1 }).waitFor();
    expect(count()).toBe(4);
    const { standingProgram } = await standing("GetStandingProgram", {
      id: "tell-sales-of-open-deals-each-working-day",
    });
    const example = await readFile(join(root, "docs/examples/standing/report-each-morning.json"), "utf8");
    expect(JSON.parse(standingProgram.definitionJson)).toEqual(JSON.parse(example));
  },
);

browserTest(
  "a weekday schedule is made of sentences and cards, without JSON, and tried before it is created",
  async () => {
    const { page, faults } = await consoles.open({ path: path("schedules/new") });
    faults.expectStatus(400);
    const { press, type, count } = countPresses(page);
    await type(() => page.getByLabel("Time", { exact: true }).fill("08:30"));
    await type(() => page.getByLabel("Time zone", { exact: true }).fill("Europe/Berlin"));
    await press("button", "Add step");
    await type(() => page.getByLabel("Tool or kind of step").fill("send a message to a chat"));
    await press("button", /messaging_bot\.send_message/);
    // The dialog gives the focus back to its button when it has closed. A menu that opened before that would close again.
    await page.getByRole("button", { name: "Add step" }).and(page.locator(":focus")).waitFor();
    const card = page.getByRole("region", { name: "Step message" });
    await type(() => card.getByLabel("Chat id").fill("@sales"));
    await type(() => card.getByLabel("Text", { exact: true }).fill("Open deals:"));
    await card.getByRole("button", { name: "Add a value to Text" }).click();
    await page.getByRole("menuitem", { name: /^sums · deals/ }).click();
    await page.getByText("No approval needed: 1 write a run, nothing deleted.").waitFor();
    await press("button", "Run once in the sandbox");
    await page.getByText("Run in the sandbox: Succeeded").waitFor();
    await lookAt(page, "schedule-cards");
    await type(() => page.getByLabel("Name", { exact: true }).fill("weekdays"));
    await press("button", "Create the schedule");
    await page.getByText("Active", { exact: true }).waitFor();
    expect(count()).toBeLessThan(12);
    const { definitionJson } = (await standing("GetStandingProgram", { id: "weekdays" })).standingProgram;
    const { source, program } = JSON.parse(definitionJson);
    expect(source).toEqual({ schedule: { cron: ["30 8 * * 1-5"] } });
    expect(program.steps.at(-1)).toEqual({
      ...{ id: "message", call: "messaging_bot.send_message", entity: "ops" },
      args: { chat_id: "@sales", text: { $text: "Open deals: {steps.sums.deals}" } },
    });
    expect(definitionJson).toContain("1000.0");
  },
);

browserTest(
  "one of two times is typed key by key, and days are ticked one by one, and none of them is lost",
  async () => {
    const { page, faults } = await consoles.open({ path: path("schedules/new") });
    faults.expectStatus(400);
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    await field("Days").selectOption("cron");
    await field("Cron expressions").fill("0 9,11 * * *");
    await field("Days").selectOption("week");
    await field("Time 2").focus();
    // The last key is for a browser with a clock of twelve hours.
    for (const key of "1030a") await page.keyboard.press(key);
    await page.keyboard.press("Tab");
    for (const day of days.slice(1, 6)) await page.getByRole("checkbox", { name: day }).check();
    for (const day of days) expect(await page.getByRole("checkbox", { name: day }).isChecked()).toBe(day !== "Sun");
    expect([await field("Time").inputValue(), await field("Time 2").inputValue()]).toEqual(["09:00", "10:30"]);
    await field("Days").selectOption("cron");
    expect(await field("Cron expressions").inputValue()).toBe("0 9 * * 1,2,3,4,5,6\n30 10 * * 1,2,3,4,5,6");
  },
);

browserTest(
  "steps are moved and renamed by keyboard, removed, and each change undone; accounts are connected by one press",
  async () => {
    const { page, faults } = await consoles.open({ path: path("programs/new?example=triage-incidents-and-page") });
    faults.expectStatus(400);
    const keys = keyboardOf(page);
    const ids = () => page.locator("ol > li > section > div > h3").allTextContents();
    await page.getByRole("button", { name: "Connect 1 sandbox account" }).click();
    await page.getByText("Ready to run. No approval needed.").waitFor();
    const before = await ids();
    expect(before.slice(0, 4)).toEqual(["incidents", "oldest", "first", "triage"]);
    await keys.tabTo(page.getByRole("button", { name: "Actions of step first" }));
    await keys.press("Alt+ArrowUp");
    await until(async () => (await ids())[1] === "first");
    await page.getByRole("button", { name: "Actions of step first" }).and(page.locator(":focus")).waitFor();
    await page.getByRole("heading", { name: /problem/ }).waitFor();
    await keys.press("Alt+ArrowDown");
    await until(async () => (await ids())[1] === "oldest");
    const step = page.getByRole("region", { name: "Step oldest" });
    await step.getByRole("button", { name: /more fields$/ }).click();
    await step.getByLabel("Id").fill("sorted");
    await keys.press("Enter");
    await page.getByRole("region", { name: "Step sorted" }).waitFor();
    expect(await page.getByRole("region", { name: "Step first" }).getByLabel("Rows of").inputValue()).toBe("sorted");
    await page.getByText("Ready to run. No approval needed.").waitFor();
    await page.getByRole("button", { name: "Actions of step sorted" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await page.getByRole("region", { name: "Step sorted" }).waitFor({ state: "detached" });
    const undo = page.getByRole("button", { name: "Undo" });
    for (let undone = 0; undone < 4; undone += 1) await undo.click();
    expect(await ids()).toEqual(before);
    await page.getByRole("button", { name: "Examples" }).click();
    await page
      .getByRole("button", { name: /^Use this/ })
      .first()
      .click();
    await until(async () => (await ids())[0] !== "incidents");
    await undo.click();
    await until(async () => (await ids())[0] === "incidents");
    const again = page.getByRole("region", { name: "Step oldest" });
    await again
      .getByRole("button", { name: /more fields$/ })
      .or(again.getByLabel("Id"))
      .first()
      .waitFor();
    if (!(await again.getByLabel("Id").isVisible())) await again.getByRole("button", { name: /more fields$/ }).click();
    await again.getByLabel("Id").fill("first");
    await again.getByText("Another step has this id.").waitFor();
    await again.getByLabel("Id").fill("oldest");
    expect(await ids()).toEqual(before);
    await page.getByRole("radio", { name: "JSON" }).check();
    await page.getByRole("textbox", { name: "Program" }).getByText('"oldest"').first().waitFor();
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
  await page.getByText(/^Input, rate and other details of the schedule: drift/).click();
  const drift = page.getByLabel("drift", { exact: true });
  expect(await drift.inputValue()).toBe('"follow"');
  await drift.fill('"follow", "paused": true');
  await page.getByText("Not JSON yet.").waitFor();
  await drift.fill('"follow"');
  await page.getByText("Not JSON yet.").waitFor({ state: "detached" });
  expect(await page.getByLabel("Spread over", { exact: true }).inputValue()).toBe("1m");
  await keys.tabTo(page.getByLabel("If the last run still works"));
  await keys.type("run both");
  await press("button", "More");
  await press("button", "Several at once");
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
  await page.getByRole("region", { name: "Step run" }).waitFor();
  expect(await page.getByLabel("Runs", { exact: true }).inputValue()).toBe("announce");
  await page.getByRole("radio", { name: "When an event arrives" }).check();
  await page.getByLabel("Events of", { exact: true }).selectOption("calendar");
  await page.getByLabel("Trigger", { exact: true }).selectOption("calendar.events_changed");
  await page.getByLabel("Name", { exact: true }).fill("tell-of-changes");
  await page.getByLabel("Runs", { exact: true }).selectOption("");
  await page.getByRole("region", { name: "Step run" }).waitFor({ state: "detached" });
  expect(await page.getByLabel("Trigger", { exact: true }).inputValue()).toBe("calendar.events_changed");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("region", { name: "Step run" }).waitFor();
  expect(await page.getByLabel("Runs", { exact: true }).inputValue()).toBe("announce");
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
