import { createHash } from "node:crypto";
import { createId, createSealer, type ProjectId, systemClock } from "@svc/core";
import { expect, test } from "vitest";
import { createInboxes } from "./inboxes.ts";

const sealer = createSealer([{ id: "k", secret: Buffer.alloc(32, 7) }]);
const projectOf = (): ProjectId => createId("prj", systemClock.now());
const post = (body: string, headers: Record<string, string> = {}) => ({
  ...{ method: "POST", headers, bodyBytes: body.length },
  start: Buffer.from(body),
});

test("an inbox keeps the values of the headers of deliveries, and hides every other value", () => {
  const inboxes = createInboxes({ clock: systemClock, sealer });
  const projectId = projectOf();
  const id = inboxes.idOf(projectId);
  const shown = { "webhook-id": "1", "x-svc-a": "2", "ce-type": "3", "content-type": "4", "user-agent": "5" };
  const hidden = {
    authorization: "Bearer secret",
    "x-api-key": "secret",
    cookie: "secret",
    "user-agent-key": "secret",
  };
  inboxes.keep(id, post("x", { ...shown, ...hidden }));
  const headers = inboxes.list(projectId, id)?.[0]?.headers;
  expect(headers).toEqual({ ...shown, ...Object.fromEntries(Object.keys(hidden).map((name) => [name, "***"])) });
});

test("an inbox keeps at most 64 headers of a request and counts the others", () => {
  const inboxes = createInboxes({ clock: systemClock, sealer });
  const projectId = projectOf();
  const id = inboxes.idOf(projectId);
  inboxes.keep(id, post("x", Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`h${n}`, ""]))));
  inboxes.keep(id, post("x", { "content-a": "x".repeat(5_000), "content-b": "x" }));
  const [large, many] = inboxes.list(projectId, id) ?? [];
  expect([Object.keys(many?.headers ?? {}).length, many?.headersLeftOut]).toEqual([64, 36]);
  expect([large?.headers, large?.headersLeftOut]).toEqual([{ "content-b": "x" }, 1]);
});

test("a project keeps the requests of 10 inboxes, and does not push out those of another project", () => {
  const inboxes = createInboxes({ clock: systemClock, sealer });
  const [small, large] = [projectOf(), projectOf()];
  const own = inboxes.idOf(small);
  inboxes.keep(own, post("kept"));
  const ids = Array.from({ length: 60 }, (_, n) =>
    inboxes.idOf(large, createHash("sha1").update(`${n}`).digest("hex")),
  );
  for (const id of ids) inboxes.keep(id, post("x"));
  expect(inboxes.list(small, own)?.map(({ body }) => body)).toEqual(["kept"]);
  expect(ids.filter((id) => inboxes.list(large, id)?.length === 1)).toEqual(ids.slice(-10));
});

test("a node keeps at most 32 MiB of requests, and the project with the most loses its oldest", () => {
  const inboxes = createInboxes({ clock: systemClock, sealer });
  const small = projectOf();
  const own = inboxes.idOf(small);
  inboxes.keep(own, post("kept"));
  const full = Array.from({ length: 5 }, () => {
    const projectId = projectOf();
    return Array.from({ length: 10 }, (_, n) => ({ projectId, id: inboxes.idOf(projectId, `${n}`) }));
  }).flat();
  for (const { id } of full) for (let n = 0; n < 50; n++) inboxes.keep(id, post("x".repeat(8_192)));
  const count = full.reduce((sum, { projectId, id }) => sum + (inboxes.list(projectId, id)?.length ?? 0), 0);
  expect(count).toBeGreaterThan(1_500);
  expect(count * 2 * 8_192).toBeLessThanOrEqual(33_554_432);
  expect(inboxes.list(small, own)?.map(({ body }) => body)).toEqual(["kept"]);
});
