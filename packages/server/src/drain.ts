import { serverFaults } from "./errors.ts";
import type { Listeners } from "./listen/listeners.ts";
import type { ServerParts } from "./parts.ts";
import { toConnectError } from "./rpc/connect-error.ts";

type DrainParts = { http: Listeners; shutdown: AbortController };

/** Time to write the answers of calls that are ended. */
const answeringMs = 1_000;

/** Requests get half of the time at most, what the node has under way what is left of all of it. */
export async function drain(
  { config, store, health, node }: ServerParts,
  { http, shutdown }: DrainParts,
): Promise<void> {
  const { clock } = store;
  const until = clock.now() + config.drainMs;
  health.drain();
  const requestsMs = config.drainMs / 2;
  const answered = new AbortController();
  const endsMs = Math.max(requestsMs / 2, requestsMs - answeringMs);
  const aborting = clock
    .wait(endsMs, answered.signal)
    .then(() => shutdown.abort(toConnectError(serverFaults.ENDED_UNDER_WAY())));
  await http.close(requestsMs);
  answered.abort();
  await aborting;
  await node.drain(until - clock.now());
}
