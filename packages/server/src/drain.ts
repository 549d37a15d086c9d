import { serverFaults } from "./errors.ts";
import type { Listeners } from "./listen/listeners.ts";
import type { ServerParts } from "./parts.ts";
import { toConnectError } from "./rpc/connect-error.ts";

type DrainParts = { http: Listeners; shutdown: AbortController };

/** When the server stops, it ends the calls that run too long. Time in milliseconds that then remains for sending their answers. */
const answeringMs = 1_000;

/**
 * Finishes the work of a server that is stopping, within the time `config.drainMs`. Running requests get at most half of this time. The
 * other work of the node gets the rest.
 */
export async function drain(
  { config, store, health, node }: ServerParts,
  { http, shutdown }: DrainParts,
): Promise<void> {
  const { clock } = store;
  const until = clock.now() + config.drainMs;
  health.drain();
  // Ends the wait of calls that wait for the end of a job. Each such call is answered with the present state of its job. The jobs
  // themselves continue.
  node.jobs.waits.end();
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
