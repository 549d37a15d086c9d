import { isDeepStrictEqual } from "node:util";
import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { jobs } from "../areas/jobs.ts";
import { settings } from "../areas/settings.ts";
import { tools } from "../areas/tools.ts";
import { triggers } from "../areas/triggers.ts";
import { browserTest, startConsole } from "../browser.ts";
import { heardOf } from "../look.ts";
import { calendarSecret } from "../post-calendar.ts";

// Every filter, range, tab, selection and open panel is in the address. So anyone who opens the address in another browser sees the same
// page.
const consoles = startConsole();
let ids: Record<string, string> = {};
beforeAll(async () => {
  if (!consoles.isStarted) return;
  for (const { seed } of [triggers, tools, settings, jobs]) ids = { ...ids, ...(await seed(consoles.svc)) };
  // No trigger takes this event, so it is held.
  await fetch(`${consoles.svc.url}/webhooks/calendar?token=${calendarSecret}`, {
    method: "POST",
    body: '{"of": "no trigger"}',
  });
  const { posts } = (await consoles.svc.admin("ListQuarantinedPosts", {})).json;
  ids = { ...ids, post: posts[0].id };
});

type Pressed = {
  /** The page's path below that of the project, or a path of the administration. */
  path: () => string;
  /** Clicks and types on the page. */
  press: (page: Page) => Promise<unknown>;
  /** The search part that the address must then have. */
  search: RegExp;
  /** Resolves when the page has loaded everything. */
  shows: (page: Page) => Promise<unknown>;
};

/** Picks an option of a filter that has a fixed set of values. */
async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole("combobox", { name: new RegExp(`^${label}: `) }).click();
  await page
    .getByRole("option", { name: new RegExp(`^${option}`) })
    .first()
    .click();
}
/** Opens the first row in the panel next to the list. */
const openFirst = (page: Page) => page.getByRole("grid").getByRole("row").nth(1).click();
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name }).first().waitFor();

