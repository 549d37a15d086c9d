import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { failureOf } from "../calls/fault.ts";
import { serviceBase } from "./base.ts";
import { type Away, setAway } from "./reachability.ts";
import { refreshSeats } from "./refresh.ts";
import { currentSession, seatFor } from "./session.ts";
import { setSignInNeeded } from "./sign-in-need.ts";

/**
 * Returns the interceptor that adds two headers to each API call. `Svc-Session` contains the half of the session secret that the page
 * keeps. `Svc-Seat` contains the id of the key with which the user signed in to the project. If the service answers 401, the interceptor
 * opens the sign-in dialog over the page, and reads the session's keys again.
 */
function asSeat(projectId: string): Interceptor {
  return (next) => async (req) => {
    const session = currentSession();
    if (session !== undefined) req.header.set("Svc-Session", session.half);
    const seat = seatFor(session, projectId);
    if (seat !== undefined) req.header.set("Svc-Seat", projectId === "admin" ? "admin" : seat.keyId);
    try {
      const answer = await next(req);
      // A stream that was opened does not prove that the service works, because an error may follow as its first message.
      if (!answer.stream) setAway(undefined);
      return answer;
    } catch (err) {
      const { code } = ConnectError.from(err);
      if (code === Code.Unauthenticated) {
        setSignInNeeded(true);
        void refreshSeats();
      }
      // A cancelled call does not show whether the service is available.
      if (code !== Code.Canceled) setAway(awayBy(err));
      throw err;
    }
  };
}

/**
 * Returns the part of svc that is unavailable, according to the error of a failed call. `service`: it did not answer, or it answered that
 * it is starting or stopping. `store`: it answered that its database is unavailable. Returns undefined for any other error.
 */
function awayBy(err: unknown): Away | undefined {
  const { code, cause } = ConnectError.from(err);
  const { faults } = failureOf(err);
  if (faults.some(({ reason }) => reason === "STORE_UNAVAILABLE")) return "store";
  // The service works, but it cannot reach an address that the user gave.
  if (faults.some(({ reason }) => reason === "SOURCE_UNREACHABLE")) return undefined;
  return code === Code.Unavailable || cause instanceof TypeError || err instanceof TypeError ? "service" : undefined;
}

const transports = new Map<string, Transport>();

/**
 * Returns the transport for the API calls of a project, or of the administrator (`"admin"`). A project always gets the same transport,
 * because cached answers are kept per transport.
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
