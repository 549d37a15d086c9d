import { useQuery } from "@connectrpc/connect-query";
import { ToolsService } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { SidePanel } from "../../ui/layout/split.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CallBody } from "./call-body.tsx";

/** One call beside the ledger. On a phone there is no room for it: there a row leads to its page. */
export function CallPanel({ projectId, id, onClose }: { projectId: string; id: string; onClose: () => void }) {
  const call = useQuery(ToolsService.method.getToolCall, { id });
  const found = call.data?.call;
  if (useIsPhone()) return null;
  return (
    <SidePanel
      title={found?.toolSlug ?? id}
      onClose={onClose}
      link={
        <Link to="/p/$projectId/calls/$callId" params={{ projectId, callId: id }} className={buttonClass("quiet")}>
          Open page
        </Link>
      }
    >
      <Stack>
        <FaultNotice error={call.error} onRetry={() => void call.refetch()} />
        {call.isPending && <Skeleton rows={4} />}
        {found !== undefined && <CallBody projectId={projectId} call={found} />}
      </Stack>
    </SidePanel>
  );
}
