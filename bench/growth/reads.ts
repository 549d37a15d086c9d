import { Histogram, type LatencySummary } from "../histogram.ts";
import { monotonicMicros } from "../monotonic.ts";
import { callServer } from "../server.ts";
import type { System } from "../system.ts";

/** A read call that a user makes often. */
export type StoredRead = { readonly name: string; readonly path: string; readonly message: object };

/** Returns the read calls for events and deliveries that have to search among them. */
export async function storedReads(system: System): Promise<StoredRead[]> {
  const { events = [] } = (await callServer(system.port, "TriggersService/ListEvents", { pageSize: 1 })) as {
    events?: readonly { id: string }[];
  };
  const eventId = events[0]?.id ?? "";
  const list = (name: string, filter: object): StoredRead => {
    return { name: `ListEvents, ${name}`, path: "TriggersService/ListEvents", message: { pageSize: 50, ...filter } };
  };
  return [
    { name: "GetEvent", path: "TriggersService/GetEvent", message: { id: eventId } },
    list("newest", {}),
    list("of one toolkit in a hundred", { toolkitSlug: "calendar" }),
    list("of a toolkit that has none", { toolkitSlug: "incident_mgmt" }),
    list("of a trigger", { triggerSlug: "bench_orders.order_changed" }),
    { name: "ListDeliveries of an event", path: "TriggersService/ListDeliveries", message: { eventId } },
  ];
}

const readsEach = 100;

/**
 * Makes the same read a hundred times, one after the other. The first ones do not count, because code is compiled and caches are filled.
 */
export async function measureRead(system: System, { path, message }: StoredRead): Promise<LatencySummary> {
  const took = new Histogram();
  for (let index = -10; index < readsEach; index += 1) {
    const startedAt = monotonicMicros();
    await callServer(system.port, path, message);
    if (index >= 0) took.record(monotonicMicros() - startedAt);
  }
  return took.summary();
}
