import { loadCatalog } from "@svc/catalog";
import { shippedToolkits } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { calendarFacts } from "./calendar-facts.ts";
import { actionOf, catalog } from "./definitions.ts";
import { describeAction, sortFacts } from "./describe-action.ts";
import { calendarRows } from "./rows/calendar.ts";

const calendar = catalog.toolkits.get("calendar")!;
const eventsChanged = calendar.triggers[0]!;

test("the toolkit and its trigger are declared as the specification has them", () => {
  expect(calendar).toMatchObject({
    category: "scheduling",
    webhook: { scheme: "token_query", parameter: "token", secretEnv: "SVC_WEBHOOK_SECRET_CALENDAR" },
  });
  expect(calendar.triggers.map(({ slug }) => slug)).toEqual(["calendar.events_changed"]);
});

test.each(calendarFacts)("$tool has the class, scopes, call, arguments and result that are public", (facts) => {
  expect(describeAction(actionOf(`calendar.${facts.tool}`))).toEqual(sortFacts(facts));
});

test("every tool has a row or public facts", () => {
  const known = [...calendarRows, ...calendarFacts].map(({ tool }) => tool);
  expect(calendar.actions.map(({ name }) => name)).toEqual(known.toSorted());
});

const event = { calendar_id: "primary", summary: "Review" };
const day = { start_date: "2026-03-14", end_date: "2026-03-15" };
const hour = { start_time: "2026-03-14T09:00:00Z", end_time: "2026-03-14T10:00:00Z" };
const zone = { time_zone: "Europe/Madrid" };
const entry = { calendar_id: "team@group.example.com" };
const rule = { calendar_id: "primary", role: "reader" };

test.each<[tool: string, given: object, accepted: boolean]>([
  ["list_events", { calendar_id: "primary" }, true],
  ["list_events", { calendar_id: "primary", order_by: "startTime", single_events: true }, true],
  ["list_events", { calendar_id: "primary", order_by: "startTime", single_events: false }, false],
  ["list_events", { calendar_id: "primary", order_by: "startTime" }, false],
  ["list_events", { calendar_id: "primary", order_by: "updated" }, true],
  ["list_events", { calendar_id: "primary", time_min: "2026-03-14" }, false],
  ["list_events", { calendar_id: "primary", time_min: "2026-03-14T09:00:00" }, false],
  ["create_event", { ...event, ...day }, true],
  ["create_event", { ...event, ...hour, ...zone }, true],
  ["create_event", { ...event, ...hour }, false],
  ["create_event", event, false],
  ["create_event", { ...event, ...day, ...hour, ...zone }, false],
  ["create_event", { ...event, start_date: day.start_date }, false],
  ["create_event", { ...event, ...zone, start_time: hour.start_time }, false],
  ["create_event", { ...event, ...day, attendees: [{ email: "ana@example.com", optional: true }] }, true],
  ["create_event", { ...event, ...day, attendees: [{ optional: true }] }, false],
  ["create_event", { ...event, ...day, send_updates: "some" }, false],
  ["update_event", { calendar_id: "primary", event_id: "e" }, true],
  ["update_event", { calendar_id: "primary", event_id: "e", ...hour }, true],
  ["update_event", { calendar_id: "primary", event_id: "e", end_time: hour.end_time }, false],
  ["update_event", { calendar_id: "primary", event_id: "e", ...day, ...hour }, false],
  ["import_event", { calendar_id: "primary", ical_uid: "u@example.com", ...hour }, true],
  ["import_event", { calendar_id: "primary", ical_uid: "u@example.com" }, false],
  ["add_calendar_to_list", { ...entry, background_color: "#0088aa", use_rgb_colors: true }, true],
  ["add_calendar_to_list", { ...entry, background_color: "#0088aa" }, false],
  ["update_calendar_list_entry", { ...entry, foreground_color: "#ffffff", use_rgb_colors: false }, false],
  ["update_calendar_list_entry", { ...entry, default_reminders: [{ method: "popup", minutes: 10 }] }, true],
  ["update_calendar_list_entry", { ...entry, default_reminders: [{ method: "popup", minutes: 40321 }] }, false],
  ["create_acl_rule", { ...rule, scope_type: "default" }, true],
  ["create_acl_rule", { ...rule, scope_type: "default", scope_value: "x" }, false],
  ["create_acl_rule", { ...rule, scope_type: "user" }, false],
  ["create_acl_rule", { ...rule, scope_type: "domain", scope_value: "example.com" }, true],
  ["list_calendars", { max_results: 251 }, false],
  ["delete_event", { calendar_id: "primary", event_id: "e", confirm: true }, true],
])("%s judges %j: accepted %s", (tool, given, accepted) => {
  const faults = actionOf(`calendar.${tool}`).validateInput(given);
  expect(faults.length === 0, JSON.stringify(faults)).toBe(accepted);
});

/** Returns a post as the calendar sends it: all data are in headers, and the body is empty. */
function notification(more: Record<string, string> = {}) {
  const headers = {
    "x-calendar-channel-id": "channel-1",
    "x-calendar-message-number": "7",
    "x-calendar-resource-id": "opaque",
    "x-calendar-resource-state": "exists",
    "x-calendar-resource-uri": "https://api.example.com/calendar/v3/calendars/ana%40example.com/events?alt=json",
    ...more,
  };
  return { headers, query: new URLSearchParams("token=secret"), body: undefined };
}

test("events_changed normalizes what the app sends in headers", () => {
  const post = notification({ "x-calendar-channel-expiration": "Tue, 31 Mar 2026 10:00:00 GMT" });
  expect(eventsChanged.matches(post)).toBe(true);
  expect(eventsChanged.normalize(post)).toEqual({
    payload: {
      calendar_id: "ana@example.com",
      channel_id: "channel-1",
      channel_expiration: "Tue, 31 Mar 2026 10:00:00 GMT",
      message_number: 7,
      resource_id: "opaque",
      resource_state: "exists",
      resource_uri: "https://api.example.com/calendar/v3/calendars/ana%40example.com/events?alt=json",
    },
    account: "channel-1",
    entityId: "",
    dedupe: "channel-1:7",
    occurredAt: undefined,
  });
});

test("events_changed leaves out what the app did not send", () => {
  const result = eventsChanged.normalize(notification({ "x-calendar-resource-uri": "https://api.example.com/x" }));
  expect(result).not.toHaveProperty("payload.channel_expiration");
  expect(result).not.toHaveProperty("payload.calendar_id");
});

test("the message that opens a channel is ignored and fires nothing", () => {
  const post = notification({ "x-calendar-resource-state": "sync" });
  expect(calendar.webhook?.ignores(post)).toBe(true);
  expect(eventsChanged.matches(post)).toBe(false);
  expect(calendar.webhook?.ignores(notification())).toBe(false);
});

test("a post that lacks a required header, or does not count, is a fault", () => {
  const { "x-calendar-resource-id": _left, ...headers } = notification().headers;
  expect(eventsChanged.normalize({ ...notification(), headers })).toHaveProperty("fault");
  for (const number of ["", "x", "1.5"]) {
    const post = notification({ "x-calendar-message-number": number });
    expect(eventsChanged.normalize(post), number).toHaveProperty("fault");
  }
});

test("without a deployment file every project hears of a post; with one, the accounts it names", async () => {
  expect(calendar.webhook?.audience).toBe("projects");
  const deployment = { file: "d.yaml", toolkits: new Map(), lineOf: () => undefined };
  const deployed = await loadCatalog({ folders: [shippedToolkits], deployment });
  expect(deployed.toolkits.get("calendar")?.webhook?.audience).toBe("accounts");
});
