import { useQuery } from "@connectrpc/connect-query";
import { ToolsService } from "@svc/gen/tools";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Page } from "../../ui/layout/page.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CallBody } from "./call-body.tsx";

const route = getRouteApi("/p/$projectId/calls/$callId");
const lookMs = 2_000;

/** Draws one tool call. While the call is in progress, the page reads it again and again. */
export default function CallPage() {
  const { projectId, callId } = route.useParams();
  const call = useQuery(
    ToolsService.method.getToolCall,
    { id: callId },
    { refetchInterval: ({ state }) => (state.data?.call?.outcome === "running" ? lookMs : false) },
  );
  const found = call.data?.call;
  return (
    <Page
      title={found?.toolSlug ?? "Call"}
      tab={`Call ${callId}`}
      back={
        <Link to="/p/$projectId/calls" params={{ projectId }}>
          Calls
        </Link>
      }
    >
      <FaultNotice error={call.error} onRetry={() => void call.refetch()} />
      {call.isPending && <Skeleton />}
      {found !== undefined && <CallBody projectId={projectId} call={found} />}
    </Page>
  );
}
