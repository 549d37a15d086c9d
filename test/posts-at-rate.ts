import { setTimeout as wait } from "node:timers/promises";
import { postCalendar } from "@svc/testing/server-process";

/** Posts that come at a rate of their own, whatever the answers do. */
export type PostsAtRate = {
  /** The numbers that were answered 2xx, and when, epoch milliseconds. */
  readonly accepted: ReadonlyMap<number, number>;
  /** Ends it, and waits for the posts under way; answers how many were accepted a second. */
  stop(): Promise<number>;
};

const everyMs = 20;
/** A machine that cannot do as much posts less, and says so. */
const underWayMax = 300;

/** Begins to post messages of a calendar channel, numbered from 1. Rejects at its stop where one was refused. */
export function startPosts(
  server: { url: string },
  { channel, perSecond }: { channel: string; perSecond: number },
): PostsAtRate {
  const accepted = new Map<number, number>();
  const refused: string[] = [];
  const startedAt = performance.now();
  let isStopped = false;
  let number = 0;
  let left = 0;
  const underWay = new Set<Promise<void>>();
  const post = async (message: number) => {
    const status = await postCalendar(server, channel, message);
    if (status < 300) accepted.set(message, Date.now());
    else refused.push(`${message}: ${status}`);
  };
  const posting = (async () => {
    while (!isStopped) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond) - left;
      for (; number < due; ) {
        if (underWay.size >= underWayMax) {
          left += due - number;
          break;
        }
        const one = post(++number).finally(() => underWay.delete(one));
        underWay.add(one);
      }
      await wait(everyMs);
    }
  })();
  return {
    accepted,
    async stop() {
      isStopped = true;
      await posting;
      const seconds = (performance.now() - startedAt) / 1_000;
      await Promise.all(underWay);
      if (refused.length > 0) throw new Error(`posts were refused: ${refused.slice(0, 5).join(", ")}`);
      return accepted.size / seconds;
    },
  };
}
