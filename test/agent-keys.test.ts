import { letIn, registerAgent } from "@svc/testing/agent";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConfirmWorld, callMcp, deleteDeal, startConfirmWorld } from "./confirm-world.ts";

// Tests of keys that an approver makes for agents: what they can access, when they end, and that they cannot act as a second person next to
// their maker.

let world: ConfirmWorld;
const hourMs = 3_600_000;
const json = JSON.stringify;

beforeAll(async () => {
  world = await startConfirmWorld();
});
afterAll(() => world?.svc.stop());

const as = (bearer: string, call: string, body: object = {}) => world.svc.call(`svc.v1.${call}`, body, { bearer });
const issue = (role: string, more: object = {}) =>
  world.svc.admin("CreateApiKey", { projectId: world.projectId, role, name: "maker", ...more });
const approver = async (more: object = {}) => (await issue("ROLE_APPROVER", more)).json;
const make = (bearer: string, more: object = {}) =>
  as(bearer, "GrantsService/CreateAgentKey", { name: "agent", entityId: "ada", ...more });
const made = async (bearer: string, more: object = {}) => {
  const answer = await make(bearer, more);
  if (answer.status !== 200) throw new Error(json(answer.json));
  return answer.json;
};
const identity = (bearer: string) => as(bearer, "IdentityService/GetIdentity");
const lifeOf = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string }) =>
  Date.parse(expiresAt) - Date.parse(createdAt);

