import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import type { Area } from "../area.ts";
import { postCalendar } from "../post-calendar.ts";

/** Pages of events, of deliveries, and of the subscriptions and endpoints behind them. */
export const triggers: Area = {
  seed: async (svc) => {
    await using good = await startTestReceiver();
    await using bad = await startTestReceiver();
    bad.script({ status: 503, headers: { "retry-after": "600" }, body: "the queue is full, come back later\n" });
    const subscribe = async (body: object) =>
      (await svc.call("svc.v1.TriggersService/CreateSubscription", body)).json.subscription.id;
    const goodId = await subscribe({ endpointUrl: good.url });
    const badId = await subscribe({ endpointUrl: bad.url.replace("/hook", "/bad"), toolkitSlug: "calendar" });
    const deliveriesTo = async (subscriptionId: string) =>
      (await svc.call("svc.v1.TriggersService/ListDeliveries", { subscriptionId })).json.deliveries;
    // The first delivery must fail before the others are created. The others then wait, as they do for any endpoint that fails.
    await postCalendar(svc);
    await until(async () => (await deliveriesTo(badId)).some(({ attempts }: { attempts: number }) => attempts > 0));
    for (const state of ["exists", "not_exists"]) await postCalendar(svc, { state });
    await until(async () =>
      (await deliveriesTo(goodId)).every(({ state }: { state: string }) => state === "delivered"),
    );
    const schemaJson = '{"type":"object","required":["amount"],"properties":{"amount":{"type":"number"}}}';
    const type = { name: "invoice.paid", description: "A customer paid an invoice.", schemaJson };
    await svc.call("svc.v1.TriggersService/PutEventType", type);
    await svc.call("svc.v1.TriggersService/PutEventType", { name: "invoice.sent", archived: true });
    const { events } = (await svc.call("svc.v1.TriggersService/ListEvents", {})).json;
    const tried = (await deliveriesTo(badId)).find(({ attempts }: { attempts: number }) => attempts > 0);
    return { event: events[0].id, delivery: tried.id, badId };
  },
  pages: [
    {
      name: "events",
      path: () => "events",
      shows: (page) => page.getByRole("row", { name: "calendar.events_changed" }).first().waitFor(),
    },
    {
      name: "events-panel",
      path: ({ event }) => `events?open=${event}`,
      shows: async (page) => {
        await page.getByRole("region", { name: "Payload" }).getByText("resource-1").waitFor();
        await page.getByText("waiting: endpoint is failing").waitFor();
      },
    },
    {
      name: "event",
      path: ({ event }) => `events/${event}`,
      shows: async (page) => {
        await page.getByRole("region", { name: "Payload" }).getByText("resource-1").waitFor();
        await page.getByText("waiting: endpoint is failing").waitFor();
      },
    },
    {
      name: "events-filtered-to-nothing",
      path: () => "events?toolkit=calendar&trigger=calendar.none",
      shows: (page) => page.getByRole("heading", { name: "No event matches" }).waitFor(),
    },
    {
      name: "event-types",
      path: () => "event-types",
      shows: (page) => page.getByRole("row", { name: "archived" }).waitFor(),
    },
    {
      name: "event-type",
      path: () => "event-types/invoice.paid",
      shows: (page) => page.getByRole("region", { name: "Sample" }).getByText("amount").waitFor(),
    },
    {
      name: "deliveries",
      path: () => "deliveries",
      shows: (page) => page.getByRole("row", { name: "after the test" }).first().waitFor(),
    },
    {
      name: "delivery",
      path: ({ delivery }) => `deliveries/${delivery}`,
      shows: (page) =>
        page
          .getByRole("region", { name: /^Answer/ })
          .getByText("the queue is full")
          .waitFor(),
    },
    {
      name: "subscriptions",
      path: () => "subscriptions",
      shows: (page) => page.getByRole("row", { name: "Failing" }).waitFor(),
    },
    {
      name: "subscription",
      path: ({ badId }) => `subscriptions/${badId}`,
      shows: (page) => page.getByRole("region", { name: "Last failure" }).getByText("the queue is full").waitFor(),
    },
    {
      name: "subscription-deliveries",
      path: ({ badId }) => `subscriptions/${badId}?tab=deliveries`,
      shows: (page) =>
        page
          .getByRole("row", { name: "Retrying" })
          .or(page.getByRole("row", { name: "503" }))
          .first()
          .waitFor(),
    },
    {
      name: "subscription-settings",
      path: ({ badId }) => `subscriptions/${badId}?tab=settings`,
      shows: (page) => page.getByRole("region", { name: "Subscription" }).getByText("All calendar events").waitFor(),
    },
    {
      name: "subscription-secret",
      path: ({ badId }) => `subscriptions/${badId}?tab=secret`,
      shows: (page) => page.getByRole("button", { name: "Replace the secret" }).waitFor(),
    },
    {
      name: "subscription-new",
      path: () => "subscriptions/new",
      shows: (page) => page.getByText("All of the last 3 events would be delivered.").waitFor(),
    },
    {
      name: "subscription-change",
      path: ({ badId }) => `subscriptions/${badId}/change`,
      shows: (page) => page.getByText("All of the last 3 events would be delivered.").waitFor(),
    },
    {
      name: "replays",
      path: () => "replays",
      shows: (page) => page.getByRole("heading", { name: "Nothing resent yet" }).waitFor(),
    },
    {
      name: "replay-start",
      path: () => "replays?start=yes",
      shows: (page) => page.getByRole("button", { name: "Resend 6 deliveries" }).waitFor(),
    },
    {
      name: "ingest",
      path: () => "ingest",
      shows: (page) => page.getByText("Secret set").waitFor(),
    },
  ],
};
