import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { failureOf } from "../calls/fault.ts";
import { serviceBase } from "./base.ts";
import { type Away, setAway } from "./reachability.ts";
import { refreshSeats } from "./refresh.ts";
import { currentSession, seatFor } from "./session.ts";
import { setSignInNeeded } from "./sign-in-need.ts";

/**
 * Sends the session's half and the seat of the URL's project with each call. If the service knows neither, the sign-in opens over the page,
 * and the session's seats are read again.
 */
function asSeat(projectId: string): Interceptor {
  return (next) => async (req) => {
    const session = currentSession();
    if (session !== undefined) req.header.set("Svc-Session", session.half);
    const seat = seatFor(session, projectId);
    if (seat !== undefined) req.header.set("Svc-Seat", projectId === "admin" ? "admin" : seat.keyId);
    try {
      const answer = await next(req);
      // An open stream does not count as an answer yet: its error comes as its first message.
      if (!answer.stream) setAway(undefined);
      return answer;
    } catch (err) {
      const { code } = ConnectError.from(err);
      if (code === Code.Unauthenticated) {
        setSignInNeeded(true);
        void refreshSeats();
      }
      // A cancelled call says nothing about the service.
      if (code !== Code.Canceled) setAway(awayBy(err));
      throw err;
    }
  };
}

/** Returns the part that did not answer: there was no answer at all, or the service is starting, stopping or without its database. */
function awayBy(err: unknown): Away | undefined {
  const { code, cause } = ConnectError.from(err);
  if (failureOf(err).faults.some(({ reason }) => reason === "STORE_UNAVAILABLE")) return "store";
  return code === Code.Unavailable || cause instanceof TypeError || err instanceof TypeError ? "service" : undefined;
}

const transports = new Map<string, Transport>();

/**
 * Returns the transport of a project's calls, or of the administrator's (`"admin"`). There is one for each, because cached answers belong
 * to it.
 */
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
