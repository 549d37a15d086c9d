import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { failureOf } from "../calls/fault.ts";
import { serviceBase } from "./base.ts";
import { type Away, setAway } from "./reachability.ts";
import { refreshSeats } from "./refresh.ts";
import { currentSession, seatFor } from "./session.ts";
import { setSignInNeeded } from "./sign-in-need.ts";

/**
 * Names the session's half and the seat that the URL's project has. Where the service knows neither, the sign-in opens over the page, and
 * the session's seats are read again.
 */
function asSeat(projectId: string): Interceptor {
  return (next) => async (req) => {
    const session = currentSession();
    if (session !== undefined) req.header.set("Svc-Session", session.half);
    const seat = seatFor(session, projectId);
    if (seat !== undefined) req.header.set("Svc-Seat", projectId === "admin" ? "admin" : seat.keyId);
    try {
      const answer = await next(req);
      // That a stream is open says nothing yet: what it fails with comes as its first message.
      if (!answer.stream) setAway(undefined);
      return answer;
    } catch (err) {
      const { code } = ConnectError.from(err);
      if (code === Code.Unauthenticated) {
        setSignInNeeded(true);
        void refreshSeats();
      }
      // A call that was given up says nothing of the service.
      if (code !== Code.Canceled) setAway(awayBy(err));
      throw err;
    }
  };
}

/** Who did not answer: no answer came at all, or that of a service which starts, ends or has lost its store. */
function awayBy(err: unknown): Away | undefined {
  const { code, cause } = ConnectError.from(err);
  if (failureOf(err).faults.some(({ reason }) => reason === "STORE_UNAVAILABLE")) return "store";
  return code === Code.Unavailable || cause instanceof TypeError || err instanceof TypeError ? "service" : undefined;
}

const transports = new Map<string, Transport>();

/** How calls of a project are made, or those of the administrator (`"admin"`): one for each, since cached answers belong to it. */
export function transportFor(projectId: string): Transport {
  const known = transports.get(projectId);
  if (known !== undefined) return known;
  const transport = createConnectTransport({
    baseUrl: serviceBase,
    interceptors: [asSeat(projectId)],
    jsonOptions: { ignoreUnknownFields: true },
  });
  transports.set(projectId, transport);
  return transport;
}
