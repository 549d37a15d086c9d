import { ConnectionsService } from "@svc/gen/connections";
import { SandboxService } from "@svc/gen/sandbox";
import { useMemo } from "react";
import { useDeployment } from "../calls/identity.ts";
import { useRows } from "../calls/rows.ts";
import { useRefresh, useWrite } from "../calls/write.ts";
import { Button } from "../ui/buttons/button.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { FaultNotice } from "../ui/notice/fault.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import type { ProgramCall } from "./step-tree.ts";

/**
 * Draws the button that connects the sandbox accounts which a program needs and the project lacks. Draws nothing if no account is missing,
 * or if the apps are real. `onConnected`: called when the accounts are connected, to check the program again.
 */
export function ConnectAccounts({ calls, onConnected }: { calls: readonly ProgramCall[]; onConnected: () => void }) {
  const { isSandbox } = useDeployment();
  const refresh = useRefresh(ConnectionsService);
  const connect = useWrite(SandboxService.method.connectSandboxAccounts);
  const request = { state: "active", pageSize: 500 };
  const list = useRows(ConnectionsService.method.listConnections, request, (answer) => answer.accounts);
  const connected = new Set(list.rows.map(({ entityId, toolkitSlug }) => `${entityId} ${toolkitSlug}`));
  const missing = new Map<string, Set<string>>();
  for (const { entity, tool } of calls) {
    const toolkit = tool.split(".")[0] ?? "";
    if (entity === "" || connected.has(`${entity} ${toolkit}`)) continue;
    missing.set(entity, (missing.get(entity) ?? new Set()).add(toolkit));
  }
  const count = [...missing.values()].reduce((sum, { size }) => sum + size, 0);
  if (!isSandbox || list.state !== "ready" || list.hasMore || count === 0) return null;
  const press = async () => {
    for (const [entityId, toolkits] of missing) await connect.sendAsync({ entityId, toolkitSlugs: [...toolkits] });
    await refresh();
    onConnected();
  };
  return (
    <Stack>
      <Notice
        tone="info"
        title={`The program uses ${count} sandbox ${count === 1 ? "account" : "accounts"} that you do not have yet`}
        actions={
          // The error of the call is shown below the button.
          <Button
            icon="plug"
            busy={connect.isSending ? "Connecting" : undefined}
            onPress={() => void press().catch(() => {})}
          >
            Connect {String(count)} sandbox {count === 1 ? "account" : "accounts"}
          </Button>
        }
      />
      <FaultNotice error={connect.error} />
    </Stack>
  );
}

/**
 * Returns the errors of a program that the page shows. In the sandbox, returns none if every error is a missing account: one button connects
 * these accounts, so an example should not look wrong at first.
 */
export function useOwnFaults<Fault extends { readonly reason: string }>(faults: readonly Fault[]): readonly Fault[] {
  const { isSandbox } = useDeployment();
  return useMemo(
    () => (isSandbox && faults.every(({ reason }) => reason === "PROGRAM_ACCOUNT_MISSING") ? [] : faults),
    [faults, isSandbox],
  );
}
