import { digestSecret } from "@svc/core";
import { sendAsPage } from "@svc/testing/console-session";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
let projectId: string;
let keyId: string;
let addresses = 0;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_TRUSTED_PROXIES: "127.0.0.1/32" } });
  ({ projectId, keyId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json);
  for (const principalId of ["lead", "head"]) await putContact(principalId);
});
afterAll(() => svc.stop());

const putContact = (principalId: string) =>
  svc.call("svc.v1.ContactsService/PutContact", {
    contact: { principalId, name: `The ${principalId}`, approver: principalId === "head" },
  });

const jobs = (name: string, body: unknown, bearer = svc.key) =>
  svc.call(`svc.v1.JobsService/${name}`, body, { bearer });

const byLead = { continuations: ["proceed", "abort"], escalation: [{ principal: "lead" }] };

/** Starts a job that asks a question of the contact `lead`, unless `point` says otherwise. Returns the ids of the job and the question. */
async function ask(point: object = byLead): Promise<{ jobId: string; requestId: string }> {
  const program = {
    ...{ version: 1, title: "Secret plans" },
    steps: [{ id: "judge", judge: "sure" }],
    points: { sure: { question: "Sure?", ...point } },
  };
  const submitted = await jobs("SubmitJob", { programJson: JSON.stringify(program) });
  expect(submitted.code, JSON.stringify(submitted.json)).toBe("ok");
  const jobId: string = submitted.json.job.id;
  let requestId = "";
  await until(async () => {
    requestId = (await jobs("ListAsks", { jobId })).json.asks[0]?.requestId ?? "";
    return requestId !== "";
  });
  return { jobId, requestId };
}

async function linkOf(asked: { jobId: string }, body: object = {}, bearer = svc.key): Promise<string> {
  const { json, code } = await jobs("CreateAnswerLink", { principalId: "lead", ...asked, ...body }, bearer);
  expect(code, JSON.stringify(json)).toBe("ok");
  expect(json.url).toMatch(new RegExp(`^${svc.url}/console/answer#[\\w-]{43}$`));
  return json.url.split("#")[1];
}

/** Posts like the console's page, each time from another address. */
const post = (body: object): Promise<TestAnswer> =>
  sendAsPage(svc, "/console/answer", body, { headers: { "x-forwarded-for": `192.0.2.${++addresses}` } });

test("opening a link shows the question and nothing else of its job, however often, and changes nothing", async () => {
  const asked = await ask();
  const token = await linkOf(asked);
  const log = () => svc.database.db.sql.unsafe("select count(*)::int as count from job_events");
  const before = await log();
  for (const method of ["GET", "HEAD"]) await fetch(`${svc.url}/console/answer`, { method });
  const shown = [await post({ token }), await post({ token })];
  for (const { json } of shown) {
    expect(json).toEqual({
      state: "pending",
      principalId: "lead",
      contactName: "The lead",
      question: "Sure?",
      confirms: false,
      continuations: ["proceed", "abort"],
      answerSchemaJson: "",
      defaultContinuation: "",
      deadlineAt: "",
      expiresAt: expect.any(String),
    });
  }
  expect(await log()).toEqual(before);
  expect((await jobs("GetAsk", asked)).json.ask.state).toBe("ASK_STATE_PENDING");
});

test("an answer through a link is the contact's, with the vouching key and the link on its decision; a second answer learns who settled it", async () => {
  const asked = await ask();
  const token = await linkOf(asked);
  const answered = await post({ token, continuation: "proceed", note: "from the train" });
  const settled = {
    state: "answered",
    confirms: false,
    decision: { continuation: "proceed", principalId: "lead", at: expect.any(String) },
  };
  expect(answered.json).toEqual({ principalId: "lead", contactName: "The lead", ...settled });
  const { decision } = (await jobs("GetAsk", asked)).json.ask;
  expect(decision).toMatchObject({
    ...{ continuation: "proceed", principalId: "lead", keyId, surface: "api", note: "from the train" },
    linkId: expect.stringMatching(/^lnk_/),
  });
  expect(await post({ token, continuation: "abort" })).toMatchObject({ status: 400, reason: "ASK_SETTLED" });
  expect((await post({ token })).json).toMatchObject(settled);
  const { json } = await svc.admin("ListAuditEvents", { projectId, action: "AnswerLink.Answer" });
  const deed = { actor: "link", subject: asked.requestId, entityDigest: expect.stringMatching(/^[0-9a-f]{64}$/) };
  expect(json.events.slice(0, 2)).toMatchObject([
    { ...deed, outcome: "failed_precondition" },
    { ...deed, outcome: "ok" },
  ]);
  expect(JSON.stringify(json)).not.toContain("lead");
});

