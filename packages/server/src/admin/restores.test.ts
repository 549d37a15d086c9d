import { letIn, registerAgent } from "@svc/testing/agent";
import { createTestMcpClient } from "@svc/testing/mcp-client";
import { startTestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterEach, beforeEach, expect, test } from "vitest";

let svc: TestServer;
beforeEach(async () => {
  // Without any project, every matching post is quarantined, because no project receives it.
  svc = await startTestServer({ variables: { SVC_BOOTSTRAP_KEY: "", SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" } });
});
afterEach(() => svc.stop());

type Headers = Record<string, string>;
const changed = (number: number): Headers => ({
  "x-calendar-resource-state": "exists",
  "x-calendar-channel-id": "channel",
  "x-calendar-message-number": String(number),
  "x-calendar-resource-id": "resource",
  "x-calendar-resource-uri": "https://example.com/calendars/c1/events",
});

async function post(headers: Headers, body = "") {
  const res = await fetch(`${svc.url}/webhooks/calendar?token=swordfish&extra=1`, { method: "POST", headers, body });
  expect([res.status, await res.json()]).toEqual([202, { accepted: 0 }]);
}

type Post = { id: string; reason: string };
const list = async (filter: object = {}): Promise<Post[]> =>
  (await svc.admin("ListQuarantinedPosts", filter)).json.posts;
const release = async (request: object) => (await svc.admin("ReleaseQuarantinedPosts", request)).json;
const missing = "qrn_00000000000000000000000000";

test("a verified post that becomes no event is listed without its secrets and read with its body", async () => {
  await post({ authorization: "Bearer provider" }, '{"odd":true}');
  const [listed] = await list();
  expect(listed).toMatchObject({ toolkitSlug: "calendar", reason: "no_trigger", query: { extra: "1" }, bodyBytes: 12 });
  expect(JSON.stringify(listed)).not.toMatch(/swordfish|Bearer provider/);
  const { json } = await svc.admin("GetQuarantinedPost", { id: listed!.id });
  expect(Buffer.from(json.body, "base64").toString()).toBe('{"odd":true}');
  expect(json.post).toEqual(listed);
});

test("posts are listed newest first, and by reason", async () => {
  await post(changed(1));
  await post({});
  await post(changed(2));
  expect((await list()).map(({ reason }) => reason)).toEqual(["no_project", "no_trigger", "no_project"]);
  expect(await list({ reason: "no_trigger" })).toHaveLength(1);
  expect(await list({ toolkitSlug: "nothing" })).toEqual([]);
});

test("a release runs posts again, the oldest first, and each becomes its event once", async () => {
  await post(changed(1));
  await post({});
  await post(changed(2));
  const ids = (await list()).map(({ id }) => id).reverse();
  await svc.admin("CreateProject", { name: "receiver" });
  const dry = await release({ toolkitSlug: "calendar", dryRun: true });
  expect(dry.results.map((result: { outcome: string }) => result.outcome)).toEqual([
    "released",
    "quarantined",
    "released",
  ]);
  expect(await list()).toHaveLength(3);
  const { results, nextPageToken } = await release({ toolkitSlug: "calendar" });
  expect([results, nextPageToken]).toEqual([
    [
      { id: ids[0], outcome: "released", accepted: 1, reason: "" },
      { id: ids[1], outcome: "quarantined", accepted: 0, reason: "no_trigger" },
      { id: ids[2], outcome: "released", accepted: 1, reason: "" },
    ],
    "",
  ]);
  expect((await list()).map(({ id }) => id)).toEqual([ids[1]]);
  expect(await list({ includeReleased: true })).toHaveLength(3);
  const again = await release({ ids: [missing, ids[2], ids[0], ids[0]] });
  expect(again.results.map((result: { id: string; outcome: string }) => [result.id, result.outcome])).toEqual([
    [ids[0], "already_released"],
    [ids[2], "already_released"],
    [missing, "missing"],
  ]);
});

test("a release continues from its token, past posts that stay and ids that are missing", async () => {
  for (let number = 0; number < 3; number++) await post({});
  const ids = (await list()).map(({ id }) => id).reverse();
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await release({ toolkitSlug: "calendar", pageSize: 2, pageToken });
    seen.push(...page.results.map((result: { id: string }) => result.id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(seen).toEqual(ids);
  const request = { ids: [missing, ...ids], pageSize: 2 };
  const first = await release(request);
  const second = await release({ ...request, pageToken: first.nextPageToken });
  const all = [...first.results, ...second.results].map((result: { id: string }) => result.id);
  expect([all, second.nextPageToken]).toEqual([[...ids, missing], ""]);
});

test("a release is bounded by the time of receipt", async () => {
  await post({});
  const [only] = (await svc.admin("ListQuarantinedPosts")).json.posts;
  expect((await release({ since: only.receivedAt })).results).toHaveLength(1);
  expect((await release({ until: only.receivedAt })).results).toHaveLength(0);
  expect((await release({ ids: [only.id], until: only.receivedAt })).results).toEqual([]);
});

test("GetQuarantinedPost and ReleaseQuarantinedPosts refuse what they document", async () => {
  const refused = (call: string, request: object) =>
    svc.admin(call, request).then(({ code, reason, field }) => [code, reason, field]);
  expect(await refused("GetQuarantinedPost", { id: missing })).toEqual([
    "not_found",
    "QUARANTINED_POST_NOT_FOUND",
    "id",
  ]);
  expect(await refused("GetQuarantinedPost", { id: "x" })).toEqual(["invalid_argument", "ID_MALFORMED", "id"]);
  const call = "ReleaseQuarantinedPosts";
  expect(await refused(call, {})).toEqual(["invalid_argument", "FILTER_REQUIRED", ""]);
  const ids = Array.from({ length: 501 }, () => missing);
  expect(await refused(call, { ids })).toEqual(["invalid_argument", "TOO_MANY_IDS", "ids"]);
  expect(await refused(call, { ids: [missing, "x"] })).toEqual(["invalid_argument", "ID_MALFORMED", "ids[1]"]);
  const range = { since: "2026-01-02T00:00:00Z", until: "2026-01-01T00:00:00Z" };
  expect(await refused(call, range)).toEqual(["invalid_argument", "TIME_RANGE_INVALID", "since"]);
  expect(await refused(call, { toolkitSlug: "nope" })).toEqual(["not_found", "TOOLKIT_NOT_FOUND", "toolkitSlug"]);
  expect(await refused(call, { toolkitSlug: "calendar", pageSize: -1 })).toEqual([
    "invalid_argument",
    "PAGE_SIZE_NEGATIVE",
    "pageSize",
  ]);
  expect(await refused(call, { toolkitSlug: "calendar", pageToken: "x" })).toEqual([
    "invalid_argument",
    "PAGE_TOKEN_INVALID",
    "pageToken",
  ]);
});

test("only an agent with the switch releases a post of the deployment's only project, once", async () => {
  for (const number of [1, 2]) await post(changed(number));
  const [second, first] = await list();
  const { project } = (await svc.admin("CreateProject", { name: "only" })).json;
  const keyWith = async (more: object) =>
    (await svc.admin("CreateApiKey", { projectId: project.id, role: "ROLE_MEMBER", name: "key", ...more })).json.key;
  const repairing: string = await keyWith({ agentTools: ["operate", "repair"] });
  await using receiver = await startTestReceiver();
  await svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: receiver.url }, { bearer: repairing });
  const releaseBy = (key: string, id = first!.id) =>
    createTestMcpClient({ url: svc.url, key }).call("release_post", { post_id: id });
  const tokenOf = async (tools: string[]) => {
    const agent = await registerAgent(svc.url);
    const chosen = { "any-entity": "yes", entity: "", access: ["read"], "agent-tools": tools };
    const code = (await letIn({ url: svc.url, key: repairing }, agent, chosen)).get("code") ?? "";
    return (await agent.change(code)).json.access_token as string;
  };
  const without = [
    await keyWith({ agentTools: ["operate"] }),
    await keyWith({ agentTools: ["repair"], entityId: "ada" }),
    await keyWith({ agentTools: ["repair"], toolkitSlugs: ["calendar"] }),
    await tokenOf(["operate"]),
  ];
  for (const key of without) {
    const request = { name: "release_post", arguments: { post_id: first!.id } };
    const { error } = await createTestMcpClient({ url: svc.url, key }).request("tools/call", request);
    expect(error?.message).toContain("Unknown tool");
  }
  expect(await list()).toHaveLength(2);
  // Access classes belong to apps' tools: the switch also applies to a grant that only reads.
  const released = await releaseBy(await tokenOf(["repair"]));
  expect([released.isError, released.structuredContent]).toEqual([
    false,
    { postId: first!.id, outcome: "released", accepted: 1, reason: "" },
  ]);
  await until(() => receiver.requests.length === 1, "the event arrives");
  expect(receiver.requests[0]?.body.toString()).toContain("calendar.events_changed");
  expect((await releaseBy(repairing)).structuredContent).toMatchObject({ outcome: "already_released", accepted: 0 });
  expect((await svc.call("svc.v1.TriggersService/ListEvents", {}, { bearer: repairing })).json.events).toHaveLength(1);
  const deed = (await svc.admin("ListAuditEvents", { pageSize: 20 })).json.events;
  expect(
    deed.filter(({ action }: { action: string }) => action === "AdminService.ReleaseQuarantinedPosts"),
  ).toHaveLength(2);
  await svc.admin("CreateProject", { name: "beside" });
  expect((await releaseBy(repairing, second!.id)).structuredContent).toMatchObject({ outcome: "refused", accepted: 0 });
  expect((await list()).map(({ id }) => id)).toEqual([second!.id]);
  expect(receiver.requests).toHaveLength(1);
});