const cases: Record<string, Pressed> = {
  "home: a range, and charts as tables": {
    path: () => "home",
    press: async (page) => {
      await press(page, "7 d");
      await page.getByRole("switch", { name: "Tables" }).click();
    },
    search: /range=7d.*table=on/,
    shows: (page) => page.getByRole("region", { name: "Deliveries by outcome, as a table" }).waitFor(),
  },
  "events: toolkit, trigger, entity, text, time, held still, and one beside the list": {
    path: () => "events",
    press: async (page) => {
      await choose(page, "App", "calendar");
      await choose(page, "Trigger", "events_changed");
      await page.getByLabel("Search payload").fill("resource-1");
      await choose(page, "Received", "last 7 d");
      await page.getByRole("switch", { name: "Live" }).click();
      await openFirst(page);
    },
    search:
      /(?=.*toolkit=calendar)(?=.*trigger=calendar\.events_changed)(?=.*text=resource-1)(?=.*range=7d)(?=.*live=off).*open=evt_/,
    shows: (page) => page.getByRole("region", { name: "Payload" }).getByText("resource-1").first().waitFor(),
  },
  "deliveries: to whom, state, time, and one beside the list": {
    path: () => `deliveries?subscription=${ids["badId"]}`,
    press: async (page) => {
      await page.getByRole("link", { name: "Needs attention" }).click();
      await choose(page, "Created", "last 24 h");
      await openFirst(page);
    },
    search: /subscription=sub_.*state=failed.*range=24h.*open=dlv_/,
    shows: (page) =>
      page
        .getByRole("region", { name: /^Answer/ })
        .first()
        .getByText("503")
        .waitFor(),
  },
  "replays: the one that would be started": {
    path: () => "events?toolkit=calendar&range=7d",
    press: async (page) => {
      await page.getByRole("link", { name: "Resend these" }).click();
      await page.getByRole("dialog").waitFor();
    },
    search: /replays\?.*start=yes.*toolkit=calendar/,
    shows: (page) =>
      page
        .getByRole("dialog")
        .getByRole("button", { name: /^Resend \d+ deliver/ })
        .waitFor(),
  },
  "tools: words, toolkit, class": {
    path: () => "tools",
    press: async (page) => {
      await page.getByLabel("Search tools").fill("delete a message");
      await choose(page, "App", "messaging_bot");
      await choose(page, "Effect", "Deletes");
    },
    search: /(?=.*q=delete)(?=.*toolkit=messaging_bot).*class=destructive/,
    shows: (page) => page.getByRole("link", { name: "messaging_bot.delete_message", exact: true }).waitFor(),
  },
  "a tool: arguments as JSON, and the same call in another way": {
    path: () => `tools/messaging_bot.send_message?from=${ids["call"]}`,
    press: async (page) => {
      await page.getByRole("tab", { name: "JSON", exact: true }).click();
      await page.getByRole("tab", { name: "TypeScript" }).click();
    },
    search: /(?=.*args=json).*as=typescript/,
    shows: (page) => page.getByRole("button", { name: "Send in the sandbox", disabled: false }).waitFor(),
  },
  "accounts: entity, toolkit, state": {
    path: () => "accounts",
    press: async (page) => {
      await page.getByLabel("User").fill("ada");
      await choose(page, "App", "messaging_bot");
      await choose(page, "State", "Active");
    },
    search: /(?=.*entity=ada)(?=.*toolkit=messaging_bot).*state=active/,
    shows: (page) =>
      page
        .getByRole("row", { name: /messaging_bot/ })
        .first()
        .waitFor(),
  },
  "accounts: the dialog that connects one": {
    path: () => "accounts?connect=messaging_bot&for=grace",
    press: (page) => page.getByRole("dialog").waitFor(),
    search: /connect=messaging_bot.*for=grace/,
    shows: (page) => page.getByRole("dialog").getByRole("button", { name: "Connect", exact: true }).waitFor(),
  },
  "calls: tool, entity, outcome, time, and one beside the list": {
    path: () => "calls",
    press: async (page) => {
      await page.getByLabel("Tool").fill("messaging_bot.send_message");
      await page.getByLabel("User").fill("ada");
      await choose(page, "Outcome", "OK");
      await choose(page, "Time", "last hour");
      await openFirst(page);
    },
    search: /(?=.*tool=messaging_bot\.send_message)(?=.*entity=ada)(?=.*outcome=ok)(?=.*range=1h).*open=call_/,
    shows: (page) => page.getByRole("region", { name: "Arguments" }).first().waitFor(),
  },
  "jobs: title, status, mode, time": {
    path: () => "jobs",
    press: async (page) => {
      await page.getByLabel("Title").fill("Gather");
      await choose(page, "Status", "Succeeded");
      await choose(page, "Mode", "live");
      await choose(page, "Submitted", "last 24 h");
    },
    search: /(?=.*title=Gather)(?=.*status=succeeded)(?=.*mode=live).*range=24h/,
    shows: (page) =>
      page
        .getByRole("row", { name: /Gather|No job/ })
        .first()
        .or(page.getByRole("heading", { name: "No job matches" }))
        .waitFor(),
  },
  "jobs: those that wait for a person": {
    path: () => "jobs",
    press: (page) => page.getByRole("link", { name: "Waiting for a person" }).click(),
    search: /preset=waiting/,
    shows: (page) => page.getByRole("row").nth(1).waitFor(),
  },
  "a job: the log of a step, the newest first": {
    path: () => `jobs/${ids["branching"]}`,
    press: async (page) => {
      await page.getByRole("tab", { name: "Log" }).click();
      await choose(page, "Of", "later");
      await choose(page, "Order", "newest first");
    },
    search: /(?=.*tab=log)(?=.*step=later).*order=newest/,
    shows: (page) => page.getByRole("region", { name: "Entries of the log" }).waitFor(),
  },
  "a job: the drawer of a step, a part of it, and a closed block": {
    path: () => `jobs/${ids["branching"]}`,
    press: async (page) => {
      await page.getByRole("button", { name: "Close gather" }).click();
      await page.getByRole("row", { name: "later" }).click();
      await page.getByRole("region", { name: "Step later" }).getByRole("tab", { name: "Input" }).click();
    },
    search: /(?=.*folded=gather)(?=.*step=later).*part=input/,
    shows: async (page) => {
      await page.getByRole("region", { name: "Step later" }).getByRole("tabpanel", { name: "Input" }).waitFor();
      await page.getByRole("button", { name: "Open gather" }).waitFor();
    },
  },
  "a job: its program": {
    path: () => `jobs/${ids["done"]}`,
    press: (page) => page.getByRole("tab", { name: "Program" }).click(),
    search: /tab=program/,
    shows: (page) => page.getByText('"steps"').first().waitFor(),
  },
  "asks: what was settled, of one contact": {
    path: () => "asks",
    press: async (page) => {
      await page.getByRole("link", { name: "Answered" }).click();
      await choose(page, "Asked of", "lead");
    },
    search: /(?=.*show=settled).*of=lead/,
    shows: (page) => heading(page, "No ask matches"),
  },
  "contacts: ask endpoints": {
    path: () => "contacts",
    press: (page) => page.getByRole("tab", { name: "Question endpoints" }).click(),
    search: /tab=endpoints/,
    shows: (page) => heading(page, "No question endpoints yet"),
  },
  "a skill: one of its versions": {
    path: () => "skills/announce",
    press: (page) => choose(page, "Version", "1"),
    search: /version=1/,
    shows: (page) => page.getByText('"steps"').first().waitFor(),
  },
  "schedules: a state": {
    path: () => "schedules",
    press: (page) => page.getByRole("link", { name: "Paused" }).click(),
    search: /state=paused/,
    shows: (page) => heading(page, "No schedule matches"),
  },
  "a new schedule: the skill that it runs": {
    // The choice itself is a change of the text, which Undo takes back. Only links to this page name a skill.
    path: () => "schedules/new?skill=announce",
    press: async () => {},
    search: /skill=announce/,
    shows: async (page) => {
      await page.getByRole("region", { name: "Step run" }).waitFor();
      await page.getByRole("button", { name: "Create the schedule", disabled: false }).waitFor();
    },
  },
  "a schedule: runs of a reason": {
    path: () => `schedules/${ids["schedule"]}`,
    press: (page) => choose(page, "Reason", "overlap"),
    search: /reason=overlap/,
    shows: (page) => heading(page, "No run has the reason overlap"),
  },
  "settings: a part of them": {
    path: () => "settings",
    press: (page) => page.getByRole("tab", { name: "Secrets" }).click(),
    search: /tab=secrets/,
    shows: (page) => page.getByText("billing_token").waitFor(),
  },
  "quarantine: toolkit, reason, released ones": {
    path: () => "admin/quarantine",
    press: async (page) => {
      await choose(page, "App", "calendar");
      await choose(page, "Reason", "No trigger");
      await page.getByRole("switch", { name: "Show released" }).click();
    },
    search: /toolkit=calendar.*reason=no_trigger.*released=shown/,
    shows: (page) =>
      page
        .getByRole("row", { name: /calendar/ })
        .first()
        .waitFor(),
  },
  "the audit log: project, who, action, time": {
    path: () => "admin/audit",
    press: async (page) => {
      await choose(page, "Project", "default");
      await page.getByLabel("Action").fill("SecretsService.PutSecret");
      await choose(page, "Done", "last 24 h");
      await page
        .getByRole("row", { name: /billing_token/ })
        .getByRole("link", { name: /^key_/ })
        .click();
    },
    search: /(?=.*project=prj_)(?=.*action=SecretsService\.PutSecret)(?=.*range=24h).*who=key_/,
    shows: (page) => page.getByRole("row", { name: /billing_token/ }).waitFor(),
  },
  "a quarantined post: its body byte by byte": {
    path: () => `admin/quarantine/${ids["post"]}`,
    press: (page) => page.getByRole("tab", { name: "Bytes" }).click(),
    search: /body=hex/,
    shows: (page) => page.getByRole("tabpanel", { name: "Bytes" }).waitFor(),
  },
  "a project: what it uses": {
    path: () => `admin/projects/${consoles.projectId}`,
    press: (page) => page.getByRole("tab", { name: "Usage" }).click(),
    search: /tab=usage/,
    shows: (page) => page.getByRole("tabpanel", { name: "Usage" }).getByRole("listitem").first().waitFor(),
  },
};