test("an answer without a link has none on its decision", async () => {
  const asked = await ask();
  await jobs("AnswerAsk", { ...asked, principalId: "lead", continuation: "proceed" });
  expect((await jobs("GetAsk", asked)).json.ask.decision).not.toHaveProperty("linkId");
});

test("a link answers by the rules of AnswerAsk", async () => {
  const token = await linkOf(await ask());
  expect(await post({ token, continuation: "skip" })).toMatchObject({ reason: "CONTINUATION_NOT_DECLARED" });
  const changed = { token, continuation: "proceed", overridesJson: '{"least": 3}' };
  expect(await post(changed)).toMatchObject({ status: 400, reason: "OVERRIDES_INVALID" });
  expect((await post({ token, continuation: "abort", note: "n".repeat(2_001) })).reason).toBe("NOTE_TOO_LONG");
  expect((await post({ token, continuation: "abort" })).json.state).toBe("answered");
});

test("there is no link for an approval, for a contact that was not reached, nor for what is settled", async () => {
  const approval = await ask({ approval: true });
  const refused = await jobs("CreateAnswerLink", { ...approval, principalId: "head" });
  expect(refused).toMatchObject({ status: 400, reason: "APPROVAL_NOT_LINKABLE" });
  const asked = await ask();
  expect(await jobs("CreateAnswerLink", { ...asked, principalId: "head" })).toMatchObject({
    ...{ status: 403, reason: "PRINCIPAL_NOT_REACHED" },
  });
  await jobs("AnswerAsk", { ...asked, principalId: "lead", continuation: "abort" });
  expect((await jobs("CreateAnswerLink", { ...asked, principalId: "lead" })).reason).toBe("ASK_SETTLED");
});

test("another project makes no link to a job, and reads it as missing", async () => {
  const other = (await svc.admin("CreateProject", { name: "the other" })).json.project.id;
  const { key } = (await svc.admin("CreateApiKey", { projectId: other, role: "ROLE_APPROVER", name: "other" })).json;
  const answer = await jobs("CreateAnswerLink", { ...(await ask()), principalId: "lead" }, key);
  expect(answer).toMatchObject({ status: 404, reason: "JOB_NOT_FOUND" });
});

test("a link lives 30 days at most, and ends with its time and its key, saying which", async () => {
  const asked = await ask();
  const far = new Date(Date.now() + 31 * 86_400_000).toISOString();
  const body = { ...asked, principalId: "lead", expiresAt: far };
  expect(await jobs("CreateAnswerLink", body)).toMatchObject({ status: 400, reason: "LINK_EXPIRY_INVALID" });
  const late = await linkOf(asked);
  const db = svc.database.db.sql;
  await db.unsafe("update console_links set expires_at = now() where digest = $1", [digestSecret(late)]);
  expect(await post({ token: late })).toMatchObject({ status: 401, reason: "LINK_INVALID" });
  const { apiKey, key } = (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "vouches" })).json;
  const orphaned = await linkOf(asked, {}, key);
  await svc.admin("RevokeApiKey", { id: apiKey.id });
  const dead = await post({ token: orphaned, continuation: "proceed" });
  expect(dead).toMatchObject({ status: 401, reason: "LINK_INVALID" });
  expect(dead.json.message).toContain("revoked");
  expect((await jobs("GetAsk", asked)).json.ask.state).toBe("ASK_STATE_PENDING");
});

