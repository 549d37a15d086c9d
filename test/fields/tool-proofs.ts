import {
  answers,
  type DefinitionProof,
  finds,
  paid,
  posted,
  published,
  resulting,
  sends,
  served,
  shop,
  signs,
  tool,
  tracker,
} from "./definition-proofs.ts";
import type { DefinitionWorld } from "./definition-world.ts";
import { type Proofs, under } from "./proof.ts";

type Gives = DefinitionProof["gives"];
type Shows = DefinitionProof["shows"];

/** Returns a function that makes proofs for a field of one tool of the shop. `changes` are applied to the tool first. */
function of(name: keyof typeof shop.tools, changes: object = {}) {
  const tools = { ...shop.tools, [name]: { ...shop.tools[name], ...changes } };
  return (field: string, other: unknown, shows: Shows, gives: Gives): DefinitionProof => {
    return { of: { ...shop, tools }, at: `/tools/${name}/${field}`, other, shows, gives };
  };
}

/** Returns a proof for a field of the tool of a private toolkit for an MCP server. `pick`: chooses from the message to the server. */
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is sent
function ofTracker(field: string, other: unknown, pick: (body: any) => unknown, gives: Gives): DefinitionProof {
  const shows = published(async (one, definition) => {
    const request = await one.publish(definition);
    return typeof request === "string" ? "refused" : pick(JSON.parse(request.bodyJson));
  });
  return { of: tracker, at: `/tools/create_issue/mcp/${field}`, other, shows, gives };
}

const list = of("list_orders");
const note = of("leave_note");
const drop = of("drop_note");
const sold = of("order_paid");
const gone = "The shop deprecated it in 2025: call leave_note instead.";
const uncallable = of("drop_note", { callable: false, uncallableReason: gone });
const deprecated = of("drop_note", { replacedBy: "leave_note" });
const keyed = of("leave_note", {
  idempotency: { argument: "once" },
  input: {
    ...shop.tools.leave_note.input,
    properties: {
      text: { type: "string", description: "What it says." },
      once: { type: "string", description: "Key." },
      twice: { type: "string", description: "Key." },
    },
  },
  request: {
    method: "POST",
    path: "/notes",
    body: { text: "{{params.text}}", once: "{{params.once}}", twice: "{{params.twice}}" },
  },
});
const optionalNote = {
  ...shop,
  toolkit: { ...shop.toolkit, always: {} },
  tools: {
    ...shop.tools,
    leave_note: {
      ...shop.tools.leave_note,
      input: { ...shop.tools.leave_note.input, required: [] },
      request: { ...shop.tools.leave_note.request, emptyBody: "none" },
    },
  },
};
const plainNote = of("leave_note", {
  response: {},
  output: { type: "object", properties: { text: { type: "string" } } },
});
const coded = of("leave_note", { response: { error: { path: "error", message: "problem", code: "code" } } });
const flagged = of("leave_note", { response: { error: { unless: "ok", message: "problem" } } });
const named = of("list_orders", {
  ...{
    request: { method: "GET", path: "/names" },
    input: { type: "object", additionalProperties: false, properties: {} },
    paging: undefined,
  },
  output: {
    type: "object",
    properties: {
      items: { type: "array", items: { type: "string" } },
      more: { type: "array", items: { type: "string" } },
    },
  },
  response: { under: "items" },
});
const linked = of("list_orders", { paging: { arg: "page", from: "link", query: "page" } });

const counted = (paging: object, size = 2) => {
  const { input } = shop.tools.list_orders;
  const properties = { ...input.properties, size: { ...input.properties.size, default: size } };
  return of("list_orders", { paging: { arg: "number", ...paging }, input: { ...input, properties } });
};
const counter = "Puts a message down at the counter so that the staff can read it later on.";
const bought = "Fires when somebody has paid for what they ordered in the shop.";
const first = "?always=q&size=2";
const second = "?always=q&page=p2&size=2";
const byLink = "?always=q&page=%2Fitems%3Fpage%3Dp2&size=2";
const numbered = (...numbers: number[]) => numbers.map((number) => `?always=q&number=${number}&size=2`);
const five = (query: string) => query.replace("size=2", "size=5");
const twice = { ...paid, id: "the same" };

const body = ({ body: sent }: { readonly body: string | undefined }) => JSON.parse(sent ?? "{}");
const path = ({ url }: { readonly url: string }) => new URL(url).pathname;
const search = ({ url }: { readonly url: string }) => new URL(url).search;
const header =
  (name: string) =>
  ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => {
    return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]?.length ?? 0;
  };
const hello = { text: "hello" };
const once = { idempotencyKey: "abcdefghijkl" };
const pages = served((one) => one.pages("list_orders", {}));
// biome-ignore lint/suspicious/noExplicitAny: an event of any payload
const event = (pick: (event: any) => unknown) =>
  posted(paid, ({ outcome: ended, made }) => (made?.[0] ? pick(made[0]) : ended));
