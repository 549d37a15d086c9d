import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { serviceBase } from "../session/base.ts";
import { setAway } from "../session/reachability.ts";
import { leaveRefused, type PortalSession } from "./session.ts";

/** Returns the transport for the calls of a session of the portal. If the service answers 401, the page is signed out. */
export function portalTransport(session: PortalSession): Transport {
  const { half, seat } = session;
  const asCustomer: Interceptor = (next) => async (req) => {
    req.header.set("Svc-Portal-Session", half);
    req.header.set("Svc-Seat", seat.keyId);
    try {
      const answer = await next(req);
      setAway(undefined);
      // Each list of the portal is limited to the customer. The pages do not have to say so.
      if (!answer.stream && "limitedTo" in answer.message) Object.assign(answer.message, { limitedTo: "" });
      return answer;
    } catch (err) {
      const { code, cause } = ConnectError.from(err);
      if (code === Code.Unauthenticated) void leaveRefused(session);
      if (code === Code.Unavailable || cause instanceof TypeError) setAway("service");
      throw err;
    }
  };
  return createConnectTransport({
    ...{ baseUrl: serviceBase, interceptors: [asCustomer], jsonOptions: { ignoreUnknownFields: true } },
  });
}
