import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Fault } from "@svc/core";
import { type ListDeliveriesRequest, type ListEventsRequest, TriggersService } from "@svc/gen/triggers";
import { serveRoutes } from "@svc/testing/http";
import { expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

const createdAt = timestampFromMs(Date.UTC(2026, 0, 2));

/** Starts a TriggersService that has two events and one delivery. It accepts the key in the file `first-key`. */
async function startTriggers() {
  const requests: (ListEventsRequest | ListDeliveriesRequest)[] = [];
  const deliveries = [
    {
      id: "dlv_1",
      eventId: "evt_1",
      subscriptionId: "sub_1",
      state: "dead_letter",
      attempts: 3,
      lastError: "http_500",
    },
  ];
  const server = await serveRoutes((router) =>
    router.service(TriggersService, {
      listEvents: (request, context) => {
        const bearer = context.requestHeader.get("authorization");
        if (bearer !== "Bearer svc_first") throw new Fault("unauthenticated", "another key", [{ reason: "X" }]);
        requests.push(request);
        return {
          events: ["evt_2", "evt_1"].map((id) => ({
            id,
            triggerSlug: "calendar.events_changed",
            receivedAt: createdAt,
            ...(id === "evt_1" && { deliveries: { delivered: 38, deadLetter: 2, more: true } }),
          })),
        };
      },
      listDeliveries: (request) => {
        requests.push(request);
        return { deliveries };
      },
      replayEvent: ({ eventId }) => ({ deliveries: eventId === "evt_1" ? deliveries : [] }),
    }),
  );
  return { server, requests };
}

test("events are listed with how their deliveries stand, by the first key of the data folder when no other is given", async () => {
  const { server, requests } = await startTriggers();
  await using _ = server;
  const dataDir = await mkdtemp(join(tmpdir(), "svc-cli-"));
  await writeFile(join(dataDir, "first-key"), "svc_first\n");
  const variables = { SVC_URL: server.url, SVC_DATA_DIR: dataDir };
  const { printed } = await runTestCommand(["events", "--limit", "2", "--toolkit", "calendar"], variables);
  await rm(dataDir, { recursive: true });
  expect(printed).toEqual([
    "RECEIVED                  ID     TRIGGER                  ENTITY  DELIVERIES",
    "2026-01-02T00:00:00.000Z  evt_2  calendar.events_changed  -       -",
    "2026-01-02T00:00:00.000Z  evt_1  calendar.events_changed  -       2+ dead_letter, 38+ delivered",
  ]);
  expect(requests).toMatchObject([{ toolkitSlug: "calendar", triggerSlug: "", pageSize: 2, withDeliveries: true }]);
});

test("deliveries of an event are listed, and replay lists the fresh ones", async () => {
  const { server, requests } = await startTriggers();
  await using _ = server;
  const variables = { SVC_URL: server.url, SVC_API_KEY: "key" };
  const lines = [
    "ID     SUBSCRIPTION  STATE        ATTEMPTS  LAST ATTEMPT  LAST ERROR",
    "dlv_1  sub_1         dead_letter  3         -             http_500",
  ];
  expect((await runTestCommand(["deliveries", "--event", "evt_1"], variables)).printed).toEqual(lines);
  expect(requests).toMatchObject([{ eventId: "evt_1", subscriptionId: "" }]);
  expect((await runTestCommand(["replay", "evt_1"], variables)).printed).toEqual(lines);
  for (const [command, id] of [
    [["events"], "evt_2"],
    [["deliveries", "--event", "evt_1"], "dlv_1"],
  ] as const) {
    const json = await runTestCommand([...command, "--json", "--api-key", "svc_first"], variables);
    expect(JSON.parse(json.printed.join("\n"))[0]).toMatchObject({ id });
  }
  const unmatched = await runTestCommand(["replay", "evt_2"], variables);
  expect(unmatched.noted).toEqual(["No active subscription matches the event: nothing was queued."]);
});

test("a poll prints every page, and continues at the cursor in its file", async () => {
  const asked: string[] = [];
  const server = await serveRoutes((router) =>
    router.service(TriggersService, {
      pollEvents({ cursor, waitMs }) {
        asked.push(`${cursor} ${waitMs}`);
        const n = Number(cursor || "0") + 1;
        const event = { id: `evt_${n}`, triggerSlug: "calendar.events_changed", receivedAt: createdAt };
        return { events: n < 4 ? [event] : [], cursor: String(n), hasMore: n === 1, truncated: n === 4 };
      },
    }),
  );
  await using _ = server;
  const folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  const variables = { SVC_URL: server.url, SVC_API_KEY: "key" };
  const poll = () => runTestCommand(["events", "poll", "--cursor-file", join(folder, "cursor")], variables);
  const line = (n: number) => `2026-01-02T00:00:00.000Z  evt_${n}  calendar.events_changed  -`;
  expect((await poll()).printed).toEqual([line(1), line(2)]);
  expect((await poll()).printed).toEqual([line(3)]);
  expect(await poll()).toMatchObject({
    printed: [],
    noted: ["Events before these may be missing: their retention time has passed."],
  });
  expect(asked).toEqual([" 0", "1 0", "2 0", "3 0"]);
  await rm(folder, { recursive: true });
});