describe("a key that an approver makes", () => {
  test("is a member's for one entity, ends within an hour, and tells the administrator and the audit log who made it", async () => {
    const maker = await approver();
    const { apiKey, key } = await made(maker.key, { accessClasses: ["read", "write"], toolkitSlugs: ["sales_crm"] });
    expect(apiKey).toMatchObject({
      ...{ role: "ROLE_MEMBER", makerKeyId: maker.apiKey.id, projectId: world.projectId, name: "agent" },
      ...{ entityId: "ada", accessClasses: ["read", "write"], toolkitSlugs: ["sales_crm"], agentTools: [] },
    });
    expect(lifeOf(apiKey)).toBe(hourMs);
    expect((await identity(key)).json).toMatchObject({ role: "ROLE_MEMBER", entityId: "ada", keyId: apiKey.id });
    const bobs = { toolSlug: "sales_crm.list_deals", entityId: "bob" };
    expect(await as(key, "ToolsService/CallTool", bobs)).toMatchObject({ reason: "ENTITY_BOUND" });
    const { apiKeys } = (await world.svc.admin("ListApiKeys", { projectId: world.projectId })).json;
    expect(apiKeys.find(({ id }: { id: string }) => id === apiKey.id)).toMatchObject({ makerKeyId: maker.apiKey.id });
    expect(apiKeys.find(({ id }: { id: string }) => id === maker.apiKey.id).makerKeyId).toBe("");
    const { events } = (await world.svc.admin("ListAuditEvents", { actor: maker.apiKey.id })).json;
    expect(events).toMatchObject([{ action: "GrantsService.CreateAgentKey", subject: apiKey.id, outcome: "ok" }]);
    expect(json(events)).not.toContain(key);
  });

  test.each([
    ["1s", 1_000],
    ["90s", 90_000],
    ["86400s", 24 * hourMs],
  ])("lives %s", async (lifetime, ms) => {
    expect(lifeOf((await made((await approver()).key, { lifetime })).apiKey)).toBe(ms);
  });

  test.each([
    ["no lifetime", { lifetime: "0s" }, "LIFETIME_INVALID", "lifetime"],
    ["one in the past", { lifetime: "-5s" }, "LIFETIME_INVALID", "lifetime"],
    ["less than a second", { lifetime: "0.999s" }, "LIFETIME_INVALID", "lifetime"],
    ["less than a second by a nanosecond", { lifetime: "0.999999999s" }, "LIFETIME_INVALID", "lifetime"],
    ["more than 24 hours by a nanosecond", { lifetime: "86400.000000001s" }, "LIFETIME_INVALID", "lifetime"],
    ["more than 24 hours", { lifetime: "86400.001s" }, "LIFETIME_INVALID", "lifetime"],
    ["no scope", { entityId: "" }, "AGENT_KEY_UNSCOPED", "entityId"],
    ["a class alone as its scope", { entityId: "", accessClasses: ["read"] }, "AGENT_KEY_UNSCOPED", "entityId"],
    ["no name", { name: " " }, "NAME_INVALID", "name"],
    ["an entity that is none", { entityId: "x".repeat(201) }, "ENTITY_ID_INVALID", "entityId"],
    ["a class that is none", { accessClasses: ["all"] }, "ACCESS_CLASS_INVALID", "accessClasses[0]"],
    ["a toolkit that is none", { toolkitSlugs: ["No"] }, "TOOLKIT_SLUGS_INVALID", "toolkitSlugs"],
    ["an unknown rule", { confirm: { person: "some" } }, "CONFIRM_INVALID", "confirm.person"],
    ["an unknown contact", { confirm: { person: "writes", contact: "none" } }, "CONFIRM_INVALID", "confirm.contact"],
  ])("is not made with %s", async (_what, more, reason, field) => {
    const refused = await make((await approver()).key, more);
    expect(refused).toMatchObject({ code: "invalid_argument", reason, field });
  });

  test("is not made for a toolkit that is not there, nor is any other: the nearest one is named", async () => {
    const wrong = { status: 404, reason: "TOOLKIT_NOT_FOUND", field: "toolkitSlugs[1]" };
    const toolkitSlugs = ["calendar", "sales_cmr"];
    const refused = await make((await approver()).key, { toolkitSlugs });
    expect(refused).toMatchObject(wrong);
    expect(json(refused.json)).toContain("Did you mean sales_crm?");
    expect(await issue("ROLE_MEMBER", { toolkitSlugs })).toMatchObject(wrong);
    await made((await approver()).key, { toolkitSlugs: ["calendar", "skills", "http"] });
  });

  test("is made by an approver alone: no member, no key that was made, no grant, and no administrator makes one", async () => {
    const member = (await issue("ROLE_MEMBER")).json.key;
    const { key } = await made((await approver()).key);
    for (const bearer of [member, key, world.svc.adminToken])
      for (const call of ["CreateAgentKey", "ListAgentKeys", "RevokeAgentKey"])
        expect(await as(bearer, `GrantsService/${call}`, {})).toMatchObject({ status: 403, reason: "ROLE_REQUIRED" });
  });

  test("ends no later than its maker", async () => {
    const expiresAt = new Date(Date.now() + hourMs / 2).toISOString();
    const maker = await approver({ expiresAt });
    expect((await made(maker.key, { lifetime: "86400s" })).apiKey.expiresAt).toBe(maker.apiKey.expiresAt);
    expect(lifeOf((await made(maker.key, { lifetime: "60s" })).apiKey)).toBe(60_000);
  });

  test("is listed to its maker alone, who ends it; it ends with its maker, and so does a grant that was given with it", async () => {
    const [maker, other] = [await approver(), await approver()];
    const [first, second] = [await made(maker.key), await made(maker.key)];
    const list = async (bearer: string, more: object = {}) =>
      (await as(bearer, "GrantsService/ListAgentKeys", more)).json;
    const page = await list(maker.key, { pageSize: 1 });
    expect(page.apiKeys).toEqual([second.apiKey]);
    expect((await list(maker.key, { pageToken: page.nextPageToken })).apiKeys).toEqual([first.apiKey]);
    expect((await list(other.key)).apiKeys).toEqual([]);
    const strangers = await as(other.key, "GrantsService/ListAgentKeys", { pageToken: page.nextPageToken });
    expect(strangers.reason).toBe("PAGE_TOKEN_INVALID");

    const revoke = (bearer: string, id: string) => as(bearer, "GrantsService/RevokeAgentKey", { id });
    for (const id of [first.apiKey.id, other.apiKey.id, "key_01h455vb4pex5vsknk084sn02q"])
      expect(await revoke(other.key, id)).toMatchObject({ status: 404, reason: "AGENT_KEY_NOT_FOUND", field: "id" });
    // The maker's own key is not among the keys that it made.
    expect((await revoke(maker.key, maker.apiKey.id)).reason).toBe("AGENT_KEY_NOT_FOUND");
    expect((await identity(first.key)).status).toBe(200);
    const { revokedAt } = (await revoke(maker.key, first.apiKey.id)).json.apiKey;
    expect(revokedAt).toBeDefined();
    expect((await revoke(maker.key, first.apiKey.id)).json.apiKey.revokedAt).toBe(revokedAt);
    expect((await identity(first.key)).reason).toBe("API_KEY_INVALID");
    expect((await identity(second.key)).status).toBe(200);

    const agent = await registerAgent(world.svc.url);
    const code = (await letIn({ url: world.svc.url, key: second.key }, agent)).get("code") ?? "";
    const token = (await agent.change(code)).json.access_token;
    const search = { name: "search_tools", arguments: { query: "deals" } };
    expect((await callMcp(world.svc.url, token, search)).isError).not.toBe(true);
    await world.svc.admin("RevokeApiKey", { id: maker.apiKey.id });
    expect((await identity(second.key)).reason).toBe("API_KEY_INVALID");
    expect(await callMcp(world.svc.url, token, search)).toBeUndefined();
    const { apiKeys } = (await world.svc.admin("ListApiKeys", { projectId: world.projectId })).json;
    const ends = apiKeys.filter(({ makerKeyId }: { makerKeyId: string }) => makerKeyId === maker.apiKey.id);
    // A key that had already ended keeps its time of end.
    expect(ends[1].revokedAt).toBe(revokedAt);
    expect(Date.parse(ends[0].revokedAt)).toBeGreaterThan(Date.parse(revokedAt));
  });

  test("is never good after its maker, however the two are sent", async () => {
    const maker = await approver();
    const making = Array.from({ length: 12 }, () => make(maker.key));
    await world.svc.admin("RevokeApiKey", { id: maker.apiKey.id });
    const answers = await Promise.all(making);
    for (const { status, json: answer } of answers)
      if (status === 200) expect((await identity(answer.key)).status).toBe(401);
    const { rows } = await openKeys(maker.apiKey.id);
    expect(rows).toBe(0);
  });

  test("a hundred are valid at a time; one that ends makes room, and another approver has its own hundred", async () => {
    const maker = await approver();
    const keys = [];
    for (let count = 0; count < 100; count += 1) keys.push((await made(maker.key)).apiKey);
    expect(await make(maker.key)).toMatchObject({ code: "resource_exhausted", reason: "AGENT_KEYS_EXCEEDED" });
    expect((await make((await approver()).key)).status).toBe(200);
    await as(maker.key, "GrantsService/RevokeAgentKey", { id: keys[7].id });
    // Of two requests at the same time, only one finds room.
    const two = await Promise.all([make(maker.key), make(maker.key)]);
    expect(two.map(({ status }) => status).toSorted()).toEqual([200, 429]);
  });

  test("never holds more than its maker", async () => {
    const bound = { entityId: "ada", accessClasses: ["read", "write"], toolkitSlugs: ["sales_crm", "calendar"] };
    const confirm = { person: "destructive", contact: "lead" };
    const maker = await approver({ ...bound, confirm });
    // Fields that the request leaves empty get the values of the maker. The maker is scoped itself, so the new key is scoped as well.
    expect((await made(maker.key, { entityId: "" })).apiKey).toMatchObject({ ...bound, confirm });
    const narrower = { accessClasses: ["read"], toolkitSlugs: ["calendar"] };
    expect((await made(maker.key, narrower)).apiKey).toMatchObject({ ...bound, ...narrower });
    expect(await make(maker.key, { entityId: "bob" })).toMatchObject({ reason: "ENTITY_BOUND", field: "entityId" });
    const widened = async (more: object, field: string) =>
      expect(await make(maker.key, more)).toMatchObject({ reason: "AGENT_KEY_WIDENED", field });
    await widened({ accessClasses: ["read", "destructive"] }, "accessClasses[1]");
    await widened({ toolkitSlugs: ["notes_wiki"] }, "toolkitSlugs[0]");
    await widened({ confirm: { person: "never" } }, "confirm.person");
    await widened({ confirm: { ...confirm, elicitation: true } }, "confirm.person");
    const writes = { person: "writes", contact: "owner" };
    expect((await made(maker.key, { confirm: writes })).apiKey.confirm).toMatchObject(writes);
    const ofTools = await approver({ toolkitSlugs: ["sales_crm"] });
    expect((await made(ofTools.key, { entityId: "bob" })).apiKey).toMatchObject({
      ...{ entityId: "bob", toolkitSlugs: ["sales_crm"] },
    });
    const ofClass = await approver({ accessClasses: ["read"] });
    expect((await make(ofClass.key, { entityId: "" })).reason).toBe("AGENT_KEY_UNSCOPED");
  });
});