const payload = event((one) => JSON.parse(one.payload));

/** Proofs for every field of an action, except those of `poll`. */
export const actionProofs: Proofs<DefinitionWorld> = under("action", {
  "mcp.tool": ofTracker("tool", "close issue", (body) => body.params.name, ["open issue", "close issue"]),
  "mcp.argument": ofTracker("argument", undefined, (body) => body.params.arguments, [
    { title: "t" },
    { arguments: { title: "t" } },
  ]),
  "mcp.digest": ofTracker("digest", "b", (body) => body.method, ["tools/call", "refused"]),
  kind: note(
    "kind",
    "trigger",
    served(() => "served"),
    [
      "served",
      ["match", "payload", "idempotency", "input", "request", "response", "class"].map(
        (name) => `shop/tools/leave_note ${name}`,
      ),
    ],
  ),
  class: drop("class", "write", answers("drop_note", { id: "a" }, resulting), ["held", { gone: true }]),
  scopes: list(
    "scopes",
    undefined,
    tool("list_orders", (one) => one.requiredScopes),
    [["orders.read"], undefined],
  ),
  description: note(
    "description",
    counter,
    tool("leave_note", (one) => one.description),
    [shop.tools.leave_note.description, counter],
  ),
  intents: note("intents", ["sing a song", "paint a picture", "walk the dog"], finds("walk the dog"), [
    [],
    ["leave_note"],
  ]),
  callable: uncallable("callable", undefined, answers("drop_note", { id: "a", confirm: true }, resulting), [
    "not_callable",
    ["shop/tools/drop_note uncallableReason"],
  ]),
  uncallableReason: uncallable(
    "uncallableReason",
    `${gone} Today.`,
    tool("drop_note", (one) => one.uncallableReason),
    [gone, `${gone} Today.`],
  ),
  replacedBy: deprecated(
    "replacedBy",
    undefined,
    tool("drop_note", (one) => one.replacedBy),
    ["shop.leave_note", undefined],
  ),
  "idempotency.argument": keyed(
    "idempotency/argument",
    "twice",
    sends("leave_note", hello, (one) => Object.keys(body(one)), once),
    [
      ["always", "text", "once"],
      ["always", "text", "twice"],
    ],
  ),
  "idempotency.header": note(
    "idempotency/header",
    "X-Again",
    sends("leave_note", hello, header("x-once"), once),
    [8, 0],
  ),
  "idempotency.maxLength": note(
    "idempotency/maxLength",
    6,
    sends("leave_note", hello, header("x-once"), { idempotencyKey: "ijklmnopqrst" }),
    [8, 6],
  ),
  "idempotency.format": note(
    "idempotency/format",
    "uuid",
    sends("leave_note", hello, header("x-once"), { idempotencyKey: "mnopqrstuvwx" }),
    [8, 36],
  ),
  input: note(
    "input/properties/text/maxLength",
    3,
    answers("leave_note", hello, (one) => one.outcome),
    ["ok", "invalid_arguments"],
  ),
  output: note(
    "output",
    { type: "object", properties: { id: { type: "string" } } },
    answers("leave_note", hello, resulting),
    [{ id: "n-1", text: "hello" }, { id: "n-1" }],
  ),
  "request.method": note(
    "request/method",
    "PUT",
    sends("leave_note", hello, ({ method }) => method),
    ["POST", "PUT"],
  ),
  "request.path": note("request/path", "/remarks", sends("leave_note", hello, path), ["/v1/notes", "/v1/remarks"]),
  "request.query": list("request/query/page", "p-{{params.page}}", sends("list_orders", { page: "a" }, search), [
    "?always=q&page=a&size=2",
    "?always=q&page=p-a&size=2",
  ]),
  "request.headers": list("request/headers", undefined, sends("list_orders", {}, header("x-mark")), [1, 0]),
  "request.body": note("request/body", { note: "{{params.text}}" }, sends("leave_note", hello, body), [
    { always: "b", text: "hello" },
    { always: "b", note: "hello" },
  ]),
  "request.encoding": note(
    "request/encoding",
    "form",
    sends("leave_note", hello, ({ body: sent }) => sent),
    ['{"always":"b","text":"hello"}', "always=b&text=hello"],
  ),
  "request.emptyBody": {
    of: optionalNote,
    at: "/tools/leave_note/request/emptyBody",
    shows: sends("leave_note", {}, ({ body: sent }) => sent ?? "no body"),
    gives: ["no body", "{}"],
  },
  "response.as": plainNote("response/as", "text", answers("leave_note", hello, resulting), [
    { text: "hello" },
    { text: '{"id":"n-1","always":"b","text":"hello","ok":true}' },
  ]),
  "response.unwrap": list(
    "response/unwrap",
    "",
    answers("list_orders", {}, (one) => Object.keys(resulting(one))),
    [["items", "others", "next", "link", "more", "full"], []],
  ),
  "response.under": named("response/under", "more", answers("list_orders", {}, resulting), [
    { items: ["a", "b"] },
    { more: ["a", "b"] },
  ]),
  "response.empty": drop(
    "response/empty",
    { gone: false },
    answers("drop_note", { id: "a", confirm: true }, resulting),
    [{ gone: true }, { gone: false }],
  ),
  "response.error.path": note(
    "response/error/path",
    "fault",
    answers("leave_note", { text: "wrong" }, (one) => one.outcome),
    ["provider_error", "ok"],
  ),
  "response.error.unless": flagged(
    "response/error/unless",
    "fine",
    answers("leave_note", hello, (one) => one.outcome),
    ["ok", "provider_error"],
  ),
  "response.error.message": note(
    "response/error/message",
    "problem",
    answers("leave_note", { text: "wrong" }, (one) => one.message),
    ["the app answered an error: It is wrong", "the app answered an error: not so"],
  ),
  "response.error.code": coded(
    "response/error/code",
    "number",
    answers("leave_note", { text: "wrong" }, (one) => one.message),
    ["the app answered an error (E-7): not so", "the app answered an error (8): not so"],
  ),
  "paging.arg": list("paging/arg", "other", pages, [
    [first, second],
    [first, second.replace("page", "other")],
  ]),
  "paging.from": list("paging/from", "link", pages, [
    [first, second],
    [first, byLink],
  ]),
  "paging.query": linked("paging/query", undefined, pages, [
    [first, second],
    [first, byLink],
  ]),
  "paging.start": counted({ start: 1 })("paging/start", 3, pages, [numbered(1, 2), numbered(3, 4)]),
  "paging.by": counted({ start: 0, by: "rows" })("paging/by", undefined, pages, [numbered(0, 2), numbered(0, 1)]),
  "paging.size": counted({ start: 1, size: "size" }, 5)("paging/size", undefined, pages, [
    numbered(1).map(five),
    numbered(1, 2).map(five),
  ]),
  "paging.more": counted({ start: 1, more: "full" })("paging/more", undefined, pages, [numbered(1), numbered(1, 2)]),
});

