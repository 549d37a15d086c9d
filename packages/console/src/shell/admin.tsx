import { TransportProvider } from "@connectrpc/connect-query";
import { seatFor, useSession } from "../session/session.ts";
import { SignInOverlay, SignInPage } from "../session/sign-in.tsx";
import { transportFor } from "../session/transport.ts";
import { Shell } from "./shell.tsx";

/** The pages of the administration, with calls made by the administrator's seat. Without it they ask for the token, and the address stays. */
export function AdminPages() {
  const session = useSession();
  if (session === undefined || seatFor(session, "admin") === undefined) {
    return (
      <SignInPage
        title="Administration"
        says="Sign in with the administrator's token of this deployment, SVC_ADMIN_TOKEN. The keys of projects open none of these pages."
      />
    );
  }
  return (
    <TransportProvider key="admin" transport={transportFor("admin")}>
      <Shell projectId="admin" />
      <SignInOverlay projectId="admin" />
    </TransportProvider>
  );
}
