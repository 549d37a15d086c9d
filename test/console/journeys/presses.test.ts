import { startTestReceiver } from "@svc/testing/receiver";
import type { TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { expect } from "vitest";
import { jobs } from "../areas/jobs.ts";
import { browserTest, startConsole } from "../browser.ts";
import { failingProgram } from "../filled-project.ts";
import { jobWithStatus, submitProgram } from "../jobs-seed.ts";
import { postCalendar } from "../post-calendar.ts";

// The number of presses that a task takes. Other files count those of their own tasks: a first success takes 1 (home.test.ts), from a
// failing delivery to its cause 2 and to resend all failures of an endpoint 2 (triggers.test.ts), a schedule from an example 4
// (schedules.test.ts).

let ids: Record<string, string> = {};
const consoles = startConsole({
  seed: async (svc) => {
    ids = { ...(await jobs.seed(svc)), ...(await seedOthers(svc)) };
  },
});

/** Adds an event with a delivery, a call, and accounts of every app that the failing program uses. */
async function seedOthers(svc: TestServer): Promise<Record<string, string>> {
  await using receiver = await startTestReceiver();
  const endpointUrl = receiver.url.replace("/hook", "/of-the-search");
  const { subscription } = (await svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl })).json;
  await postCalendar(svc);
  const list = async () =>
    (await svc.call("svc.v1.TriggersService/ListDeliveries", { subscriptionId: subscription.id })).json.deliveries ??
    [];
  await until(async () => (await list())[0]?.state === "delivered");
  const [delivery] = await list();
  const connect = async (toolkitSlug: string) => {
    const request = { toolkitSlug, entityId: "ops", apiKey: "any-key" };
    return (await svc.call("svc.v1.ConnectionsService/InitiateConnection", request)).json.account.id;
  };
  const account = await connect("incident_mgmt");
  await connect("search_ingestion");
  const { callId } = (
    await svc.call("svc.v1.ToolsService/CallTool", {
      ...{ toolSlug: "messaging_bot.send_message", entityId: "ops" },
      argumentsJson: JSON.stringify({ chat_id: "4711", text: "We are live" }),
    })
  ).json;
  return { delivery: delivery.id, event: delivery.eventId, call: callId, account };
}

browserTest("why a run failed is read with no press, and names the app and the step that failed", async () => {
  const id = await submitProgram(consoles.svc, failingProgram);
  await jobWithStatus(consoles.svc, id, "FAILED");
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/jobs/${id}` });
  const why = page.getByText("Sales CRM refused 2 of 3 rows and gave no reason (404)").first();
  await why.waitFor();
  const box = await why.boundingBox();
  expect((box?.y ?? 800) + (box?.height ?? 0)).toBeLessThan(800);
  await page.getByText("Step remind: App error, status 404").waitFor();
  await page.getByRole("row", { name: "note" }).getByText("2 failed").waitFor();
  await page.getByRole("link", { name: "Edit and run" }).waitFor();
});

/** What the search finds: the group in which it is listed, the typed text, and the address to which it leads. */
const things: readonly [name: string, group: string, type: (id: typeof ids) => string, to: RegExp][] = [
  ["an event, by the end of its id", "Events", ({ event = "" }) => event.slice(-6), /\/events\/evt_\w+$/],
  ["a delivery, by the end of its id", "Deliveries", ({ delivery = "" }) => delivery.slice(-6), /\/deliveries\/dlv_/],
  ["an endpoint, by its address", "Endpoints", () => "of-the-search", /\/subscriptions\/sub_\w+$/],
  ["a job, by its title", "Jobs", () => "Gather from two", /\/jobs\/job_\w+$/],
  ["a question, by the end of its id", "Questions", ({ ask = "" }) => ask.slice(-6), /\/asks\/\w+\/ask_\w+$/],
  ["a schedule, by its title", "Schedules", () => "Announce lunch", /\/schedules\/stp_\w+$/],
  ["a call, by the end of its id", "Calls", ({ call = "" }) => call.slice(-6), /\/calls\/call_\w+$/],
  ["a saved tool, by its name", "Saved tools", () => "announce", /\/skills\/announce$/],
  ["a person, by their name", "People", () => "Head of sales", /\/contacts$/],
  ["an account, by its id", "", ({ account = "" }) => account, /\/accounts\/acc_\w+$/],
  ["a tool, by what it does", "", () => "send a message", /\/tools\?q=send\+a\+message$/],
  ["a page, by its title", "", () => "incoming", /\/ingest$/],
];

browserTest.each(things)("Control and K finds %s", async (_, group, type, to) => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/settings` });
  await page.keyboard.press("ControlOrMeta+k");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox").fill(type(ids));
  const found = group === "" ? dialog : dialog.getByRole("group", { name: group });
  await found.getByRole("option").first().click();
  await page.waitForURL(to);
});