/** Returns the definition of a polled list without pages. */
const polled = (poll: object, more: object = {}) => {
  const base = { rows: "items[]", id: "id", cursor: { kind: "seen" } };
  return of("list_orders", { paging: undefined, poll: { ...base, ...poll }, ...more });
};
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever a poll met
const polls = (pick: (poll: any) => unknown, on: "new" | "changed" = "new") =>
  served(async (one) => (await one.polls("list_orders", on)).map(pick));

/** Returns the queries of polls, each for the rows since a time. */
const since = (arg: string, ...hours: string[]) =>
  hours.map((at) => [`?always=q&${arg}=2026-01-05${encodeURIComponent(`${at}:00.000Z`)}&size=2`]);
const ordered = (order: string) => [`?always=q&other=${order}&size=2`];

/** Proofs for every field of a poll's cursor, for new rows or for changed ones. */
function cursors(name: "cursor" | "changed"): Proofs<DefinitionWorld> {
  const on = name === "cursor" ? "new" : "changed";
  const asked = polls((poll) => poll.sent, on);
  const after = polled({ [name]: { kind: "after", arg: "other", from: "day", overlap: "10m" } });
  const counting = polled({ [name]: { kind: "after", arg: "number", from: "at", step: 1 } });
  const newest = polled({ [name]: { kind: "newest", args: { other: "desc" } } });
  const byToken = polled({ [name]: { kind: "token", arg: "page", from: "next", more: "full" } });
  const sorted = polled({ [name]: { kind: "token", arg: "page", from: "next", args: { other: "desc" } } });
  const at = (field: string) => `poll/${name}/${field}`;
  const place = `poll.${name}`;
  return under(`poll.${name}`, {
    kind: after(at("kind"), "seen", asked, [
      since("other", "T08:50", "T08:50", "T08:52"),
      ["arg", "from", "overlap"].map((field) => `shop/tools/list_orders ${place}.${field}`),
    ]),
    arg: after(at("arg"), "page", asked, [
      since("other", "T08:50", "T08:50", "T08:52"),
      since("page", "T08:50", "T08:50", "T08:52"),
    ]),
    from: after(at("from"), "late", asked, [
      since("other", "T08:50", "T08:50", "T08:52"),
      since("other", "T08:50", "T08:50", "T08:54"),
    ]),
    overlap: after(at("overlap"), undefined, asked, [
      since("other", "T08:50", "T08:50", "T08:52"),
      since("other", "T09:00", "T09:00", "T09:02"),
    ]),
    step: counting(at("step"), 5, asked, [
      [[first], numbered(3), numbered(3)],
      [[first], numbered(7), numbered(7)],
    ]),
    more: byToken(at("more"), undefined, asked, [
      [[first], [second], [second]],
      [[first, second], [second], [second]],
    ]),
    // A list sorted by creation time cannot find changed rows, so its definition is refused.
    args:
      name === "cursor"
        ? newest(at("args"), { other: "asc" }, asked, [Array(3).fill(ordered("desc")), Array(3).fill(ordered("asc"))])
        : sorted(
            at("args"),
            undefined,
            served(() => "served"),
            [[`shop/tools/list_orders ${place}.args`], "served"],
          ),
  });
}

