import type { ConnectedAccount } from "@svc/gen/connections";
import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/buttons/button.tsx";

/** Leads to connecting an account anew. Where none is needed, or the credential is the project's own, there is nothing. */
export function ReconnectLink({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  if (account.state !== "expired" || account.scheme === "client_credentials") return null;
  return (
    <Link
      to="/p/$projectId/accounts"
      params={{ projectId }}
      search={{ like: account.id, dialog: "connect" }}
      className={buttonClass()}
    >
      Reconnect
    </Link>
  );
}
