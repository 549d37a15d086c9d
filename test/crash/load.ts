import { setTimeout as wait } from "node:timers/promises";
import { repeats } from "@svc/testing/sample";
import { postCalendar } from "@svc/testing/server-process";

/** A load of posts with distinct numbers from several clients, each of which posts again as soon as it has its answer. */
export type Load = {
  /** Numbers of the posts that were answered 2xx. */
  readonly acknowledged: Set<number>;
  /** Stops the load and waits for the posts under way. A post that fails counts as not acknowledged. */
  stop(): Promise<void>;
};

const restMs = repeats({ sample: 20, whole: 0 });
let next = 1;

/**
 * Starts a load on the service at an address. A post that was not answered 2xx is repeated after a short wait, as providers do, although it
 * may have been stored. In `npm test` a client rests between two posts, to leave time for other tests.
 */
export function startLoad(server: { url: string }, clients: number): Load {
  const acknowledged = new Set<number>();
  let isStopped = false;
  const client = async () => {
    let number = next++;
    while (!isStopped) {
      try {
        const status = await postCalendar(server, "load", number);
        if (status >= 200 && status < 300) {
          acknowledged.add(number);
          number = next++;
        }
        await wait(restMs);
      } catch {
        await wait(20);
      }
    }
  };
  const running = Array.from({ length: clients }, client);
  return {
    acknowledged,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

/** Returns the message numbers that a receiver got. */
export function numbersOf(received: readonly { body: string }[]): Set<number> {
  return new Set(
    received.map(({ body }) => (JSON.parse(body) as { payload: { message_number: number } }).payload.message_number),
  );
}
