import type { WishName } from "./wishes.ts";

// One program for each wish, as it was first submitted. The author of the tool texts wrote them, using only what the tools say over MCP.

const entity = "ann";
const call = (id: string, slug: string, args: object, more: object = {}) => ({ id, call: slug, entity, args, ...more });
const program = (title: string, steps: readonly object[], more: object = {}) => ({ version: 1, title, steps, ...more });

const deals = (id: string, status: string, keep: readonly string[]) =>
  call(id, "sales_crm.list_deals", { status }, { rows: { from: "data[]", key: "id", keep, page: { max: 20 } } });
const incidents = (args: object, keep: readonly string[]) =>
  call("incidents", "incident_mgmt.list_incidents", args, { rows: { from: "incidents[]", key: "id", keep } });
const members = (args: object, keep: readonly string[]) =>
  call(
    "members",
    "email_marketing.list_members",
    { dc: "us6", list_id: "news", ...args },
    { rows: { from: "members[]", key: "id", keep, page: { max: 50 } } },
  );
const activities = (keep: readonly string[]) =>
  call(
    "activities",
    "sales_crm.list_activities",
    { done: false },
    { rows: { from: "data[]", key: "id", keep, page: { max: 20 } } },
  );
const say = (chat: string, text: unknown, more: object = {}) =>
  call("say", "messaging_bot.send_message", { chat_id: chat, text }, more);
const lines = (of: string, max = 500) => ({ text: { of, separator: "\n", max } });
const ref = ($ref: string) => ({ $ref });