async function openKeys(makerKeyId: string): Promise<{ rows: number }> {
  const { apiKeys } = (await world.svc.admin("ListApiKeys", { projectId: world.projectId, pageSize: 500 })).json;
  const open = apiKeys.filter(
    (key: { makerKeyId: string; revokedAt?: string }) => key.makerKeyId === makerKeyId && key.revokedAt === undefined,
  );
  return { rows: open.length };
}

describe("where a person confirms", () => {
  let deal = 400;
  const held = async (bearer: string) => {
    deal += 1;
    const body = { toolSlug: deleteDeal, entityId: "ada", argumentsJson: json({ deal_id: deal, confirm: true }) };
    const { outcome, jobId } = await world.made("ToolsService/CallTool", body, bearer);
    expect(outcome).toBe("held");
    return jobId as string;
  };
  const byCaller = { status: 403, reason: "CONFIRM_BY_CALLER" };

  test("a key, its maker, its siblings and their grants are one hand, and another approver is not", async () => {
    await world.svc.admin("SetProjectPolicy", {
      projectId: world.projectId,
      confirm: { person: "destructive", contact: "lead" },
    });
    const [maker, other] = [await approver(), await approver()];
    const [first, second] = [await made(maker.key), await made(maker.key)];
    const agent = await registerAgent(world.svc.url);
    const giver = { url: world.svc.url, key: second.key };
    const code = (await letIn(giver, agent, { access: ["read", "write", "destructive"] })).get("code") ?? "";
    const grant = (await agent.change(code)).json.access_token;
    await world.deleted();
    const hand = [maker.key, first.key, second.key];
    for (const asker of hand) {
      const job = await held(asker);
      // The question of the maker's job looks missing to a key with a narrower scope.
      for (const one of hand)
        expect(await world.answer(job, "proceed", one)).toMatchObject(
          asker === maker.key && one !== maker.key ? { status: 404 } : byCaller,
        );
      const link = { jobId: job, principalId: "lead" };
      expect(await as(maker.key, "JobsService/CreateAnswerLink", link)).toMatchObject(byCaller);
      expect(await world.deleted()).toBe(0);
      expect((await world.answer(job, "proceed", other.key)).status).toBe(200);
      await world.ended(job, "JOB_STATUS_SUCCEEDED");
      expect(await world.deleted()).toBe(1);
    }
    deal += 1;
    const asked = await callMcp(
      world.svc.url,
      grant,
      {
        name: "call_tool",
        arguments: { slug: deleteDeal, entity_id: "ada", arguments: { deal_id: deal, confirm: true } },
      },
      { capabilities: {} },
    );
    const { jobId } = asked.structuredContent;
    for (const one of hand) expect(await world.answer(jobId, "proceed", one)).toMatchObject(byCaller);
    const otherMade = await made(other.key);
    expect((await world.answer(jobId, "proceed", otherMade.key)).status).toBe(200);
    await world.ended(jobId, "JOB_STATUS_SUCCEEDED");
  });

  test("a key that ended is of its maker's hand still", async () => {
    const maker = await approver();
    const { key, apiKey } = await made(maker.key);
    await world.deleted();
    const job = await held(key);
    await as(maker.key, "GrantsService/RevokeAgentKey", { id: apiKey.id });
    expect(await world.answer(job, "proceed", maker.key)).toMatchObject(byCaller);
    expect(await world.answer(job, "proceed", (await made(maker.key)).key)).toMatchObject(byCaller);
    expect(await world.deleted()).toBe(0);
  });
});
