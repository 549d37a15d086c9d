import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { serviceBase } from "./base.ts";
import { setReachable } from "./reachability.ts";
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
      setReachable(true);
      return answer;
    } catch (err) {
      const { code } = ConnectError.from(err);
      if (code === Code.Unauthenticated) {
        setSignInNeeded(true);
        void refreshSeats();
      }
      // A call that was given up says nothing of the service.
      if (code !== Code.Canceled) setReachable(!isUnanswered(err));
      throw err;
    }
  };
}

/** Whether no answer came at all, or that of a service which starts or ends. */
function isUnanswered(err: unknown): boolean {
  const { code, cause } = ConnectError.from(err);
  return code === Code.Unavailable || cause instanceof TypeError || err instanceof TypeError;
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