test("a link ends with its contact, also where another of the same name is made", async () => {
  const contacts = (name: string, body: object) => svc.call(`svc.v1.ContactsService/${name}`, body);
  await putContact("temp");
  const asked = await ask({ ...byLead, escalation: [{ principal: "temp" }] });
  const token = await linkOf(asked, { principalId: "temp" });
  const older = await linkOf(asked, { principalId: "temp" });
  // A link that was created by a version that did not record the contact.
  await svc.database.db.sql.unsafe(
    `update console_links set target = '{"answer": ${JSON.stringify({ ...asked, principalId: "temp" })}}',
      created_at = created_at - interval '1 minute' where digest = $1`,
    [digestSecret(older)],
  );
  await svc.database.db.sql.unsafe("update contacts set created_at = created_at - interval '1 minute'");
  await svc.database.db.sql.unsafe(
    `update console_links set target = jsonb_set(target, '{answer,contactCreatedAt}',
      to_jsonb((target -> 'answer' ->> 'contactCreatedAt')::int8 - 60000)) where digest = $1`,
    [digestSecret(token)],
  );
  for (const link of [token, older]) expect((await post({ token: link })).json.state).toBe("pending");
  // A contact is still the same if its name or address changes.
  await contacts("PutContact", { contact: { principalId: "temp", name: "The same with another name" } });
  for (const link of [token, older]) expect((await post({ token: link })).json.state).toBe("pending");
  await post({ token, continuation: "proceed" });
  expect((await contacts("DeleteContact", { principalId: "temp" })).code).toBe("ok");
  await putContact("temp");
  for (const link of [token, older]) {
    for (const body of [{ token: link }, { token: link, continuation: "abort" }]) {
      expect(await post(body)).toMatchObject({ status: 401, reason: "LINK_INVALID" });
    }
  }
});

test("a link of another kind answers nothing, and a page of another origin neither", async () => {
  const signIn = (await svc.call("svc.v1.ConsoleService/CreateSignInLink")).json.url.split("#link=")[1];
  expect(await post({ token: signIn })).toMatchObject({ status: 401, reason: "LINK_INVALID" });
  const token = await linkOf(await ask());
  const foreign = { headers: { origin: "http://127.0.0.1:1" } };
  const answer = await sendAsPage(svc, "/console/answer", { token, continuation: "proceed" }, foreign);
  expect(answer).toMatchObject({ status: 403, reason: "ORIGIN_REFUSED" });
  expect((await post({ token })).json.state).toBe("pending");
});

test("guessing links is soon refused", async () => {
  const guess = (token: string) =>
    sendAsPage(svc, "/console/answer", { token }, { headers: { "x-forwarded-for": "198.51.100.7" } });
  for (let tries = 0; tries < 10; tries++) expect((await guess(`guess-${tries}`)).reason).toBe("LINK_INVALID");
  expect(await guess(await linkOf(await ask()))).toMatchObject({ status: 429, reason: "SIGN_INS_EXCEEDED" });
});

test("who holds a link is shown it a hundred times a minute at most, and has ten tries to answer, each an entry of the audit log", async () => {
  const asked = await ask();
  const token = await linkOf(asked);
  const tries = await Promise.all(Array.from({ length: 20 }, () => post({ token, continuation: "skip" })));
  const reasons = tries.map(({ reason }) => reason).sort();
  expect(reasons).toEqual([...Array(10).fill("CONTINUATION_NOT_DECLARED"), ...Array(10).fill("SIGN_INS_EXCEEDED")]);
  const { json } = await svc.admin("ListAuditEvents", { projectId, action: "AnswerLink.Answer", pageSize: 100 });
  const mine = json.events.filter(({ subject }: { subject: string }) => subject === asked.requestId);
  expect(mine).toHaveLength(10);
  const shown: number[] = [];
  for (let nth = 20; nth < 101; nth++) shown.push((await post({ token })).status);
  expect(shown).toEqual([...Array(80).fill(200), 429]);
  // The limit of one link does not affect another link for the same question.
  expect((await post({ token: await linkOf(asked), continuation: "abort" })).json.state).toBe("answered");
});

test("the store and the log have no token", async () => {
  const token = await linkOf(await ask());
  await post({ token, continuation: "proceed" });
  const rows = await svc.database.db.sql.unsafe<{ row: string }[]>("select l::text as row from console_links l");
  expect(rows.map(({ row }) => row).join("") + svc.logs.join("")).not.toContain(token);
});
