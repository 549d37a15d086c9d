import { createId, type ProjectId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { enqueueDeliveries } from "../deliveries/enqueue.ts";
import { findEventMatches } from "../events/follow.ts";
import { recordEvents } from "../events/record.ts";
import { eventsForProject, uuidAfterEvent, uuidOfEvent } from "../events/repo.ts";
import { addProject, addSubscription, newEvent, nowMs } from "../test-rows.ts";
import { askEndpointsForProject } from "./ask-endpoints.ts";
import { subscriptionsForProject } from "./repo.ts";
import { readProjectRouting } from "./routing.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
const page = { after: undefined, limit: 10 };

async function addEndpoint(projectId: ProjectId) {
  const id = createId("sub", nowMs);
  const signingSecret = Buffer.from("sealed");
  const endpoint = { id, endpointUrl: "https://example.com/asks", signingSecret, createdAt: nowMs };
  await askEndpointsForProject(db, projectId).create(endpoint);
  return id;
}

test("an ask endpoint is not a subscription: no list, change, routing or replay includes it", async () => {
  const projectId = await addProject(db);
  const endpoint = await addEndpoint(projectId);
  const subscription = await addSubscription(db, projectId);
  const subscriptions = subscriptionsForProject(db, projectId);
  expect((await subscriptions.list(page)).map(({ id }) => id)).toEqual([subscription]);
  expect(await subscriptions.find(endpoint)).toBeUndefined();
  expect(await subscriptions.update(endpoint, { active: false })).toBeUndefined();
  expect(await subscriptions.delete(endpoint)).toBeUndefined();
  const routing = (await readProjectRouting(db, [projectId])).get(projectId);
  expect(routing?.subscriptions.map(({ id }) => id)).toEqual([subscription]);
  const event = newEvent(projectId);
  await recordEvents(db, [event], undefined, { owner: createId("node", 0), untilMs: 0 });
  const { pairs: matches } = await findEventMatches(
    db,
    projectId,
    {
      fromUuid: uuidOfEvent(event.id),
      toUuid: uuidAfterEvent(event.id),
      toolkitSlug: "",
      triggerSlug: "",
      subscriptionId: undefined,
      onlyUndelivered: false,
    },
    10,
  );
  expect(matches).toEqual([{ eventId: event.id, subscriptionId: subscription }]);
});

test("an ask endpoint is listed, is active and goes in its own project alone", async () => {
  const projectId = await addProject(db);
  const endpoint = await addEndpoint(projectId);
  await addSubscription(db, projectId);
  const endpoints = askEndpointsForProject(db, projectId);
  expect((await endpoints.list(page)).map(({ id }) => id)).toEqual([endpoint]);
  expect(await endpoints.listActive("ask_raised")).toEqual([endpoint]);
  const stranger = askEndpointsForProject(db, await addProject(db));
  expect([await stranger.list(page), await stranger.listActive("ask_raised"), await stranger.delete(endpoint)]).toEqual(
    [[], [], false],
  );
  expect([await endpoints.delete(endpoint), await endpoints.delete(endpoint)]).toEqual([true, false]);
});

test("what an ask was published as is found as no event, and is not replayed", async () => {
  const projectId = await addProject(db);
  const subscription = await addSubscription(db, projectId);
  const event = newEvent(projectId, [], { kind: "ask", toolkitSlug: "", triggerSlug: "" });
  await recordEvents(db, [event], undefined, { owner: createId("node", 0), untilMs: 0 });
  const events = eventsForProject(db, projectId);
  expect(await events.find(event.id)).toBeUndefined();
  const filter = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
  expect(await events.list(filter, page)).toEqual([]);
  const replay = { id: createId("dlv", nowMs), eventId: event.id, subscriptionId: subscription };
  expect(await enqueueDeliveries(db, { projectId, dueAtMs: nowMs, lowPriority: false }, [replay])).toEqual(
    new Set([replay.id]),
  );
});
