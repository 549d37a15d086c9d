import type { WishName } from "./wishes.ts";

// The result of each wish by single calls: the calls that write, and the answer. It defines the meaning of the wish, and its cost without
// programs.

/** Makes one call of a tool and returns its result. */
// biome-ignore lint/suspicious/noExplicitAny: results of many tools
export type CallApart = (slug: string, args: object) => Promise<any>;

// biome-ignore lint/suspicious/noExplicitAny: rows of many tools
type Row = any;

/** Returns all rows of a list that is paged by a cursor. */
async function dealsOf(call: CallApart, status: string): Promise<Row[]> {
  return pagesOf(call, "sales_crm.list_deals", { status });
}

async function pagesOf(call: CallApart, slug: string, args: object): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | undefined, first = true; first || cursor; first = false) {
    const { data, additional_data: more } = await call(slug, { ...args, ...(cursor && { cursor }) });
    rows.push(...data);
    cursor = more?.next_cursor;
  }
  return rows;
}

async function membersOf(call: CallApart, args: object): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = { dc: "us6", list_id: "news", ...args, ...(rows.length > 0 && { offset: rows.length }) };
    const { members } = await call("email_marketing.list_members", page);
    rows.push(...members);
    // A page of ten is the tool's own default.
    if (members.length < 10) return rows;
  }
}

const incidentsOf = async (call: CallApart, args: object): Promise<Row[]> =>
  (await call("incident_mgmt.list_incidents", args)).incidents;
const say = (call: CallApart, chat: string, text: string) =>
  call("messaging_bot.send_message", { chat_id: chat, text });
const plan = (call: CallApart, subject: string, deal: number) =>
  call("sales_crm.create_activity", { subject, deal_id: deal });

function countedBy(rows: readonly Row[], field: string): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row[field], (counts.get(row[field]) ?? 0) + 1);
  return [...counts];
}

async function all(rows: readonly Row[], act: (row: Row) => Promise<unknown>): Promise<void> {
  for (const row of rows) await act(row);
}

