import { adminToken, type ServerProcess, startServerProcess } from "@svc/testing/server-process";

// The one place of these tests that knows how a node of the service is started.

/** How a node differs from a plain one. */
export type NodeChanges = {
  readonly vaultKey: string;
  readonly role?: "all" | "api";
  readonly retrySchedule?: string;
};

/** The administrator's token of every node. */
export const administrator: string = adminToken;

/** Starts a node of the service of today over a database; its apps are the sandbox, and nothing that it keeps grows too old. */
export function startServiceUnderTest(
  databaseUrl: string,
  { vaultKey, role = "all", retrySchedule = "1s,2s" }: NodeChanges,
): Promise<ServerProcess> {
  return startServerProcess({
    SVC_DATABASE_URL: databaseUrl,
    SVC_VAULT_KEY: vaultKey,
    SVC_SANDBOX: "force",
    SVC_ROLE: role,
    SVC_RETRY_SCHEDULE: retrySchedule,
    SVC_EVENT_RETENTION: "P36000D",
    SVC_CALL_RETENTION: "P36000D",
    SVC_JOB_ROW_RETENTION: "P36000D",
  });
}