browserTest.each(Object.entries(cases))("%s", async (_, { path, press: act, search, shows }) => {
  const isAdmin = path().startsWith("admin/");
  const key = isAdmin ? { key: consoles.svc.adminToken } : {};
  const open = (at: string) => consoles.open({ path: at, ...key });
  const { page } = await open(isAdmin ? path() : `p/${consoles.projectId}/${path()}`);
  await act(page);
  await page.waitForURL(search);
  await shows(page);
  const { page: other } = await open(page.url().slice(`${consoles.svc.url}/console/`.length));
  await shows(other);
  // Both pages are read at each try, because the first one may still be loading.
  const both = async () => [await valuesOf(page), await valuesOf(other)] as const;
  await until(async () => isDeepStrictEqual(...(await both())), "both show the same").catch(() => undefined);
  const [seen, seenThere] = await both();
  expect(seenThere).toEqual(seen);
  expect(other.url()).toBe(page.url());
});

/** Returns the texts that a page shows to screen readers, the values of its fields, and whether a dialog is open. */
async function valuesOf(page: Page) {
  // Parts that are loaded on first use, such as the JSON viewer, show plain text until then.
  await until(async () => (await page.locator("main [aria-busy=true]").count()) === 0);
  return {
    // Spaces are removed, so the layout of JSON does not matter.
    heard: (await heardOf(page)).replace(/\s+/g, ""),
    fields: await page.evaluate("[...document.querySelectorAll('main :is(input, textarea)')].map((one) => one.value)"),
    dialogs: await page.getByRole("dialog").count(),
  };
}