/** Functions by wish, which make the calls and return the answer if the wish has one. */
export const apart: Readonly<Record<WishName, (call: CallApart) => Promise<object | undefined>>> = {
  async "worth-of-open-deals"(call) {
    const rows = await dealsOf(call, "open");
    return { deals: rows.length, worth: rows.reduce((sum, { value }) => sum + value, 0) };
  },
  async "tell-large-deals"(call) {
    const rows = (await dealsOf(call, "open")).filter(({ value }) => value >= 50_000);
    const sorted = rows.toSorted((a, b) => b.value - a.value);
    await say(call, "@sales", sorted.map(({ title, value }) => `- ${title}: ${value}`).join("\n"));
    return undefined;
  },
  async "ask-why-lost"(call) {
    await all(await dealsOf(call, "lost"), ({ id }) => plan(call, "Ask why", id));
    return undefined;
  },
  async "deals-by-stage"(call) {
    const stages = countedBy(await dealsOf(call, "open"), "stage_id").toSorted(([a], [b]) => Number(a) - Number(b));
    await say(call, "@sales", stages.map(([stage, number]) => `${stage}: ${number}`).join("\n"));
    return undefined;
  },
  async "comment-on-exports"(call) {
    const { nodes } = await call("issue_tracker.list_issues", { team_id: "team-web", limit: 250 });
    const exports = nodes.filter(({ title }: Row) => title.includes("Export"));
    const body = "We are looking into it";
    await all(exports, ({ id }) => call("issue_tracker.create_comment", { issue_id: id, body }));
    return undefined;
  },
  async "note-urgent-incidents"(call) {
    const urgent = (await incidentsOf(call, { status: "triggered" })).filter(({ urgency }) => urgency === "high");
    const note = { from_email: "support@example.com", content: "Seen by support" };
    await all(urgent, ({ id }) => call("incident_mgmt.add_incident_note", { ...note, incident_id: id }));
    return undefined;
  },
  async "incidents-by-status"(call) {
    const counts = countedBy(await incidentsOf(call, {}), "status").toSorted(([a], [b]) => (a < b ? -1 : 1));
    return { lines: counts.map(([status, number]) => `${status}: ${number}`).join("\n") };
  },
  async "move-overdue"(call) {
    const open = await pagesOf(call, "sales_crm.list_activities", { done: false });
    const overdue = open.filter(({ due_date: due }) => due < "2099-01-01");
    await all(overdue, ({ id }) => call("sales_crm.update_activity", { activity_id: id, due_date: "2099-12-01" }));
    return undefined;
  },
  async "win-back"(call) {
    const tags = [{ name: "win-back", status: "active" }];
    await all(await membersOf(call, { status: "unsubscribed" }), ({ id }) =>
      call("email_marketing.update_member_tags", { dc: "us6", list_id: "news", subscriber_hash: id, tags }),
    );
    return undefined;
  },
  async "different-addresses"(call) {
    const rows = await membersOf(call, {});
    return { addresses: new Set(rows.map(({ email_address: address }) => address.toLowerCase())).size };
  },
  async "best-campaign"(call) {
    const sent: Row[] = [];
    for (;;) {
      const page = { dc: "us6", status: "sent", ...(sent.length > 0 && { offset: sent.length }) };
      const { campaigns } = await call("email_marketing.list_campaigns", page);
      sent.push(...campaigns);
      if (campaigns.length < 10) break;
    }
    const reports: Row[] = [];
    await all(sent, async ({ id }) => {
      reports.push(await call("email_marketing.get_campaign_report", { dc: "us6", campaign_id: id }));
    });
    const [best] = reports.toSorted((a, b) => b.opens.open_rate - a.opens.open_rate);
    await say(call, "@marketing", `Best: ${best.subject_line}`);
    return undefined;
  },
  async "incidents-to-issues"(call) {
    await all(await incidentsOf(call, { status: "triggered" }), ({ title }) =>
      call("issue_tracker.create_issue", { team_id: "team-web", title }),
    );
    return undefined;
  },
  async "value-of-won-deals"(call) {
    const values = (await dealsOf(call, "won")).map(({ value }) => value);
    const average = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { smallest: Math.min(...values), average, largest: Math.max(...values) };
  },
  async "many-incidents"(call) {
    if ((await incidentsOf(call, { status: "triggered" })).length > 5) await say(call, "@ops", "Many incidents");
    return undefined;
  },
  async "quiet-or-not"(call) {
    const { length } = await incidentsOf(call, { status: "acknowledged" });
    await say(call, "@ops", length === 0 ? "All quiet" : `At work: ${length}`);
    return undefined;
  },
  async "three-contacts"(call) {
    await all(["Ann", "Ben", "Cleo"], (name) =>
      call("sales_crm.create_person", { name, emails: [{ value: `${name.toLowerCase()}@example.com` }] }),
    );
    return undefined;
  },
  async "new-deal"(call) {
    const { data } = await call("sales_crm.create_deal", { title: "Website relaunch", value: 12_000 });
    await plan(call, "Kick-off", data.id);
    await say(call, "@sales", `Deal ${data.id} is created`);
    return undefined;
  },
  async "deals-without-next-step"(call) {
    const deals = await dealsOf(call, "open");
    const planned = await pagesOf(call, "sales_crm.list_activities", { done: false });
    const busy = new Set(planned.map(({ deal_id: deal }) => deal));
    await all(
      deals.filter(({ id }) => !busy.has(id)),
      ({ id }) => plan(call, "Next step?", id),
    );
    return undefined;
  },
  async "report-is-out"(call) {
    await say(call, "@sales", "The report is out");
    return undefined;
  },
  async "close-small-deals"(call) {
    const small = (await dealsOf(call, "open")).filter(({ value }) => value < 1_000);
    await all(small, ({ id }) => call("sales_crm.update_deal", { deal_id: id, status: "lost" }));
    return undefined;
  },
};
