import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useState } from "react";
import { SiteName } from "../ui/layout/page.tsx";
import { Customer } from "./customer.ts";
import { createPortalRouter } from "./routes.tsx";
import type { PortalSession } from "./session.ts";
import { portalTransport } from "./transport.ts";

/**
 * Draws the portal's pages for the customer who is signed in with `session`. All calls of the pages use this session, and cached answers
 * are not shared with another session.
 */
export default function PortalPages({ session }: { session: PortalSession }) {
  // A new session has new answers: nothing that another customer has read may be shown.
  const [parts] = useState(() => ({
    transport: portalTransport(session),
    queries: new QueryClient({
      defaultOptions: {
        queries: { staleTime: 5_000, networkMode: "always", retry: 1 },
        mutations: { retry: false, networkMode: "always" },
      },
    }),
    router: createPortalRouter(),
  }));
  return (
    <Customer value={session}>
      <SiteName value={session.portal.name || session.seat.projectName}>
        <TransportProvider transport={parts.transport}>
          <QueryClientProvider client={parts.queries}>
            <RouterProvider router={parts.router} />
          </QueryClientProvider>
        </TransportProvider>
      </SiteName>
    </Customer>
  );
}
