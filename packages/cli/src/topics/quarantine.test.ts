import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
beforeEach(async () => {
  // The server has no project, so it quarantines every post that matches a trigger: nothing else can receive the post.
  const variables = { SVC_BOOTSTRAP_KEY: "", SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
  server = await startTestServer({ variables });
});
afterEach(() => server.stop());

function svc(...argv: string[]) {
  return runTestCommand(argv, { SVC_URL: server.url, SVC_ADMIN_TOKEN: server.adminToken });
}

async function json(...argv: string[]) {
  return JSON.parse((await svc(...argv, "--json")).printed.join("\n"));
}

const changed = {
  "x-calendar-resource-state": "exists",
  "x-calendar-channel-id": "channel",
  "x-calendar-resource-id": "resource",
  "x-calendar-resource-uri": "https://example.com/calendars/c1/events",
};

async function post(headers: Record<string, string>, body = ""): Promise<void> {
  const res = await fetch(`${server.url}/webhooks/calendar?token=swordfish&extra=1`, { method: "POST", headers, body });
  expect([res.status, await res.json()]).toEqual([202, { accepted: 0 }]);
}

test("posts are listed with what was wrong, and one is shown with its body and without its secrets", async () => {
  await post({ ...changed, "x-calendar-message-number": "1" });
  await post({ authorization: "Bearer provider" }, '{"odd":true}');
  const { code, printed } = await svc("quarantine");
  expect(code).toBe(0);
  expect(printed).toEqual([
    expect.stringMatching(/^RECEIVED +ID +TOOLKIT +REASON +RELEASED +DETAIL$/),
    expect.stringMatching(/^\S+Z +qrn_\w{26} +calendar +no_trigger +- +\S/),
    expect.stringMatching(/^\S+Z +qrn_\w{26} +calendar +no_project +- /),
  ]);
  const [{ id }] = await json("quarantine", "list", "--reason", "no_trigger");
  const shown = (await svc("quarantine", "show", id)).printed.join("\n");
  expect(shown).toMatch(new RegExp(`^post +${id}$`, "m"));
  expect(shown).toContain("\nQuery:\nextra: 1");
  expect(shown).toContain('\nBody:\n{"odd":true}');
  expect(shown).not.toMatch(/swordfish|Bearer provider/);
  const { body } = await json("quarantine", "show", id);
  expect(Buffer.from(body, "base64").toString()).toBe('{"odd":true}');
});

test("a release tells first what would become of the posts, then runs them again, and says what became of each", async () => {
  await post({ ...changed, "x-calendar-message-number": "1" });
  await post({});
  expect(await svc("projects", "create", "receiver")).toMatchObject({ code: 0 });
  const dry = await svc("quarantine", "release", "--toolkit", "calendar", "--since", "1h", "--dry-run");
  expect(dry).toMatchObject({
    code: 0,
    noted: ["Dry run, nothing was released. 2 posts: 1 released, 1 quarantined."],
  });
  expect(await json("quarantine", "list")).toHaveLength(2);
  const { code, printed, noted } = await svc("quarantine", "release", "--toolkit", "calendar");
  expect({ code, noted }).toEqual({ code: 0, noted: ["2 posts: 1 released, 1 quarantined."] });
  expect(printed).toEqual([
    expect.stringMatching(/^ID +OUTCOME +EVENTS +REASON$/),
    expect.stringMatching(/^qrn_\w{26} +released +1 +-$/),
    expect.stringMatching(/^qrn_\w{26} +quarantined +0 +no_trigger$/),
  ]);
  expect(await json("quarantine", "list")).toMatchObject([{ reason: "no_trigger" }]);
  expect(await json("quarantine", "list", "--include-released")).toHaveLength(2);
});

test("a release of posts by their ids ends with 1 when one is of no post, and releases the others", async () => {
  await post({ ...changed, "x-calendar-message-number": "1" });
  await svc("projects", "create", "receiver");
  const [{ id }] = await json("quarantine", "list");
  const missing = "qrn_00000000000000000000000000";
  const { code, printed, noted } = await svc("quarantine", "release", id, missing);
  expect({ code, noted }).toEqual({
    code: 1,
    noted: ["2 posts: 1 released, 1 missing.", "svc: 1 id without a post; `svc quarantine` lists the posts"],
  });
  expect(printed[1]).toMatch(new RegExp(`^${id} +released`));
  const unknown = await svc("quarantine", "show", missing);
  expect(unknown).toMatchObject({ code: 1, noted: [expect.stringContaining("QUARANTINED_POST_NOT_FOUND")] });
});

test("a long release tells how far it is", async () => {
  for (let number = 0; number < 101; number++) await post({ ...changed, "x-calendar-message-number": String(number) });
  await svc("projects", "create", "receiver");
  const { noted, printed } = await svc("quarantine", "release", "--toolkit", "calendar");
  expect(noted).toEqual(["100 posts so far", "101 posts: 101 released."]);
  expect(printed).toHaveLength(102);
});