/** Programs by wish. */
export const programs: Readonly<Record<WishName, object>> = {
  "worth-of-open-deals": program(
    "Count the open deals",
    [deals("deals", "open", ["id", "value"]), { id: "sum", reduce: "deals", as: { worth: "sum value" } }],
    { result: { deals: ref("rows.deals"), worth: ref("steps.sum.worth") } },
  ),
  "tell-large-deals": program("Tell of large deals", [
    deals("deals", "open", ["id", "title", "value"]),
    { id: "large", filter: "deals", where: "row.value >= 50000.0" },
    { id: "sorted", sort: "large", by: [{ field: "value", order: "desc" }] },
    { id: "text", reduce: "sorted", as: { lines: lines("- {row.title}: {row.value}") } },
    say("@sales", ref("steps.text.lines"), { when: "rows.large > 0" }),
  ]),
  "ask-why-lost": program("Ask why deals were lost", [
    deals("lost", "lost", ["id"]),
    {
      id: "plan",
      map: "lost",
      do: [call("ask", "sales_crm.create_activity", { subject: "Ask why", deal_id: ref("row.id") })],
    },
  ]),
  "deals-by-stage": program("Tell of deals by stage", [
    deals("deals", "open", ["id", "stage_id"]),
    { id: "stages", group: "deals", by: ["stage_id"], as: { number: "count" } },
    { id: "sorted", sort: "stages", by: [{ field: "stage_id", order: "asc" }] },
    { id: "text", reduce: "sorted", as: { lines: lines("{row.stage_id}: {row.number}") } },
    say("@sales", ref("steps.text.lines")),
  ]),
  "comment-on-exports": program("Comment on issues about exports", [
    call(
      "issues",
      "issue_tracker.list_issues",
      { team_id: "team-web", limit: 250 },
      { rows: { from: "nodes[]", key: "id", keep: ["id", "title"] } },
    ),
    { id: "exports", filter: "issues", where: "row.title.contains('Export')" },
    {
      id: "comment",
      map: "exports",
      do: [call("say", "issue_tracker.create_comment", { issue_id: ref("row.id"), body: "We are looking into it" })],
    },
  ]),
  "note-urgent-incidents": program("Note urgent incidents", [
    incidents({ status: "triggered" }, ["id", "urgency"]),
    { id: "urgent", filter: "incidents", where: "row.urgency == 'high'" },
    {
      id: "note",
      map: "urgent",
      do: [
        call("add", "incident_mgmt.add_incident_note", {
          from_email: "support@example.com",
          incident_id: ref("row.id"),
          content: "Seen by support",
        }),
      ],
    },
  ]),
  "incidents-by-status": program(
    "Count incidents by status",
    [
      incidents({}, ["id", "status"]),
      { id: "groups", group: "incidents", by: ["status"], as: { number: "count" } },
      { id: "sorted", sort: "groups", by: [{ field: "status", order: "asc" }] },
      { id: "text", reduce: "sorted", as: { lines: lines("{row.status}: {row.number}") } },
    ],
    { result: { lines: ref("steps.text.lines") } },
  ),
  "move-overdue": program("Move overdue activities", [
    activities(["id", "due_date"]),
    { id: "overdue", filter: "activities", where: "has(row.due_date) && row.due_date < '2099-01-01'" },
    {
      id: "move",
      map: "overdue",
      do: [call("set", "sales_crm.update_activity", { activity_id: ref("row.id"), due_date: "2099-12-01" })],
    },
  ]),
  "win-back": program("Tag who unsubscribed", [
    members({ status: "unsubscribed" }, ["id"]),
    {
      id: "tag",
      map: "members",
      do: [
        call("set", "email_marketing.update_member_tags", {
          dc: "us6",
          list_id: "news",
          subscriber_hash: ref("row.id"),
          tags: [{ name: "win-back", status: "active" }],
        }),
      ],
    },
  ]),
  "different-addresses": program(
    "Count addresses",
    [
      members({}, ["id", "email_address"]),
      { id: "plain", compute: "members", fields: { email: "row.email_address.lowerAscii()" } },
      { id: "different", distinct: "plain", by: ["email"] },
    ],
    { result: { addresses: ref("rows.different") } },
  ),
  "best-campaign": program("Tell of the best campaign", [
    call(
      "campaigns",
      "email_marketing.list_campaigns",
      { dc: "us6", status: "sent" },
      { rows: { from: "campaigns[]", key: "id", keep: ["id"], page: { max: 20 } } },
    ),
    {
      id: "reports",
      map: "campaigns",
      keep: { rate: "calls.report.opens.open_rate", subject: "calls.report.subject_line" },
      do: [call("report", "email_marketing.get_campaign_report", { dc: "us6", campaign_id: ref("row.id") })],
    },
    { id: "sorted", sort: "reports", by: [{ field: "rate", order: "desc" }] },
    { id: "best", limit: "sorted", max: 1 },
    { id: "text", reduce: "best", as: { line: lines("Best: {row.subject}", 1) } },
    say("@marketing", ref("steps.text.line")),
  ]),
  "incidents-to-issues": program("File issues of incidents", [
    incidents({ status: "triggered" }, ["id", "title"]),
    {
      id: "file",
      map: "incidents",
      do: [call("issue", "issue_tracker.create_issue", { team_id: "team-web", title: ref("row.title") })],
    },
  ]),
  "value-of-won-deals": program(
    "Look at won deals",
    [
      deals("won", "won", ["id", "value"]),
      { id: "values", reduce: "won", as: { least: "min value", average: "avg value", largest: "max value" } },
    ],
    {
      result: {
        smallest: ref("steps.values.least"),
        average: ref("steps.values.average"),
        largest: ref("steps.values.largest"),
      },
    },
  ),
  "many-incidents": program("Tell of many incidents", [
    incidents({ status: "triggered" }, ["id"]),
    say("@ops", "Many incidents", { when: "rows.incidents > 5" }),
  ]),
  "quiet-or-not": program("Tell whether it is quiet", [
    incidents({ status: "acknowledged" }, ["id"]),
    {
      id: "which",
      if: "rows.incidents == 0",
      // biome-ignore lint/suspicious/noThenProperty: a keyword of the language
      then: [say("@ops", "All quiet")],
      else: [{ ...say("@ops", { $text: "At work: {rows.incidents}" }), id: "work" }],
    },
  ]),
  "three-contacts": program(
    "Add three contacts",
    [
      { id: "people", take: "input.people", key: "email", keep: ["name", "email"] },
      {
        id: "add",
        map: "people",
        do: [
          call("person", "sales_crm.create_person", { name: ref("row.name"), emails: [{ value: ref("row.email") }] }),
        ],
      },
    ],
    {
      input: {
        people: [
          { name: "Ann", email: "ann@example.com" },
          { name: "Ben", email: "ben@example.com" },
          { name: "Cleo", email: "cleo@example.com" },
        ],
      },
    },
  ),
  "new-deal": program("Create a deal and tell of it", [
    call("deal", "sales_crm.create_deal", { title: "Website relaunch", value: 12_000 }),
    call("kickoff", "sales_crm.create_activity", { subject: "Kick-off", deal_id: ref("steps.deal.data.id") }),
    say("@sales", { $text: "Deal {steps.deal.data.id} is created" }),
  ]),
  "deals-without-next-step": program("Plan next steps", [
    deals("deals", "open", ["id"]),
    activities(["id", "deal_id"]),
    { id: "idle", join: "deals", with: "activities", on: { id: "deal_id" }, kind: "anti" },
    {
      id: "plan",
      map: "idle",
      do: [call("next", "sales_crm.create_activity", { subject: "Next step?", deal_id: ref("row.id") })],
    },
  ]),
  "report-is-out": program("Tell that the report is out", [
    say("@sales", "The report is out", {
      onError: {
        do: [call("note", "sales_crm.create_activity", { subject: "Tell sales of the report" })],
        // biome-ignore lint/suspicious/noThenProperty: a keyword of the language
        then: "continue",
      },
    }),
  ]),
  "close-small-deals": program(
    "Close small deals",
    [
      deals("deals", "open", ["id", "value"]),
      { id: "small", filter: "deals", where: "row.value < 1000.0" },
      { id: "ask", judge: "sure" },
      {
        id: "close",
        map: "small",
        do: [call("lose", "sales_crm.update_deal", { deal_id: ref("row.id"), status: "lost" })],
      },
    ],
    {
      points: {
        sure: {
          question: "{rows.small} open deals under 1000 would be marked as lost. Go on?",
          continuations: ["proceed", "abort"],
          escalation: [{ principal: "owner" }],
        },
      },
    },
  ),
};