/** Proofs for every field of an action's `poll`. */
export const pollProofs: Proofs<DefinitionWorld> = under("action", {
  "poll.rows": polled({})(
    "poll/rows",
    "others[]",
    polls(({ rows }) => rows),
    [
      [2, 2, 2],
      [1, 1, 1],
    ],
  ),
  "poll.id": polled({})(
    "poll/id",
    "kind",
    polls(({ seen }) => seen),
    [
      [2, 2, 2],
      [1, 1, 1],
    ],
  ),
  "poll.size": polled({ size: "size" })(
    "poll/size",
    undefined,
    polls(({ outcome }) => outcome),
    [
      ["failed", "failed", "failed"],
      ["ok", "ok", "ok"],
    ],
  ),
  ...cursors("cursor"),
  ...cursors("changed"),
});

/** Proofs for every field of a trigger, and of its `match`. */
export const triggerProofs: Proofs<DefinitionWorld> = {
  ...under("trigger", {
    kind: sold(
      "kind",
      "action",
      served(() => "served"),
      [
        "served",
        ["class", "input", "match", "account", "dedupe", "occurredAt", "payload", "request"].map(
          (name) => `shop/tools/order_paid ${name}`,
        ),
      ],
    ),
    class: of("order_paid", { class: "read" })(
      "class",
      "write",
      served(() => "served"),
      ["served", ["shop/tools/order_paid class"]],
    ),
    scopes: of("order_paid", { scopes: ["orders.read"] })(
      "scopes",
      undefined,
      tool("order_paid", (one) => one.requiredScopes),
      [["orders.read"], undefined],
    ),
    description: sold(
      "description",
      bought,
      tool("order_paid", (one) => one.description),
      [shop.tools.order_paid.description, bought],
    ),
    // A search does not return triggers. The text of a trigger is only checked by the same rules as that of an action.
    intents: sold(
      "intents",
      ["when order_paid fires", "paint a picture", "walk the dog"],
      served(() => "served"),
      ["served", ["shop/tools/order_paid intents[0]"]],
    ),
    output: sold("output/properties/sum", { type: "integer" }, payload, [{ number: 7, sum: "12.00" }, "quarantined"]),
    account: sold(
      "account",
      "{{body.other}}",
      event(() => "event"),
      ["event", "quarantined"],
    ),
    // Of private toolkits: see the tests of packages/triggers/src/private-webhooks.ts.
    entity: of("order_paid", { entity: "{{body.kind}}" })(
      "entity",
      undefined,
      served(() => "served"),
      [["shop/tools/order_paid entity"], "served"],
    ),
    dedupe: sold(
      "dedupe",
      "",
      served(async (one) =>
        [await one.post(twice, signs), await one.post(twice, signs)].map(({ made }) => made.length),
      ),
      [
        [1, 0],
        [1, 1],
      ],
    ),
    occurredAt: sold(
      "occurredAt",
      "",
      event((one) => one.occurredAt),
      [Date.UTC(2026, 0, 5, 8), Date.UTC(2026, 0, 5, 9)],
    ),
    payload: sold("payload/sum", "{{body.kind}}", payload, [
      { number: 7, sum: "12.00" },
      { number: 7, sum: "order" },
    ]),
    "match.headers": sold(
      "match/headers/X-Kind",
      "other",
      event(() => "event"),
      ["event", "quarantined"],
    ),
    "match.query": sold(
      "match/query/v",
      "2",
      event(() => "event"),
      ["event", "quarantined"],
    ),
    "match.body": sold(
      "match/body/kind",
      "other",
      event(() => "event"),
      ["event", "quarantined"],
    ),
    "match.item": of("order_paid", { match: { ...shop.tools.order_paid.match, item: { kind: "order" } } })(
      "match/item",
      undefined,
      served(() => "served"),
      [["shop/tools/order_paid match.item"], "served"],
    ),
  }),
};
